//! A proxy between a client and PostgreSQL that does what networks do.
//!
//! It passes bytes, and reads the messages in them ([`frames`]) to know where a COMMIT and its
//! answer are. What is encrypted cannot be read: such a connection can be refused, held, cut and
//! cut at a byte, and knows no COMMIT. [`Proxy::before`] therefore turns TLS off.
//!
//! A cut closes both sides, without a word. A connection that is to find a dead network, and not a
//! closed connection, is held.

mod frames;
mod link;
mod rules;

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use self::link::Link;
pub use self::rules::Moment;
use self::rules::{Action, Rule};
use super::Url;
use crate::until;

/// One of them; it ends, with its connections, with its owner.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

/// What the proxy and the threads of its connections know together.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Rung whenever something changes that a held connection waits for.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    server: SocketAddr,
    refusing: bool,
    holding: bool,
    ended: bool,
    rules: Vec<Rule>,
    cuts: usize,
    links: HashMap<u64, Link>,
}

impl Proxy {
    /// One in front of this server.
    ///
    /// # Panics
    ///
    /// When it cannot listen.
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let state = State {
            server,
            refusing: false,
            holding: false,
            ended: false,
            rules: Vec::new(),
            cuts: 0,
            links: HashMap::new(),
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let accepting = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self { shared, address, accepting: Some(accepting) }
    }

    /// One in front of the server of this database, and the way to the database through it.
    ///
    /// # Panics
    ///
    /// When it cannot listen.
    pub fn before(database: &Url) -> (Self, Url) {
        let proxy = Self::to(database.address);
        let url = database.address(proxy.address).plain();
        (proxy, url)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// New connections go to another server from now on.
    pub fn redirect(&self, server: SocketAddr) {
        self.shared.lock().server = server;
    }

    /// Closes every new connection at once, until [`Proxy::admit`].
    pub fn refuse(&self) {
        self.shared.lock().refusing = true;
    }

    /// Takes new connections again.
    pub fn admit(&self) {
        self.shared.lock().refusing = false;
    }

    /// Passes nothing more either way, until [`Proxy::release`]. Connections stay open.
    pub fn hold(&self) {
        self.shared.lock().holding = true;
    }

    /// Passes what was held, and all that comes.
    pub fn release(&self) {
        self.shared.lock().holding = false;
        self.shared.changed.notify_all();
    }

    /// Closes all connections.
    pub fn cut_all(&self) {
        let mut state = self.shared.lock();
        let links: Vec<u64> = state.links.keys().copied().collect();
        for link in links {
            state.cut(link);
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Closes the first connection that comes to this moment.
    pub fn cut_at(&self, moment: Moment) {
        self.arm(moment, Action::Cut, None);
    }

    /// Closes each `every`-th connection that comes to this moment, until [`Proxy::disarm`].
    pub fn cut_each(&self, every: u32, moment: Moment) {
        self.arm(moment, Action::Cut, Some(every));
    }

    /// Begins to hold, as by [`Proxy::hold`], when the first connection comes to this moment.
    pub fn hold_at(&self, moment: Moment) {
        self.arm(moment, Action::Hold, None);
    }

    /// Waits for the moment of [`Proxy::hold_at`].
    ///
    /// # Panics
    ///
    /// When it does not come.
    pub fn until_held(&self) {
        until("the moment to hold", || self.shared.lock().holding.then_some(()));
    }

    /// Forgets all moments that have not come.
    pub fn disarm(&self) {
        self.shared.lock().rules.clear();
    }

    /// How many connections were cut so far.
    pub fn cuts(&self) -> usize {
        self.shared.lock().cuts
    }

    /// How many connections there are.
    pub fn connections(&self) -> usize {
        self.shared.lock().links.len()
    }

    fn arm(&self, moment: Moment, action: Action, every: Option<u32>) {
        let mut state = self.shared.lock();
        let before = state.links.iter().flat_map(|(id, link)| link.totals(*id)).collect();
        state.rules.push(Rule::new(moment, action, every, before));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.cut_all();
        // It waits for a connection; this is the last one.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread of the proxy panics")
    }
}

impl State {
    /// Closes a connection, and counts it.
    fn cut(&mut self, link: u64) {
        if let Some(link) = self.links.remove(&link) {
            self.cuts += 1;
            link.close();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for id in 0.. {
        let Ok((client, _)) = listener.accept() else { return };
        let (server, refusing) = {
            let state = shared.lock();
            if state.ended {
                return;
            }
            (state.server, state.refusing)
        };
        if refusing {
            let _ = client.shutdown(Shutdown::Both);
            continue;
        }
        // A server that is down closes the connection to its client as well.
        let Ok(server) = TcpStream::connect(server) else { continue };
        link::open(shared, id, client, server);
    }
}
