//! When to renew the leases: one heartbeat for all of them, one at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use halyard_api::jobs::heartbeat::{HeartbeatResult, HeldLease};

use crate::retry;

use super::held::Held;
use super::streak::Streak;
use super::{LEASES_MAX, Slot, Trouble};

/// A lease is renewed when a third of it has passed, so that two heartbeats may fail.
const LEASE_PARTS: u32 = 3;
/// No later than this, so that a cancelled job hears of it soon.
const INTERVAL_MAX: Duration = Duration::from_secs(10);
/// The pause after a heartbeat that was refused.
const PAUSE_REFUSED: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Beating {
    pub(super) interval: Duration,
    /// When the worker began, before everything else.
    began: Instant,
    /// The starts in the heartbeat under way.
    under_way: Option<Vec<Slot>>,
    streak: Streak,
    not_before: Option<Instant>,
    /// Whether a heartbeat was sent that says that the worker ends.
    draining_told: bool,
}

impl Beating {
    pub(super) fn new(lease: Duration, now: Instant) -> Self {
        Self {
            interval: (lease / LEASE_PARTS).min(INTERVAL_MAX),
            began: now,
            under_way: None,
            streak: Streak::default(),
            not_before: None,
            draining_told: false,
        }
    }

    /// The leases to renew now, if it is time.
    pub(super) fn next(
        &mut self,
        now: Instant,
        held: &BTreeMap<Slot, Held>,
        draining: bool,
    ) -> Option<Vec<HeldLease>> {
        if self.due(held, draining).is_none_or(|due| now < due) {
            return None;
        }
        // Those that are due soon go along; jobs that have just begun do not need it.
        let soon = now + self.interval / 2;
        let is_due = |held: &Held| held.renew_at(self.interval).is_some_and(|at| at <= soon);
        let (slots, leases) = held
            .iter()
            .filter(|(_, held)| is_due(held))
            .take(LEASES_MAX)
            .map(|(slot, held)| {
                (*slot, HeldLease { id: held.id.clone(), token: held.token.clone() })
            })
            .unzip();
        self.under_way = Some(slots);
        self.not_before = None;
        self.draining_told |= draining;
        Some(leases)
    }

    /// When the next heartbeat is due; `None` while one is under way, or when none is needed.
    fn due(&self, held: &BTreeMap<Slot, Held>, draining: bool) -> Option<Instant> {
        if self.under_way.is_some() {
            return None;
        }
        let due = if draining && !self.draining_told {
            Some(self.began)
        } else {
            held.values().filter_map(|held| held.renew_at(self.interval)).min()
        };
        due.map(|due| self.not_before.map_or(due, |at| due.max(at)))
    }

    /// Takes in the answer to the heartbeat, and says which start each result is about.
    pub(super) fn answered(
        &mut self,
        results: Vec<HeartbeatResult>,
    ) -> Vec<(Slot, HeartbeatResult)> {
        self.streak.answered();
        let slots = self.under_way.take().unwrap_or_default();
        slots.into_iter().zip(results).collect()
    }

    /// Takes in a failure; says whether to tell of it.
    pub(super) fn failed(&mut self, now: Instant, trouble: &Trouble, chance: f64) -> bool {
        self.under_way = None;
        let tell = self.streak.failed(trouble);
        let pause = retry::pause(self.streak.failures(), trouble.retry_after, chance);
        let pause = if trouble.temporary { pause } else { pause.max(PAUSE_REFUSED) };
        self.not_before = Some(now + pause.min(self.interval));
        tell
    }

    /// Whether the server was told that the worker ends, as far as one try tells it.
    pub(super) fn has_told(&self) -> bool {
        self.draining_told && self.under_way.is_none()
    }

    pub(super) fn wake_at(&self, held: &BTreeMap<Slot, Held>, draining: bool) -> Option<Instant> {
        self.due(held, draining)
    }
}
