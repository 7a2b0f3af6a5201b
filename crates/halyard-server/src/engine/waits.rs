//! Waking the reads that wait for a job's life to end.
//!
//! As with claims, a wake is a hint: the reader asks the store again. [`Waits::tell`] serves the
//! commits and the base poll alike.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_store::verbs::Change;
use tokio::sync::oneshot;

/// All waiting reads of this node.
#[derive(Debug, Default)]
pub struct Waits {
    jobs: Mutex<Jobs>,
    /// Nobody waits: a commit then costs one look at this.
    idle: AtomicBool,
}

#[derive(Debug, Default)]
struct Jobs {
    next: u64,
    waiting: HashMap<JobId, Vec<Reader>>,
}

#[derive(Debug)]
struct Reader {
    number: u64,
    life: u32,
    wake: oneshot::Sender<()>,
}

/// One waiting read.
#[derive(Debug)]
pub struct Wait {
    waits: Arc<Waits>,
    id: JobId,
    number: u64,
    wake: oneshot::Receiver<()>,
}

impl Waits {
    /// Waits for the end of this life from now on; the store must be asked once after this.
    #[must_use]
    pub fn join(self: &Arc<Self>, id: JobId, life: u32) -> Wait {
        let (wake, woken) = oneshot::channel();
        let mut jobs = self.lock();
        let number = jobs.next;
        jobs.next += 1;
        jobs.waiting.entry(id).or_default().push(Reader { number, life, wake });
        self.settle_idle(&jobs);
        drop(jobs);
        Wait { waits: Arc::clone(self), id, number, wake: woken }
    }

    /// Hears of a commit.
    pub fn hear(&self, changes: &[Change]) {
        if self.idle.load(Ordering::SeqCst) {
            return;
        }
        let mut jobs = self.lock();
        for change in changes {
            jobs.tell(change.id, change.state, change.life);
        }
        self.settle_idle(&jobs);
    }

    /// Says how a job stands; `None` is gone. Wakes whom that concerns.
    pub fn tell(&self, id: JobId, state: Option<State>, life: u32) {
        let mut jobs = self.lock();
        jobs.tell(id, state, life);
        self.settle_idle(&jobs);
    }

    /// The jobs that somebody waits for.
    #[must_use]
    pub fn jobs(&self) -> Vec<JobId> {
        self.lock().waiting.keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle_idle(&self, jobs: &Jobs) {
        self.idle.store(jobs.waiting.is_empty(), Ordering::SeqCst);
    }
}

impl Jobs {
    fn tell(&mut self, id: JobId, state: Option<State>, life: u32) {
        let Some(readers) = self.waiting.get_mut(&id) else { return };
        let over = state.is_none_or(State::is_terminal);
        for reader in readers.extract_if(.., |reader| over || life > reader.life) {
            // A reader that is gone needs no answer.
            let _ = reader.wake.send(());
        }
        if readers.is_empty() {
            self.waiting.remove(&id);
        }
    }
}

impl Wait {
    /// Waits until the life may have ended, or the job may be gone.
    pub async fn over(&mut self) {
        let _ = (&mut self.wake).await;
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut jobs = self.waits.lock();
        if let Some(readers) = jobs.waiting.get_mut(&self.id) {
            readers.retain(|reader| reader.number != self.number);
            if readers.is_empty() {
                jobs.waiting.remove(&self.id);
            }
        }
        self.waits.settle_idle(&jobs);
    }
}
