//! Loading jobs that are wanted only if nobody else holds them.
//!
//! A handler may hold its job's row for as long as its own transaction takes. Neither the other
//! leases of its worker nor the stamp that keeps all leases may wait for that.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use halyard_core::id::JobId;
use halyard_core::job::Job;

use super::Ran;
use super::load::Loading;
use super::loaded::uuids;
use super::needs::Needs;
use super::rows;
use crate::clock::pause;

/// Between one look and the next. A lane of our own holds a row for one commit; who still does
/// after the last look is a stranger.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(5), Duration::from_millis(50), Duration::from_millis(200)];

impl Loading<'_, '_> {
    /// Locks those that are free, and reads the others as they are.
    pub(super) async fn free_jobs(&mut self, needs: &Needs) -> Ran<()> {
        let is_new = |id: &&JobId| !self.tables.jobs.contains_key(id);
        let mut wanted: BTreeSet<JobId> = needs.free.iter().filter(is_new).copied().collect();
        let mut pauses = PAUSES.into_iter();
        while !wanted.is_empty() {
            let free = self.hands.query(&self.hands.sql.jobs_free, &[&uuids(&wanted)]).await?;
            for id in self.take(&free, 0)? {
                wanted.remove(&id);
            }
            let held = self.held_jobs(&wanted).await?;
            let Some(next_look) = pauses.next().filter(|_| !held.is_empty()) else {
                self.tables.held = held;
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
