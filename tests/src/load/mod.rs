//! A load, and its end: clients that do everything a producer, a worker and an operator do, all
//! that they saw, and the state that is left when all work is done.
//!
//! - [`run`]: one client, which repeats what was left without an answer, as real ones do.
//! - [`healing`]: a worker without faults works until no job is left that could run, and the final
//!   state is read.
//!
//! What goes wrong meanwhile is the test's own: it says what the load stands on with [`Run`].

mod client;
pub mod healing;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use client::{LEASE_MS, run};

use crate::history::{Call, Recorder};
use crate::wire::Client;

/// What a load stands on.
pub trait Run: Sync {
    /// What its clients share.
    fn load(&self) -> &Load;

    /// How many servers there are.
    fn servers(&self) -> usize {
        1
    }

    /// A new connection to this server, counted round, or to the next one that is there; with the
    /// number of that server. Waits when none is.
    fn client(&self, wish: usize) -> (usize, Client);

    /// A client has sent this call to this server and has not yet read its answer. Says whether
    /// that was somebody's end.
    fn sent(&self, _call: &Call, _server: usize) -> bool {
        false
    }
}

/// What the clients of a load share.
#[derive(Debug)]
pub struct Load {
    /// All that they saw.
    pub recorder: Recorder,
    /// Changes that were sent and not answered.
    in_flight: AtomicUsize,
    over: AtomicBool,
    /// Ids of jobs that somebody was told of, for calls about jobs of others.
    known: Mutex<Vec<String>>,
    /// The length of a few leases.
    long_lease_ms: u64,
}

impl Load {
    /// A load whose leases have a length of [`LEASE_MS`], but for a few of `long_lease_ms`.
    #[must_use]
    pub fn new(long_lease_ms: u64) -> Self {
        Self {
            recorder: Recorder::default(),
            in_flight: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            known: Mutex::default(),
            long_lease_ms,
        }
    }

    /// Ends the load: each client reports what it still holds, and leaves.
    pub fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Whether a change was sent somewhere and not answered yet.
    pub fn is_changing(&self) -> bool {
        self.in_flight.load(Ordering::SeqCst) > 0
    }

    /// Ids of all jobs that some answer named.
    ///
    /// # Panics
    ///
    /// When a client has panicked while it noted one.
    pub fn known(&self) -> Vec<String> {
        self.known.lock().unwrap().clone()
    }
}
