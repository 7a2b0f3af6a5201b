//! Loading jobs that are wanted only if nobody else holds them.
//!
//! A handler may hold its job's row for as long as its own transaction takes. Neither the other
//! leases of its worker nor the stamp that keeps all leases may wait for that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halyard_core::id::JobId;
use halyard_core::job::Job;

use super::Ran;
use super::load::Loading;
use super::loaded::uuids;
use super::rows;
use crate::clock::pause;

/// Between one look and the next. A lane of our own holds a row for one commit; who still does
/// after the last look is a stranger.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(5), Duration::from_millis(50), Duration::from_millis(200)];
/// Of more strangers' jobs than this, all are forgotten and found out anew.
const STRANGERS_MAX: usize = 10_000;

/// Whether a look that meets held jobs is followed by others. Whoever looks holds what was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It is not: there will be a next time.
    None,
    /// It is, for jobs that no stranger held the last time.
    New,
    /// It is: this time counts.
    Full,
}

/// Jobs that strangers held when they were last looked for.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<BTreeSet<JobId>>);

impl Strangers {
    fn jobs(&self) -> MutexGuard<'_, BTreeSet<JobId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn are_all(&self, held: &BTreeMap<JobId, Job>) -> bool {
        let known = self.jobs();
        held.keys().all(|id| known.contains(id))
    }

    #[cfg(test)]
    pub(super) fn knows(&self, id: JobId) -> bool {
        self.jobs().contains(&id)
    }

    /// Those of `wanted` that are held still after all looks.
    fn learn(&self, wanted: &BTreeSet<JobId>, held: &BTreeMap<JobId, Job>) {
        let mut known = self.jobs();
        if known.is_empty() && held.is_empty() {
            return;
        }
        known.retain(|id| !wanted.contains(id));
        // Nobody may have asked for some of them again.
        if known.len() > STRANGERS_MAX {
            known.clear();
        }
        known.extend(held.keys());
    }
}

impl Loading<'_, '_> {
    /// Locks those that are free, and reads the others as they are.
    pub(super) async fn free_jobs(
        &mut self,
        mut ids: BTreeSet<JobId>,
        patience: Patience,
    ) -> Ran<()> {
        ids.retain(|id| !self.tables.jobs.contains_key(id) && !self.tables.held.contains_key(id));
        let mut wanted = ids.clone();
        let mut pauses = PAUSES.into_iter();
        while !wanted.is_empty() {
            let free = self.hands.query(&self.hands.sql.jobs_free, &[&uuids(&wanted)]).await?;
            for id in self.take(&free, 0)? {
                wanted.remove(&id);
            }
            let mut held = self.held_jobs(&wanted).await?;
            let is_enough = match patience {
                Patience::None => true,
                Patience::New => self.strangers.are_all(&held),
                Patience::Full => held.is_empty(),
            };
            let Some(next_look) = pauses.next().filter(|_| !is_enough) else {
                if patience != Patience::None {
                    self.strangers.learn(&ids, &held);
                }
                self.tables.held.append(&mut held);
                return Ok(());
            };
            pause(next_look).await;
            wanted = held.into_keys().collect();
        }
        Ok(())
    }

    async fn held_jobs(&self, ids: &BTreeSet<JobId>) -> Ran<BTreeMap<JobId, Job>> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let seen = self.hands.query(&self.hands.sql.jobs_seen, &[&uuids(ids)]).await?;
        let jobs = seen.iter().map(|row| rows::job(row, 0));
        jobs.map(|job| job.map(|job| (job.id, job))).collect()
    }
}
