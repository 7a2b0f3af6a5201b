//! Waking the claims that wait.
//!
//! A waiting claim joins with the queues and tasks that it names. Claims that name the same stand
//! in one line, first come, first served. Each job that becomes claimable is hinted to the first
//! claim, over all lines, that may take it; one claim takes as many hints of one commit as it may
//! take jobs.
//!
//! A hint promises nothing: another worker may have been faster. So a woken claim asks the store,
//! and whatever was hinted to it and is still queued then is passed on to the claims behind it.
//! Each hint visits a claim at most once, and none that joined after it was made, because a claim
//! joins before it asks the store. With all hints lost, [`Wakeups::poke`] still finds every job.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::id::JobId;
use halyard_core::job::{Name, State};
use halyard_store::verbs::{Change, Invitation};
use tokio::sync::oneshot;

/// What a claim may take. Equal ones share a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wants {
    queues: Vec<Name>,
    tasks: Option<Vec<Name>>,
}

impl Wants {
    /// From these queues, of these tasks; `None` is all.
    #[must_use]
    pub fn new(queues: &[Name], tasks: Option<&[Name]>) -> Self {
        Self { queues: sorted(queues), tasks: tasks.map(sorted) }
    }

    fn takes(&self, task: &Name) -> bool {
        self.tasks.as_ref().is_none_or(|tasks| tasks.binary_search(task).is_ok())
    }
}

fn sorted(names: &[Name]) -> Vec<Name> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    names
}

/// A job that became claimable.
#[derive(Clone, Debug)]
struct Hint {
    id: JobId,
    queue: Name,
    task: Name,
    /// Claims that joined before this place were asked already.
    from: u64,
    /// Claims that joined from this place on asked the store by themselves.
    until: u64,
}

/// Why a claim was woken.
#[derive(Debug, Default)]
struct Wake {
    hints: Vec<Hint>,
    polled: bool,
    /// To the transaction that the hints are from.
    invitation: Option<Invitation>,
}

/// All waiting claims of this node.
#[derive(Debug, Default)]
pub struct Wakeups {
    lines: Mutex<Lines>,
    /// Nobody waits and no hint is under way: a commit then costs one look at this.
    idle: AtomicBool,
}

#[derive(Debug, Default)]
struct Lines {
    /// The place of the next claim that joins.
    next: u64,
    lines: HashMap<Arc<Wants>, BTreeMap<u64, Slot>>,
    by_queue: HashMap<Name, Vec<Arc<Wants>>>,
    /// Jobs whose hint is under way and that are queued still.
    hinted: HashSet<JobId>,
}

#[derive(Debug)]
struct Slot {
    wake: oneshot::Sender<Wake>,
    /// How many jobs the claim may take.
    max: usize,
}

/// A claim that was taken out of its line to be woken.
struct Woken {
    wants: Arc<Wants>,
    place: u64,
    slot: Slot,
    wake: Wake,
}

impl Woken {
    fn has_room_for(&self, hint: &Hint) -> bool {
        self.wake.hints.len() < self.slot.max
            && (hint.from..hint.until).contains(&self.place)
            && self.wants.queues.binary_search(&hint.queue).is_ok()
            && self.wants.takes(&hint.task)
    }
}

/// One waiting claim. Dropped, it passes on what was hinted to it.
#[derive(Debug)]
pub struct Waiter {
    wakeups: Arc<Wakeups>,
    wants: Arc<Wants>,
    place: u64,
    max: usize,
    wake: oneshot::Receiver<Wake>,
    /// Why it asks the store, until that has answered.
    asks: Wake,
}

impl Wakeups {
    /// Joins the line of claims that want the same. From now on every job that becomes claimable
    /// is hinted, so the store must be asked once after this.
    #[must_use]
    pub fn join(self: &Arc<Self>, wants: Wants, max: usize) -> Waiter {
        let (wake, woken) = oneshot::channel();
        let wants = Arc::new(wants);
        let mut lines = self.lock();
        let place = lines.next;
        lines.next += 1;
        lines.enter(&wants, place, Slot { wake, max });
        self.settle_idle(&lines);
        drop(lines);
        let asks = Wake::default();
        Waiter { wakeups: Arc::clone(self), wants, place, max, wake: woken, asks }
    }

    /// How many claims wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lock().lines.values().map(BTreeMap::len).sum()
    }

    /// Hears of changes; says how many claims it woke, and invited.
    pub fn hear(&self, changes: &[Change], invitation: Option<Invitation>) -> usize {
        if self.idle.load(Ordering::SeqCst) {
            return 0;
        }
        let mut lines = self.lock();
        let (from, until) = (0, lines.next);
        let mut hints = Vec::new();
        // Of a job that changed more than once its last state counts.
        let mut seen = HashSet::with_capacity(changes.len());
        for change in changes.iter().rev().filter(|change| seen.insert(change.id)) {
            if change.state == Some(State::Queued) {
                let (queue, task) = (change.queue.clone(), change.task.clone());
                hints.push(Hint { id: change.id, queue, task, from, until });
            } else {
                lines.hinted.remove(&change.id);
            }
        }
        hints.reverse();
        let woken = lines.hint(hints, invitation);
        self.settle_idle(&lines);
        woken
    }

    /// The base poll: wakes the first claim of each line that names one of `ready`.
    pub fn poke(&self, ready: &[Name]) {
        let mut lines = self.lock();
        let wanted: HashSet<Arc<Wants>> =
            ready.iter().filter_map(|queue| lines.by_queue.get(queue)).flatten().cloned().collect();
        for wants in wanted {
            lines.poke(&wants);
        }
        self.settle_idle(&lines);
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle_idle(&self, lines: &Lines) {
        self.idle.store(lines.lines.is_empty() && lines.hinted.is_empty(), Ordering::SeqCst);
    }
}

impl Waiter {
    /// Waits until a job may be there. Afterwards [`Waiter::rejoin`], ask the store, and tell
    /// [`Waiter::settle`] what came of it.
    pub async fn woken(&mut self) {
        // The sender is dropped only with a wake sent: the slot is taken out to be woken.
        self.asks = (&mut self.wake).await.unwrap_or_default();
    }

    /// Where it is to ask, if not as any other.
    #[must_use]
    pub fn invitation(&self) -> Option<Invitation> {
        self.asks.invitation
    }

    /// Stands in line again, at the same place.
    pub fn rejoin(&mut self) {
        let (wake, woken) = oneshot::channel();
        self.wake = woken;
        let mut lines = self.wakeups.lock();
        lines.enter(&self.wants, self.place, Slot { wake, max: self.max });
        self.wakeups.settle_idle(&lines);
    }

    /// The store has answered: passes on what was hinted and is queued still. `took` are the jobs
    /// that it gave.
    pub fn settle(&mut self, took: impl Iterator<Item = JobId>) {
        let wake = std::mem::take(&mut self.asks);
        let mut lines = self.wakeups.lock();
        let mut any = false;
        for id in took {
            any = true;
            lines.hinted.remove(&id);
        }
        lines.pass_on(wake.hints, self.place);
        if any && wake.polled {
            lines.poke(&self.wants);
        }
        self.wakeups.settle_idle(&lines);
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut lines = self.wakeups.lock();
        lines.leave(&self.wants, self.place);
        self.wake.close();
        // What it asks for is among that while the store has not answered, or has with an error.
        for wake in [std::mem::take(&mut self.asks), self.wake.try_recv().unwrap_or_default()] {
            lines.pass_on(wake.hints, self.place);
            if wake.polled {
                lines.poke(&self.wants);
            }
        }
        self.wakeups.settle_idle(&lines);
    }
}

impl Lines {
    fn enter(&mut self, wants: &Arc<Wants>, place: u64, slot: Slot) {
        if let Some(line) = self.lines.get_mut(wants) {
            line.insert(place, slot);
            return;
        }
        for queue in &wants.queues {
            self.by_queue.entry(queue.clone()).or_default().push(Arc::clone(wants));
        }
        self.lines.insert(Arc::clone(wants), BTreeMap::from([(place, slot)]));
    }

    fn leave(&mut self, wants: &Arc<Wants>, place: u64) -> Option<Slot> {
        let line = self.lines.get_mut(wants)?;
        let slot = line.remove(&place);
        if line.is_empty() {
            self.lines.remove(wants);
            for queue in &wants.queues {
                if let Some(lines) = self.by_queue.get_mut(queue) {
                    lines.retain(|other| other != wants);
                    if lines.is_empty() {
                        self.by_queue.remove(queue);
                    }
                }
            }
        }
        slot
    }

    /// The first claim in any line that may take the hinted job.
    fn find(&self, hint: &Hint) -> Option<(Arc<Wants>, u64)> {
        let lines = self.by_queue.get(&hint.queue)?;
        lines
            .iter()
            .filter(|wants| wants.takes(&hint.task))
            .filter_map(|wants| {
                let line = self.lines.get(wants)?;
                let (place, _) = line.range(hint.from..hint.until).next()?;
                Some((Arc::clone(wants), *place))
            })
            .min_by_key(|(_, place)| *place)
    }

    /// Wakes claims for these jobs, and says how many; one claim takes as many hints as it may take
    /// jobs.
    fn hint(&mut self, hints: Vec<Hint>, invitation: Option<Invitation>) -> usize {
        let mut woken: Vec<Woken> = Vec::new();
        for hint in hints {
            if let Some(last) = woken.last_mut()
                && last.has_room_for(&hint)
            {
                self.hinted.insert(hint.id);
                last.wake.hints.push(hint);
                continue;
            }
            let first = self.find(&hint);
            let slot = first.and_then(|(wants, place)| {
                let slot = self.leave(&wants, place)?;
                Some(Woken { wants, place, slot, wake: Wake { invitation, ..Wake::default() } })
            });
            if let Some(mut first) = slot {
                self.hinted.insert(hint.id);
                first.wake.hints.push(hint);
                woken.push(first);
            } else {
                self.hinted.remove(&hint.id);
            }
        }
        let count = woken.len();
        for claim in woken {
            // Its receiver is closed under this lock, and only after the claim has left its line.
            let _ = claim.slot.wake.send(claim.wake);
        }
        count
    }

    fn pass_on(&mut self, hints: Vec<Hint>, asked: u64) {
        let mut rest = hints;
        rest.retain(|hint| self.hinted.contains(&hint.id));
        for hint in &mut rest {
            hint.from = hint.from.max(asked + 1);
        }
        self.hint(rest, None);
    }

    fn poke(&mut self, wants: &Arc<Wants>) {
        let first = self.lines.get(wants).and_then(|line| line.keys().next().copied());
        if let Some(slot) = first.and_then(|place| self.leave(wants, place)) {
            let _ = slot.wake.send(Wake { polled: true, ..Wake::default() });
        }
    }
}

#[cfg(test)]
mod tests;
