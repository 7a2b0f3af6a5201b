//! How far the claims of this server have come in the index of claimable jobs.
//!
//! Beside an old snapshot the index keeps the entries of jobs that were claimed long ago, and a
//! claim that begins at its start steps over them all. Where that takes [`SLOW_MS`], claims begin
//! where the one before them ended, and at the start only now and then. What this server makes
//! claimable behind the front moves it back; what others make there waits for the next look from
//! the start, [`LOOK_MS_MAX`] at most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::job::{Job, Name};
use halyard_core::{DurationMs, TimeMs};

use crate::clock::Clock;

/// A look from the start that takes less is simply taken.
const SLOW_MS: DurationMs = 10;
/// Slow ones take one part in so many of the time.
const SHARE: DurationMs = 20;
/// The longest time between two of them.
const LOOK_MS_MAX: DurationMs = 1_000;
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
    /// The last place that was loaded of each pair.
    last: BTreeMap<Pair, Place>,
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
        let last = BTreeMap::new();
        Look { fronts: self, number, begun_at: now, pairs: placed, priority, last }
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
            let Some(front) = inner.pairs.get_mut(&pair) else { continue };
            front.place = front.place.min(place);
            for first in front.under_way.values_mut() {
                *first = Some(first.map_or(place, |first| first.min(place)));
            }
        }
    }
}

impl Front {
    fn is_held_at(&self, now: TimeMs) -> bool {
        let pause = (self.look_took * SHARE).min(LOOK_MS_MAX);
        self.look_took >= SLOW_MS && now - self.looked_at < pause
    }
}

impl Look<'_> {
    /// Takes note of jobs that were loaded, in the order of claims.
    pub(super) fn found<'j>(&mut self, jobs: impl Iterator<Item = &'j Job>) {
        for job in jobs {
            let pair = (Name::clone(&job.queue), Name::clone(&job.task));
            self.last.insert(pair, Place::of(job));
        }
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
        let mut inner = self.fronts.inner();
        if inner.pairs.len() > PAIRS_MAX {
            inner.pairs.clear();
        }
        for (pair, last) in &self.last {
            let behind = last.behind();
            match inner.pairs.get_mut(pair) {
                // One that was moved back meanwhile, or made anew, is not this claim's to move.
                Some(front) => {
                    let meanwhile = front.under_way.get(&self.number);
                    if meanwhile.is_some_and(|first| first.is_none_or(|first| behind <= first)) {
                        front.place = front.place.max(behind);
                    }
                }
                None => {
                    let (looked_at, look_took) = (self.begun_at, 0);
                    let under_way = HashMap::new();
                    let front = Front { place: behind, looked_at, look_took, under_way };
                    inner.pairs.insert(pair.clone(), front);
                }
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
