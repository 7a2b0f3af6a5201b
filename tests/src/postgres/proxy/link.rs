//! One connection: a thread for each way.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Shared;
use super::frames::{Frame, Frames, Statements};
use super::rules::{Action, Way};

const PIECE: usize = 64 * 1024;

/// The two sides of a connection, and what passed between them.
#[derive(Debug)]
pub(super) struct Link {
    client: TcpStream,
    server: TcpStream,
    to_server: u64,
    to_client: u64,
    /// How many of its two threads still run.
    ways: usize,
}

impl Link {
    /// Bytes passed so far, each way.
    pub(super) fn totals(&self, id: u64) -> [((u64, Way), u64); 2] {
        [((id, Way::ToServer), self.to_server), ((id, Way::ToClient), self.to_client)]
    }

    pub(super) fn close(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }

    fn total(&mut self, way: Way) -> &mut u64 {
        match way {
            Way::ToServer => &mut self.to_server,
            Way::ToClient => &mut self.to_client,
        }
    }
}

/// What the two threads of a connection tell each other.
#[derive(Debug, Default)]
struct Talk {
    /// The client has asked for encryption, and the server's answer is one letter.
    negotiating: AtomicBool,
    encrypted: AtomicBool,
}

/// One way of a connection.
struct Pump {
    shared: Arc<Shared>,
    id: u64,
    way: Way,
    from: TcpStream,
    to: TcpStream,
    talk: Arc<Talk>,
}

/// Begins to pass bytes between the two.
pub(super) fn open(shared: &Arc<Shared>, id: u64, client: TcpStream, server: TcpStream) {
    let another = |stream: &TcpStream| stream.try_clone().expect("a handle");
    for stream in [&client, &server] {
        stream.set_nodelay(true).expect("a socket of TCP");
    }
    let talk = Arc::new(Talk::default());
    let pumps = [
        (Way::ToServer, another(&client), another(&server)),
        (Way::ToClient, another(&server), another(&client)),
    ];
    let link = Link { client, server, to_server: 0, to_client: 0, ways: 2 };
    shared.lock().links.insert(id, link);
    for (way, from, to) in pumps {
        let (shared, talk) = (Arc::clone(shared), Arc::clone(&talk));
        std::thread::spawn(move || Pump { shared, id, way, from, to, talk }.run());
    }
}

impl Pump {
    fn run(mut self) {
        match self.way {
            Way::ToServer => self.pass_requests(),
            Way::ToClient => self.pass_answers(),
        };
        // The other side may still have something to say.
        let _ = self.to.shutdown(Shutdown::Write);
        let mut state = self.shared.lock();
        let Some(link) = state.links.get_mut(&self.id) else { return };
        link.ways -= 1;
        if link.ways == 0 {
            link.close();
            state.links.remove(&self.id);
        }
    }

    /// Until the connection ends, which is `None`.
    fn pass_requests(&mut self) -> Option<()> {
        let mut frames = Frames::of_client();
        let mut statements = Statements::default();
        let mut piece = vec![0; PIECE];
        loop {
            let length = self.read(&mut piece)?;
            frames.push(piece.get(..length)?);
            if self.talk.encrypted.load(Ordering::SeqCst) {
                frames.become_opaque();
            }
            while let Some(frame) = frames.next() {
                if frame.asks_for_encryption() {
                    self.talk.negotiating.store(true, Ordering::SeqCst);
                }
                if statements.ask_for_commit(&frame) {
                    self.act(|rule| rule.on_commit())?;
                }
                self.pass(&frame.bytes)?;
            }
        }
    }

    /// Until the connection ends, which is `None`.
    fn pass_answers(&mut self) -> Option<()> {
        let mut frames = Frames::of_server();
        let mut piece = vec![0; PIECE];
        // An answer on which something is to happen, until the server is ready for the next
        // request: only then its transaction has surely ended.
        let mut kept: Option<(Action, Vec<u8>)> = None;
        loop {
            let length = self.read(&mut piece)?;
            frames.push(piece.get(..length)?);
            while let Some(frame) = self.next_answer(&mut frames) {
                if let Some((action, mut bytes)) = kept.take() {
                    bytes.extend_from_slice(&frame.bytes);
                    if frame.is_ready() {
                        self.carry_out(action)?;
                        self.pass(&bytes)?;
                    } else {
                        kept = Some((action, bytes));
                    }
                    continue;
                }
                let tag = frame.tag();
                match tag.and_then(|tag| self.decide(|rule| rule.on_answer(&tag))) {
                    Some(action) => kept = Some((action, frame.bytes)),
                    None => self.pass(&frame.bytes)?,
                }
            }
        }
    }

    fn next_answer(&self, frames: &mut Frames) -> Option<Frame> {
        if !self.talk.negotiating.load(Ordering::SeqCst) {
            return frames.next();
        }
        let answer = frames.lone_letter()?;
        if matches!(answer.bytes.as_slice(), b"S" | b"G") {
            self.talk.encrypted.store(true, Ordering::SeqCst);
            frames.become_opaque();
        }
        self.talk.negotiating.store(false, Ordering::SeqCst);
        Some(answer)
    }

    fn read(&mut self, piece: &mut [u8]) -> Option<usize> {
        self.from.read(piece).ok().filter(|length| *length > 0)
    }

    fn decide(&self, ask: impl FnMut(&mut super::rules::Rule) -> Option<Action>) -> Option<Action> {
        self.shared.lock().rules.iter_mut().find_map(ask)
    }

    /// Does what a rule says, if one does; `None` when that is the end of the connection.
    fn act(&self, ask: impl FnMut(&mut super::rules::Rule) -> Option<Action>) -> Option<()> {
        match self.decide(ask) {
            Some(action) => self.carry_out(action),
            None => Some(()),
        }
    }

    /// `None` when that is the end of the connection.
    fn carry_out(&self, action: Action) -> Option<()> {
        let mut state = self.shared.lock();
        match action {
            Action::Cut => {
                state.cut(self.id);
                None
            }
            Action::Hold => {
                state.holding = true;
                Some(())
            }
        }
    }

    /// Passes bytes on when nothing holds them, and stops among them where a rule says so; `None`
    /// when that is the end of the connection.
    fn pass(&mut self, bytes: &[u8]) -> Option<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, action) = self.allowed(u64::try_from(rest.len()).ok()?)?;
            let (first, others) = rest.split_at(usize::try_from(now).ok()?);
            self.to.write_all(first).ok()?;
            rest = others;
            if let Some(action) = action {
                self.carry_out(action)?;
            }
        }
        Some(())
    }

    /// How many of these bytes may pass now, and what happens after them.
    fn allowed(&self, more: u64) -> Option<(u64, Option<Action>)> {
        let mut state = self.shared.lock();
        while state.holding && state.links.contains_key(&self.id) {
            state = self.shared.changed.wait(state).expect("no thread of the proxy panics");
        }
        let (id, way) = (self.id, self.way);
        let total = *state.links.get_mut(&id)?.total(way);
        let rules = state.rules.iter_mut();
        let met = rules.filter_map(|rule| rule.on_bytes(id, way, total, more));
        let met = met.min_by_key(|(at, _)| *at);
        let (now, action) = met.map_or((more, None), |(at, action)| (at, Some(action)));
        *state.links.get_mut(&id)?.total(way) += now;
        Some((now, action))
    }
}
