//! The last changes on this node, for `/v1/events`.
//!
//! Every event has a number; with the node's own mark before it, it is the event's id, so that an
//! id from another node or from before a restart is recognised as unknown. The ring fills only
//! while somebody listens, and [`LINGER_MS`] longer for one who comes back: commits of a busy node
//! are not slowed for nobody.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::TimeMs;
use halyard_store::verbs::Change;
use tokio::sync::watch;

/// Changes that the ring holds.
pub const RING_LENGTH: usize = 10_000;

/// How long the ring goes on filling after its last listener left.
pub const LINGER_MS: TimeMs = 60_000;

/// The last changes.
#[derive(Debug)]
pub struct Ring {
    /// This node's own mark.
    mark: u32,
    state: Mutex<State>,
    filling: AtomicBool,
    newest: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    events: VecDeque<Change>,
    /// The number of the next event.
    next: u64,
    listeners: usize,
    /// When nobody was found to listen any more; `None` while somebody may.
    left_at: Option<TimeMs>,
}

/// One listener, and how far it has read.
#[derive(Debug)]
pub struct Listener {
    ring: Arc<Ring>,
    next: u64,
    newest: watch::Receiver<u64>,
}

/// What a listener reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Changes in order, each with its id.
    Changes(Vec<(String, Change)>),
    /// Some were missed; listening goes on behind the event of this id.
    Reset(String),
}

impl Ring {
    /// An empty ring with a mark of its own.
    #[must_use]
    pub fn new(mark: u32) -> Self {
        let state = State { events: VecDeque::new(), next: 1, listeners: 0, left_at: None };
        let (newest, _) = watch::channel(0);
        Self { mark, state: Mutex::new(state), filling: AtomicBool::new(false), newest }
    }

    /// Hears of a commit.
    pub fn hear(&self, changes: &[Change]) {
        if !self.filling.load(Ordering::SeqCst) {
            return;
        }
        let mut state = self.lock();
        for change in changes {
            if state.events.len() == RING_LENGTH {
                state.events.pop_front();
            }
            state.events.push_back(change.clone());
            state.next += 1;
        }
        let newest = state.next - 1;
        drop(state);
        self.newest.send_replace(newest);
    }

    /// Listens, behind the event `last_id` if the ring holds what came after it, otherwise from
    /// now on; the answer's second part says that something may have been missed.
    #[must_use]
    pub fn listen(self: &Arc<Self>, last_id: Option<&str>) -> (Listener, bool) {
        let mut state = self.lock();
        let known = last_id.and_then(|id| self.number(id)).filter(|number| state.holds(number + 1));
        let was_filling = self.filling.swap(true, Ordering::SeqCst);
        state.listeners += 1;
        state.left_at = None;
        let resumed = known.filter(|_| was_filling);
        let next = resumed.map_or(state.next, |number| number + 1);
        drop(state);
        let newest = self.newest.subscribe();
        let missed = last_id.is_some() && resumed.is_none();
        (Listener { ring: Arc::clone(self), next, newest }, missed)
    }

    /// Stops filling when nobody has listened for a while; called by a loop.
    pub fn rest(&self, now: TimeMs) {
        let mut state = self.lock();
        if state.listeners > 0 {
            return;
        }
        let left_at = *state.left_at.get_or_insert(now);
        if now.saturating_sub(left_at) > LINGER_MS {
            self.filling.store(false, Ordering::SeqCst);
            state.events.clear();
        }
    }

    fn id(&self, number: u64) -> String {
        format!("{:08x}-{number}", self.mark)
    }

    fn number(&self, id: &str) -> Option<u64> {
        let (mark, number) = id.split_once('-')?;
        let ours = u32::from_str_radix(mark, 16).ok()? == self.mark;
        number.parse().ok().filter(|number: &u64| ours && *number < u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn first(&self) -> u64 {
        self.next - self.events.len() as u64
    }

    /// Says whether everything from this number on is in the ring, or still to come.
    fn holds(&self, number: u64) -> bool {
        (self.first()..=self.next).contains(&number)
    }
}

impl Listener {
    /// The id of the newest event that this listener has read, or will not read.
    #[must_use]
    pub fn last_id(&self) -> String {
        self.ring.id(self.next - 1)
    }

    /// Waits until there is something to read.
    pub async fn wait(&mut self) {
        let next = self.next;
        // The ring lives as long as its listeners, so the channel is never closed.
        let _ = self.newest.wait_for(|newest| *newest >= next).await;
    }

    /// Reads up to `limit` changes.
    pub fn read(&mut self, limit: usize) -> Heard {
        let state = self.ring.lock();
        if !state.holds(self.next) {
            self.next = state.next;
            drop(state);
            return Heard::Reset(self.last_id());
        }
        let skip = usize::try_from(self.next - state.first()).unwrap_or(usize::MAX);
        let changes: Vec<Change> = state.events.iter().skip(skip).take(limit).cloned().collect();
        drop(state);
        let first = self.next;
        self.next += changes.len() as u64;
        Heard::Changes((first..).map(|number| self.ring.id(number)).zip(changes).collect())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut state = self.ring.lock();
        state.listeners = state.listeners.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever listened shortly, between two looks of the loop, is waited for like anybody.
    #[test]
    fn a_listener_is_waited_for_from_when_it_left() {
        const NOW: TimeMs = 1_764_500_000_000;
        let ring = Arc::new(Ring::new(1));
        ring.rest(NOW);
        let (listener, _) = ring.listen(None);
        let id = listener.last_id();
        drop(listener);
        let missed = |now| {
            ring.rest(now);
            ring.listen(Some(&id)).1
        };
        assert!(!missed(NOW + 9_000), "it came back at once");
        ring.rest(NOW + 10_000);
        assert!(!missed(NOW + 10_000 + LINGER_MS), "and after the linger");
        ring.rest(NOW + 200_000);
        assert!(missed(NOW + 200_001 + LINGER_MS), "but not later");
    }
}
