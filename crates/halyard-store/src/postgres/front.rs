//! How far the claims of this server have come in the index of claimable jobs.
//!
//! Beside an old snapshot the index keeps the entries of jobs that were claimed long ago, and a
//! claim that begins at its start steps over them all. Where that takes [`SLOW_MS`], claims begin
//! where the one before them ended, and at the start only now and then. What this server makes
//! claimable behind the front moves it back; what others make there waits for the next look from
//! the start, [`LOOK_MS_MAX`] at most. When that look cannot take it all, it moves the front back,
//! and the claims after it go on from there.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::job::{Job, Name};
use halyard_core::{DurationMs, TimeMs};

use crate::clock::Clock;

/// A look from the start that takes less is simply taken.
pub(super) const SLOW_MS: DurationMs = 10;
/// Slow ones take one part in so many of the time.
const SHARE: DurationMs = 20;
/// The longest time between two of them.
pub(super) const LOOK_MS_MAX: DurationMs = 1_000;
/// Fronts that are remembered.
const PAIRS_MAX: usize = 10_000;

/// A queue and a task.
pub(super) type Pair = (Name, Name);

/// A place in the order of claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    priority: Reverse<i32>,
    pub(super) run_at: TimeMs,
    pub(super) seq: i64,
}

impl Place {
    fn of(job: &Job) -> Self {
        Self { priority: Reverse(job.priority), run_at: job.run_at, seq: job.seq }
    }

    fn behind(self) -> Self {
        Self { seq: self.seq + 1, ..self }
    }
}

/// Where claims of one pair begin.
struct Front {
    place: Place,
    looked_at: TimeMs,
    look_took: DurationMs,
    /// Claims under way, with the first place that became claimable meanwhile.
    under_way: HashMap<u64, Option<Place>>,
}

/// The fronts of a server.
pub(super) struct Fronts {
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    pairs: HashMap<Pair, Front>,
    looks: u64,
}

/// A claim under way. Dropped, it leaves the fronts where they are.
pub(super) struct Look<'f> {
    fronts: &'f Fronts,
    number: u64,
    begun_at: TimeMs,
    /// The pairs, with the places of their fronts.
    pub(super) pairs: Vec<(Pair, Option<Place>)>,
    /// The priority of all these places; `None`: it looks from the start.
    pub(super) priority: Option<i32>,
    /// The last place that was loaded: what the pairs had before it was loaded too.
    last: Option<Place>,
    /// Behind it there may be more.
    is_filled: bool,
}

impl Fronts {
    pub(super) fn of(clock: Arc<dyn Clock>) -> Self {
        Self { clock, inner: Mutex::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a claim from these pairs.
    pub(super) fn look(&self, pairs: Vec<Pair>) -> Look<'_> {
        let now = self.clock.now();
        let mut inner = self.inner();
        inner.looks += 1;
        let number = inner.looks;
        let mut may_begin_at_front = true;
        let mut priority = None;
        let mut placed = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let front = inner.pairs.get_mut(&pair);
            if let Some(front) = &front {
                may_begin_at_front &= front.is_held_at(now)
                    && *priority.get_or_insert(front.place.priority) == front.place.priority;
            } else {
                may_begin_at_front = false;
            }
            let place = front.map(|front| {
                front.under_way.insert(number, None);
                front.place
            });
            placed.push((pair, place));
        }
        let priority = priority.map(|Reverse(it)| it).filter(|_| may_begin_at_front);
        let (last, is_filled) = (None, false);
        Look { fronts: self, number, begun_at: now, pairs: placed, priority, last, is_filled }
    }

    /// Jobs that are claimable since a commit: no front is beyond any of them.
    pub(super) fn are_claimable<'j>(&self, jobs: impl Iterator<Item = &'j Job>) {
        let mut inner = self.inner();
        if inner.pairs.is_empty() {
            return;
        }
        for job in jobs {
            let place = Place::of(job);
            let pair = (Name::clone(&job.queue), Name::clone(&job.task));
            if let Some(front) = inner.pairs.get_mut(&pair) {
                front.move_back(place);
            }
        }
    }
}

impl Front {
    fn new(place: Place, looked_at: TimeMs) -> Self {
        Self { place, looked_at, look_took: 0, under_way: HashMap::new() }
    }

    fn is_held_at(&self, now: TimeMs) -> bool {
        let pause = (self.look_took * SHARE).min(LOOK_MS_MAX);
        self.look_took >= SLOW_MS && now - self.looked_at < pause
    }

    /// Moves it back to a place with claimable jobs, which no claim under way has seen for sure.
    fn move_back(&mut self, place: Place) {
        self.place = self.place.min(place);
        for first in self.under_way.values_mut() {
            *first = Some(first.map_or(place, |first| first.min(place)));
        }
    }
}

impl Look<'_> {
    /// Takes note of the last job that was loaded, in the order of claims, and whether more of them
    /// may stand behind it.
    pub(super) fn found(&mut self, last: Option<&Job>, is_filled: bool) {
        (self.last, self.is_filled) = (last.map(Place::of), is_filled);
    }

    /// Takes note of how long it took to look from the start.
    pub(super) fn is_taken(&self) {
        if self.priority.is_some() {
            return;
        }
        let now = self.fronts.clock.now();
        let mut inner = self.fronts.inner();
        for (pair, _) in &self.pairs {
            if let Some(front) = inner.pairs.get_mut(pair) {
                front.looked_at = now;
                front.look_took = now - self.begun_at;
            }
        }
    }

    /// The claim is committed: what was loaded stands behind the fronts. Of that, what is claimable
    /// still is told after this.
    pub(super) fn commit(self) {
        let Some(behind) = self.last.map(Place::behind) else { return };
        let may_leave_some = self.priority.is_none() && self.is_filled;
        let mut inner = self.fronts.inner();
        if inner.pairs.len() >= PAIRS_MAX {
            inner.pairs.clear();
        }
        for (pair, begun_before) in &self.pairs {
            let Some(front) = inner.pairs.get_mut(pair) else {
                if inner.pairs.len() < PAIRS_MAX {
                    inner.pairs.insert(pair.clone(), Front::new(behind, self.begun_at));
                }
                continue;
            };
            // It did not come as far as the front stood: jobs of others are left before that.
            if may_leave_some && begun_before.is_some_and(|place| behind < place) {
                front.move_back(behind);
                continue;
            }
            // One that was moved back meanwhile, or made anew, is not this claim's to move.
            let meanwhile = front.under_way.get(&self.number);
            if meanwhile.is_some_and(|first| first.is_none_or(|first| behind <= first)) {
                front.place = front.place.max(behind);
            }
        }
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        let mut inner = self.fronts.inner();
        for (pair, _) in &self.pairs {
            if let Some(front) = inner.pairs.get_mut(pair) {
                front.under_way.remove(&self.number);
            }
        }
    }
}
