//! A TCP proxy that can lose requests and answers, and counts what passes.
//!
//! It understands of HTTP/1.1 what it takes to tell one message from the next: heads, and bodies
//! with a `Content-Length`.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Pass,
    /// The server never sees it; the client's connection is closed.
    LoseRequest,
    /// The server does it; its answer is lost and the client's connection is closed.
    LoseAnswer,
}

/// A request that came by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    /// Method and path, such as `POST /v1/jobs`.
    pub(crate) call: String,
    pub(crate) body: Vec<u8>,
}

type Script = dyn Fn(&Seen) -> Fate + Send + Sync;

/// A running proxy, which ends with the test's runtime.
pub(crate) struct Proxy {
    pub(crate) url: String,
    log: Arc<Log>,
}

#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    under_way: Mutex<(usize, usize)>,
}

impl Proxy {
    /// A proxy in front of `server` (`host:port`).
    pub(crate) async fn start(
        server: &str,
        script: impl Fn(&Seen) -> Fate + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let log = Arc::new(Log::default());
        let (server, script, shared) = (server.to_owned(), Arc::new(script), Arc::clone(&log));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, script) = (server.clone(), Arc::clone(&script));
                let log = Arc::clone(&shared);
                // A connection that breaks is what this proxy is for.
                tokio::spawn(async move { drop(serve(client, &server, &*script, &log).await) });
            }
        });
        Self { url: format!("http://{address}"), log }
    }

    /// Loses every request, or every answer, the first time it comes by.
    pub(crate) async fn losing_first(server: &str, fate: Fate) -> Self {
        let known = Mutex::new(HashSet::new());
        let first = move |seen: &Seen| known.lock().expect("a set").insert(seen.clone());
        Self::start(server, move |seen| if first(seen) { fate } else { Fate::Pass }).await
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().expect("a log").clone()
    }

    /// The calls that came by since the last time this was asked.
    pub(crate) fn take_calls(&self) -> Vec<String> {
        let seen = std::mem::take(&mut *self.log.seen.lock().expect("a log"));
        seen.into_iter().map(|seen| seen.call).collect()
    }

    /// The most requests that were under way at the same time.
    pub(crate) fn under_way_max(&self) -> usize {
        self.log.under_way.lock().expect("a log").1
    }
}

async fn serve(mut client: TcpStream, server: &str, script: &Script, log: &Log) -> io::Result<()> {
    let mut upstream = TcpStream::connect(server).await?;
    let (mut from_client, mut from_server) = (Vec::new(), Vec::new());
    loop {
        let Some((head, body)) = message(&mut client, &mut from_client).await? else {
            return Ok(());
        };
        let call = head.split(" HTTP/").next().unwrap_or_default().to_owned();
        let seen = Seen { call, body: body.clone() };
        let fate = script(&seen);
        log.seen.lock().expect("a log").push(seen);
        if fate == Fate::LoseRequest {
            return Ok(());
        }
        enter(log, 1);
        upstream.write_all(head.as_bytes()).await?;
        upstream.write_all(&body).await?;
        let Some(answer) = answer(&mut upstream, &mut from_server, &client).await else {
            enter(log, -1);
            return Ok(());
        };
        enter(log, -1);
        let Some((head, body)) = answer? else { return Ok(()) };
        if fate == Fate::LoseAnswer {
            return Ok(());
        }
        client.write_all(head.as_bytes()).await?;
        client.write_all(&body).await?;
    }
}

/// The server's answer; `None` when the client hangs up first, so that the server is told, as if
/// there were no proxy.
async fn answer(
    upstream: &mut TcpStream,
    unread: &mut Vec<u8>,
    client: &TcpStream,
) -> Option<io::Result<Option<(String, Vec<u8>)>>> {
    let mut byte = [0];
    tokio::select! {
        biased;
        answer = message(upstream, unread) => Some(answer),
        // Nobody sends a second request before the first one is answered.
        _ = client.peek(&mut byte) => None,
    }
}

fn enter(log: &Log, by: isize) {
    let mut under_way = log.under_way.lock().expect("a log");
    under_way.0 = under_way.0.saturating_add_signed(by);
    under_way.1 = under_way.1.max(under_way.0);
}

/// The next message of a stream, head and body; `None` at its end.
pub(crate) async fn message(
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
) -> io::Result<Option<(String, Vec<u8>)>> {
    let head_end = loop {
        if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    };
    let rest = unread.split_off(head_end);
    let head = String::from_utf8_lossy(&std::mem::replace(unread, rest)).into_owned();
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
    while unread.len() < length {
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
    let rest = unread.split_off(length);
    Ok(Some((head, std::mem::replace(unread, rest))))
}
