//! One client's connection: a socket that waits for its client only so long, and that knows when
//! an answer has left.
//!
//! hyper's own limit for reading a head covers idle connections with the same length and sets a
//! timer for every request; here head, body, idleness and writing each have their own length
//! ([`Patience`]), and a connection keeps one timer that is seldom moved.

use std::io;
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

/// The socket.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    link: Link,
    limits: Patience,
    /// The phase when it was last looked at, and since when.
    seen: Phase,
    since: Instant,
    patience: Pin<Box<Sleep>>,
    stall: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// Around a stream that was accepted just now.
    pub fn new(stream: TcpStream, link: Link, limits: Patience) -> Self {
        let since = Instant::now();
        let patience = Box::pin(tokio::time::sleep_until(since + limits.head));
        Self { stream, link, limits, seen: Phase::Head, since, patience, stall: None }
    }

    fn enter(&mut self, phase: Phase) {
        self.link.set(phase);
        self.seen = phase;
        self.since = Instant::now();
    }

    /// Says whether the client was waited for long enough; otherwise it is looked at again in time.
    fn has_waited(&mut self, cx: &mut Context<'_>) -> bool {
        let phase = self.link.phase();
        if phase != self.seen {
            self.enter(phase);
        }
        let until = match phase {
            Phase::Busy => return false,
            Phase::Head => self.since + self.limits.head,
            Phase::Body => self.since + self.limits.body,
            Phase::Idle => self.since + self.limits.idle,
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
            // An answer, or an event: the client is waited for from now on.
            self.since = Instant::now();
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
                self.enter(Phase::Head);
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
