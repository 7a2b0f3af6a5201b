//! Who is alive: the workers that claimed or sent a heartbeat lately, by their own words.
//!
//! In memory only. After a restart the list fills up again within one wait of a claim.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::TimeMs;
use halyard_core::job::Name;

/// Without a word for so long a worker counts as gone. A waiting claim lasts 55 s at most.
pub const SILENCE_MS: TimeMs = 3 * 60_000;

/// Workers that the list holds; when it is full, newcomers have to wait for others to be forgotten.
pub const WORKERS_MAX: usize = 10_000;

/// A worker as it names itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its own for as long as its process lives.
    pub id: Name,
    /// For people.
    pub name: Option<String>,
    /// Its client library.
    pub sdk: Option<String>,
}

/// A worker that was heard of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// As it names itself.
    pub identity: Identity,
    /// What its last claim named.
    pub queues: Arc<[Name]>,
    /// What its last claim named; `None` is all.
    pub tasks: Option<Arc<[Name]>>,
    /// Its last heartbeat said that it is shutting down.
    pub draining: bool,
    /// When it was first heard of.
    pub first_seen_at: TimeMs,
    /// When it was last heard of.
    pub last_seen_at: TimeMs,
}

impl Worker {
    /// Says whether its last claim named this queue.
    #[must_use]
    pub fn serves(&self, queue: &str) -> bool {
        self.queues.iter().any(|name| **name == *queue)
    }

    /// Says whether its last claim could have got a job of this task from one of these queues.
    #[must_use]
    pub fn handles(&self, task: &str, queues: &[Name]) -> bool {
        queues.iter().any(|queue| self.serves(queue))
            && self.tasks.as_ref().is_none_or(|tasks| tasks.iter().any(|name| **name == *task))
    }
}

/// The workers that were heard of.
#[derive(Debug, Default)]
pub struct Workers {
    seen: Mutex<HashMap<Name, Worker>>,
}

impl Workers {
    /// A worker claims.
    pub fn claimed(&self, who: &Identity, queues: &[Name], tasks: Option<&[Name]>, now: TimeMs) {
        self.heard(who, now, |worker| {
            if *worker.queues != *queues {
                worker.queues = queues.into();
            }
            if worker.tasks.as_deref() != tasks {
                worker.tasks = tasks.map(Arc::from);
            }
            worker.draining = false;
        });
    }

    /// A worker sent a heartbeat.
    pub fn beat(&self, who: &Identity, draining: bool, now: TimeMs) {
        self.heard(who, now, |worker| worker.draining = draining);
    }

    /// The living, by id. `holds` says how many leases one has: who holds any is not gone.
    #[must_use]
    pub fn alive(&self, now: TimeMs, holds: impl Fn(&Name) -> bool) -> Vec<Worker> {
        let mut alive: Vec<Worker> = self
            .lock()
            .values()
            .filter(|worker| is_fresh(worker, now) || holds(&worker.identity.id))
            .cloned()
            .collect();
        alive.sort_unstable_by(|a, b| a.identity.id.cmp(&b.identity.id));
        alive
    }

    /// Says whether a worker was ever heard of, and not forgotten since.
    #[must_use]
    pub fn knows(&self, id: &Name) -> bool {
        self.lock().contains_key(id)
    }

    /// Forgets who was silent for longer than any lease lasts; called by a loop.
    pub fn forget(&self, now: TimeMs) {
        let kept_ms = SILENCE_MS + halyard_core::limits::LEASE_MS_MAX;
        self.lock().retain(|_, worker| now.saturating_sub(worker.last_seen_at) <= kept_ms);
    }

    fn heard(&self, who: &Identity, now: TimeMs, change: impl FnOnce(&mut Worker)) {
        let mut seen = self.lock();
        if let Some(worker) = seen.get_mut(&who.id) {
            if worker.identity != *who {
                worker.identity = who.clone();
            }
            worker.last_seen_at = now;
            return change(worker);
        }
        if seen.len() >= WORKERS_MAX {
            seen.retain(|_, worker| is_fresh(worker, now));
        }
        if seen.len() < WORKERS_MAX {
            let mut worker = Worker {
                identity: who.clone(),
                queues: Arc::from([]),
                tasks: None,
                draining: false,
                first_seen_at: now,
                last_seen_at: now,
            };
            change(&mut worker);
            seen.insert(who.id.clone(), worker);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Name, Worker>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_fresh(worker: &Worker, now: TimeMs) -> bool {
    now.saturating_sub(worker.last_seen_at) <= SILENCE_MS
}
