//! A connection to PostgreSQL that ends or stops its process at a given moment.

use std::io::{self, Read};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use rustix::process::{Signal, getpid, kill_process};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls};

/// Whether the connection is made, so that what is written counts.
static IS_MADE: AtomicBool = AtomicBool::new(false);
/// How often something was asked since then.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// What happens to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Lives,
    /// It is killed before it asks something for the time with this number, from 1.
    KilledBefore(u64),
    /// It is killed when that has an answer, before it can read the answer.
    KilledAfter(u64),
    /// It is stopped, until somebody wakes it, before it sends that its job is completed.
    Sleeps,
}

impl Fate {
    /// As one word.
    pub(crate) fn write(self) -> String {
        match self {
            Self::Lives => "lives".to_owned(),
            Self::KilledBefore(write) => format!("before-{write}"),
            Self::KilledAfter(write) => format!("after-{write}"),
            Self::Sleeps => "sleeps".to_owned(),
        }
    }

    pub(crate) fn read(word: &str) -> Self {
        let number = |text: &str| text.parse().expect("a number");
        match word.split_once('-') {
            Some(("before", write)) => Self::KilledBefore(number(write)),
            Some(("after", write)) => Self::KilledAfter(number(write)),
            _ if word == "sleeps" => Self::Sleeps,
            _ => Self::Lives,
        }
    }
}

/// Connects under this name, for this fate.
pub(crate) async fn connect(url: &str, name: &str, fate: Fate) -> Client {
    let mut config = Config::from_str(url).expect("an address");
    config.application_name(name);
    let (Some(Host::Tcp(host)), Some(port)) =
        (config.get_hosts().first(), config.get_ports().first())
    else {
        panic!("{url} has no host and port");
    };
    let stream = TcpStream::connect((host.as_str(), *port)).await.expect("PostgreSQL is there");
    let (client, connection) =
        config.connect_raw(Doomed { stream, fate }, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    IS_MADE.store(true, Ordering::SeqCst);
    client
}

/// How often something was asked.
pub(crate) fn writes() -> u64 {
    WRITES.load(Ordering::SeqCst)
}

/// Whether these messages hold a query (`Q`), or what prepares (`P`) or runs (`B`) one. Else they
/// only close what was prepared, which the library sends whenever it likes.
fn asks(mut bytes: &[u8]) -> bool {
    while let [kind, a, b, c, d, rest @ ..] = bytes {
        if b"QPB".contains(kind) {
            return true;
        }
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        bytes = rest.get(length.saturating_sub(4)..).unwrap_or_default();
    }
    false
}

struct Doomed {
    stream: TcpStream,
    fate: Fate,
}

fn suffer(signal: Signal) {
    kill_process(getpid(), signal).expect("this process is there");
}

impl AsyncWrite for Doomed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.stream.poll_write_ready(context))?;
        if IS_MADE.load(Ordering::SeqCst) && asks(bytes) {
            let write = WRITES.fetch_add(1, Ordering::SeqCst) + 1;
            let completes = bytes.windows(10).any(|part| part == b"finish_job");
            match self.fate {
                Fate::KilledBefore(fatal) if fatal == write => suffer(Signal::KILL),
                Fate::Sleeps if completes => {
                    suffer(Signal::STOP);
                    // Another thread may take the signal, so this one waits until it is woken.
                    io::stdin().read_to_end(&mut Vec::new())?;
                }
                _ => {}
            }
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl AsyncRead for Doomed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if matches!(self.fate, Fate::KilledAfter(fatal) if fatal <= writes()) {
            suffer(Signal::KILL);
        }
        Poll::Ready(Ok(()))
    }
}
