//! One client's connection: a socket that waits for its client only so long, and that knows when
//! an answer has left.
//!
//! hyper's own limit for reading a head covers idle connections with the same length and sets a
//! timer for every request; here head, body, idleness and writing each have their own length
//! ([`Patience`]), and a connection keeps one timer that is seldom moved.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use super::patience::Patience;
use crate::engine::claims::Leased;

/// What a connection and the calls on it tell each other.
#[derive(Clone, Debug, Default)]
pub struct Link(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    peer: Option<IpAddr>,
    phase: AtomicU8,
    /// The leases of the answer that is being written.
    ///
    /// The answer's body puts them here when it gives out its bytes; the socket lets go of them
    /// once all that was buffered went to the kernel. If writing fails first, the connection is
    /// dropped with the leases still here, and they go back.
    leased: Mutex<Option<Leased>>,
}

/// What the client is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// A head, which has begun, or is the first one.
    Head = 0,
    /// A body.
    Body = 1,
    /// Nothing: its call is under way.
    Busy = 2,
    /// Its answer was given; it may send another request.
    Idle = 3,
}

impl Link {
    /// Of a client at this address.
    pub fn of(peer: IpAddr) -> Self {
        Self(Arc::new(Shared { peer: Some(peer), ..Shared::default() }))
    }

    /// Where the client is; a proxy, where there is one.
    pub fn peer(&self) -> Option<IpAddr> {
        self.0.peer
    }

    /// A call begins: its head is complete.
    pub fn begin_call(&self) {
        self.set(Phase::Busy);
    }

    /// Its body is being read, until [`Link::begin_call`].
    pub fn begin_body(&self) {
        self.set(Phase::Body);
    }

    /// A call's answer is ready.
    pub fn end_call(&self) {
        self.set(Phase::Idle);
    }

    /// The bytes of an answer with these leases are about to be written.
    pub fn hand_over(&self, leased: Leased) {
        *self.0.leased.lock().unwrap_or_else(PoisonError::into_inner) = Some(leased);
    }

    fn handed_over(&self) {
        let leased = self.0.leased.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(leased) = leased {
            leased.hand_over();
        }
    }

    fn set(&self, phase: Phase) {
        self.0.phase.store(phase as u8, Ordering::Relaxed);
    }

    fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Relaxed) {
            0 => Phase::Head,
            1 => Phase::Body,
            2 => Phase::Busy,
            _ => Phase::Idle,
        }
    }
}

/// What the client is waited for, and since when.
#[derive(Debug)]
struct Wait {
    /// The phase when it was last looked at.
    seen: Phase,
    since: Instant,
}

impl Wait {
    /// An answer, an event, or a part of one was written: the client is waited for from now on.
    fn written(&mut self, now: Instant) {
        self.since = now;
    }

    /// When the client has been waited for long enough in this phase, which was noticed now;
    /// `None` if it is not waited for.
    fn until(&mut self, phase: Phase, now: Instant, limits: &Patience) -> Option<Instant> {
        // Idleness begins when the answer was written, however late it is noticed.
        if phase != self.seen && phase != Phase::Idle {
            self.since = now;
        }
        self.seen = phase;
        match phase {
            Phase::Busy => None,
            Phase::Head => Some(self.since + limits.head),
            Phase::Body => Some(self.since + limits.body),
            Phase::Idle => Some(self.since + limits.idle),
        }
    }
}

/// The socket.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    link: Link,
    limits: Patience,
    wait: Wait,
    patience: Pin<Box<Sleep>>,
    stall: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// Around a stream that was accepted just now.
    pub fn new(stream: TcpStream, link: Link, limits: Patience) -> Self {
        let since = Instant::now();
        let patience = Box::pin(tokio::time::sleep_until(since + limits.head));
        let wait = Wait { seen: Phase::Head, since };
        Self { stream, link, limits, wait, patience, stall: None }
    }

    /// Says whether the client was waited for long enough; otherwise it is looked at again in time.
    fn has_waited(&mut self, cx: &mut Context<'_>) -> bool {
        let now = Instant::now();
        if self.stall.is_some() {
            // The last answer is still on its way.
            self.wait.written(now);
        }
        let Some(until) = self.wait.until(self.link.phase(), now, &self.limits) else {
            return false;
        };
        // A timer that is early is moved when it fires, one that is late at once.
        while self.patience.deadline() > until || self.patience.as_mut().poll(cx).is_ready() {
            if Instant::now() >= until {
                return true;
            }
            self.patience.as_mut().reset(until);
        }
        false
    }

    /// Lets a write that waits wait only so long.
    fn bounded<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            self.wait.written(Instant::now());
            return written;
        }
        let stall = self.stall.get_or_insert_with(|| {
            Box::pin(tokio::time::sleep_until(Instant::now() + self.limits.stall))
        });
        ready!(stall.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_ready() {
            if self.link.phase() == Phase::Idle {
                self.link.set(Phase::Head);
                self.wait = Wait { seen: Phase::Head, since: Instant::now() };
            }
            return read;
        }
        if self.has_waited(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.bounded(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called by hyper only when all that it had buffered is written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.link.handed_over();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    enum Event {
        Written,
        Noticed(Phase),
    }
    use Event::{Noticed, Written};

    /// Plays events, each at its second, and checks until when the client is waited for at last.
    fn check(what: &str, events: &[(u64, Event)], wanted: Option<u64>) {
        let limits = Patience::default();
        let begin = Instant::now();
        let at = |second: u64| begin + Duration::from_secs(second);
        let mut wait = Wait { seen: Phase::Head, since: begin };
        let mut until = None;
        for (second, event) in events {
            match event {
                Written => wait.written(at(*second)),
                Noticed(phase) => until = wait.until(*phase, at(*second), &limits),
            }
        }
        assert_eq!(until, wanted.map(at), "{what}");
    }

    #[test]
    fn each_phase_has_its_length() {
        use Phase::{Body, Busy, Head, Idle};
        check("a first head", &[(4, Noticed(Head))], Some(10));
        check("a body", &[(4, Noticed(Body)), (9, Noticed(Body))], Some(34));
        check("a call", &[(4, Noticed(Busy))], None);
        let answered = || [(2, Noticed(Busy)), (20, Written)];
        let noticed = |events: Vec<(u64, Event)>| answered().into_iter().chain(events).collect();
        let seen_late: Vec<_> = noticed(vec![(27, Noticed(Idle))]);
        check("idle since its answer, though noticed later", &seen_late, Some(95));
        let seen_often: Vec<_> = noticed(vec![(20, Noticed(Idle)), (94, Noticed(Idle))]);
        check("idle since its answer, however often noticed", &seen_often, Some(95));
        let again: Vec<_> = noticed(vec![(27, Noticed(Idle)), (40, Noticed(Busy)), (41, Written)]);
        let again: Vec<_> = again.into_iter().chain([(45, Noticed(Idle))]).collect();
        check("idle since the last answer", &again, Some(116));
    }
}
