//! The night watch: stamp, promote, reap, prune. Each does up to a limit and says how many.

use halyard_core::chance::Seed;
use halyard_core::id::JobId;
use halyard_core::job::{Job, State};
use halyard_core::key::Removal;
use halyard_core::operate;
use halyard_core::planted::{Bug, planted};
use halyard_core::retention::Retention;

use super::{Held, Session};

impl Session<'_> {
    pub(crate) fn stamp(&mut self) {
        self.tables.stamp = self.now;
        let gathered = std::mem::take(&mut self.tables.gathered);
        self.tables.totals.add_gathered(&gathered.totals);
        for (id, counts) in gathered.jobs {
            if let Some(row) = self.tables.jobs.get_mut(&id) {
                row.job.replays += counts.0;
                row.job.rejected += counts.1;
            } else if self.tables.held.contains_key(&id) {
                self.tables.gathered.add_of_job(id, counts);
            }
        }
    }

    pub(crate) fn promote(&mut self, limit: usize) -> usize {
        let due = self.first(limit, |job| match job.state {
            State::Scheduled | State::Retrying => Some(job.run_at).filter(|at| *at <= self.now),
            _ => None,
        });
        for id in &due {
            if let Some(mut row) = self.load(*id) {
                operate::enqueue(&mut row.job, self.now);
                self.put(&row);
            }
        }
        due.len()
    }

    pub(crate) fn reap(&mut self, limit: usize, seed: &Seed) -> usize {
        let lapsed = self.first(limit, |job| {
            let any = job.start.as_ref().filter(|_| planted(Bug::ReaperForgetsState));
            let start = job.running().or(any).filter(|start| start.has_lapsed(self.now))?;
            Some(start.expires_at)
        });
        for id in &lapsed {
            self.settle(*id, seed);
        }
        lapsed.len()
    }

    pub(crate) fn prune(&mut self, limit: usize, retention: &Retention) -> usize {
        let mut left = limit;
        for state in State::ENDED {
            let before = retention.ended_before(state, self.now);
            let old = self.first(left, |job| {
                job.finished_at.filter(|at| job.state == state && *at <= before)
            });
            left -= self.purge(&old);
        }
        if let Some(max) = retention.max_jobs {
            let ended = self.first(usize::MAX, |job| job.finished_at);
            let surplus = ended.len().saturating_sub(usize::try_from(max).unwrap_or(usize::MAX));
            let surplus: Vec<JobId> = ended.into_iter().take(surplus.min(left)).collect();
            left -= self.purge(&surplus);
        }
        left -= self.prune_tombstones(left);
        left -= self.prune_requests(left);
        limit - left
    }

    pub(crate) fn purge(&mut self, ids: &[JobId]) -> usize {
        for id in ids {
            if let Some(row) = self.load(*id) {
                self.remove(&row, Removal::Purged, false);
            }
        }
        ids.len()
    }

    fn prune_tombstones(&mut self, limit: usize) -> usize {
        let expired = self.tables.keys.iter().filter_map(|(place, held)| match held {
            Held::Tombstone(stone) if stone.expires_at <= self.now => {
                Some(((stone.expires_at, stone.job_id), place.clone()))
            }
            Held::Tombstone(_) | Held::Job(_) => None,
        });
        let mut expired: Vec<_> = expired.collect();
        expired.sort();
        expired.truncate(limit);
        for (_, place) in &expired {
            self.tables.keys.remove(place);
        }
        expired.len()
    }

    fn prune_requests(&mut self, limit: usize) -> usize {
        let requests = self.tables.requests.iter();
        let expired = requests.filter(|(_, request)| request.expires_at <= self.now);
        let mut expired: Vec<_> =
            expired.map(|(place, request)| (request.expires_at, place.clone())).collect();
        expired.sort();
        expired.truncate(limit);
        for (_, place) in &expired {
            self.tables.requests.remove(place);
        }
        expired.len()
    }

    /// The first `limit` jobs by the time that `when` gives, then by `seq`.
    fn first(&self, limit: usize, when: impl Fn(&Job) -> Option<i64>) -> Vec<JobId> {
        let jobs = self.tables.jobs.values().map(|row| &row.job);
        let mut found: Vec<_> =
            jobs.filter_map(|job| when(job).map(|at| (at, job.seq, job.id))).collect();
        found.sort_unstable();
        found.into_iter().take(limit).map(|(_, _, id)| id).collect()
    }
}
