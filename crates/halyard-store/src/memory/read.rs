//! Answers that change nothing.

use std::collections::{BTreeMap, BTreeSet};

use halyard_core::id::JobId;
use halyard_core::job::{Job, JobSummary, Name, State};
use halyard_core::{TimeMs, limits};

use crate::access::AuditPage;
use crate::session::{Row, Tables};
use crate::verbs::{Counts, Filter, JobDetail, Minute, Page, QueueStatus, Stats, TaskStatus};

impl Tables {
    pub(crate) fn get(&self, id: JobId) -> Option<JobDetail> {
        let row = self.jobs.get(&id)?;
        let mut attempts = row.attempts.clone();
        attempts.extend(row.newest_of_its_own());
        assert_eq!(attempts.len(), row.job.starts as usize, "{id}: a start without a record");
        attempts.reverse();
        attempts.truncate(limits::ATTEMPTS_SHOWN_MAX);
        Some(JobDetail {
            view: row.view(),
            checkpoints: row.checkpoints.clone(),
            attempts,
            attempts_total: u64::from(row.job.starts),
        })
    }

    pub(crate) fn states(&self, ids: &[JobId]) -> Vec<(JobId, State, u32)> {
        let known = ids.iter().filter_map(|id| self.jobs.get(id));
        known.map(|row| (row.job.id, row.job.state, row.job.life)).collect()
    }

    pub(crate) fn list(&self, filter: &Filter) -> Page {
        let mut rows: Vec<&Row> = self.jobs.values().filter(|row| is_listed(row, filter)).collect();
        rows.sort_by_key(|row| if filter.ascending { row.job.seq } else { -row.job.seq });
        let more = rows.len() > filter.limit;
        rows.truncate(filter.limit);
        Page {
            next: rows.last().filter(|_| more).map(|row| row.job.seq),
            jobs: rows.into_iter().map(summary).collect(),
            partial: false,
        }
    }

    pub(crate) fn audit(&self, before: Option<i64>, limit: usize) -> AuditPage {
        let numbered = (self.audit.first..).zip(&self.audit.entries);
        let mut older: Vec<_> =
            numbered.filter(|(place, _)| before.is_none_or(|before| *place < before)).collect();
        older.reverse();
        let more = older.len() > limit;
        older.truncate(limit);
        AuditPage {
            next: older.last().filter(|_| more).map(|(place, _)| *place),
            entries: older.into_iter().map(|(_, entry)| entry.clone()).collect(),
        }
    }

    pub(crate) fn queues(&self) -> Vec<QueueStatus> {
        let mut names: BTreeSet<Name> = self.queues.keys().cloned().collect();
        names.extend(self.jobs.values().map(|row| row.job.queue.clone()));
        names.iter().filter_map(|name| self.queue(name)).collect()
    }

    pub(crate) fn queue(&self, name: &str) -> Option<QueueStatus> {
        let jobs: Vec<&Job> = self.jobs().filter(|job| *job.queue == *name).collect();
        if jobs.is_empty() && !self.queues.contains_key(name) {
            return None;
        }
        let queued = jobs.iter().filter(|job| job.state == State::Queued);
        Some(QueueStatus {
            name: name.into(),
            paused: self.is_paused(name),
            oldest_queued_at: queued.map(|job| job.run_at).min(),
            counts: count(jobs.into_iter()),
        })
    }

    pub(crate) fn tasks(&self) -> Vec<TaskStatus> {
        let names: BTreeSet<Name> = self.jobs().map(|job| job.task.clone()).collect();
        let status = |name: Name| {
            let its = |job: &&Job| job.task == name;
            let queues: BTreeSet<Name> =
                self.jobs().filter(its).map(|job| job.queue.clone()).collect();
            TaskStatus {
                queues: queues.into_iter().collect(),
                counts: count(self.jobs().filter(its)),
                name,
            }
        };
        names.into_iter().map(status).collect()
    }

    pub(crate) fn running_by_worker(&self) -> Vec<(Name, u64)> {
        let mut held: BTreeMap<Name, u64> = BTreeMap::new();
        for start in self.jobs().filter_map(Job::running) {
            *held.entry(start.worker.clone()).or_default() += 1;
        }
        held.into_iter().collect()
    }

    pub(crate) fn stats(&self, now: TimeMs) -> Stats {
        let recent = |minute: &&Minute| minute.at + limits::DAY > now;
        Stats {
            counts: count(self.jobs()),
            totals: self.totals,
            minutes: self.minutes.values().filter(recent).copied().collect(),
        }
    }

    pub(crate) fn ready_queues(&self) -> Vec<Name> {
        let ready = self.jobs().filter(|job| job.state == State::Queued);
        let names: BTreeSet<Name> = ready.map(|job| job.queue.clone()).collect();
        names.into_iter().filter(|name| !self.is_paused(name)).collect()
    }

    fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.values().map(|row| &row.job)
    }
}

fn is_listed(row: &Row, filter: &Filter) -> bool {
    let Row { job, details, .. } = row;
    let is_past = |seq| if filter.ascending { job.seq > seq } else { job.seq < seq };
    (filter.states.is_empty() || filter.states.contains(&job.state))
        && filter.queue.as_ref().is_none_or(|queue| job.queue == *queue)
        && filter.task.as_ref().is_none_or(|task| job.task == *task)
        && filter.tag.as_ref().is_none_or(|tag| details.tags.contains(tag))
        && filter.created_from.is_none_or(|from| job.created_at >= from)
        && filter.created_before.is_none_or(|before| job.created_at < before)
        && filter.after.is_none_or(is_past)
        && filter
            .key
            .as_ref()
            .is_none_or(|key| job.holds_key && details.idempotency_key.as_ref() == Some(key))
}

fn summary(row: &Row) -> JobSummary {
    JobSummary { job: row.job.clone(), details: row.details.clone(), error: row.error() }
}

fn count<'a>(jobs: impl Iterator<Item = &'a Job>) -> Counts {
    let mut counts = Counts::default();
    for job in jobs {
        if let Some(count) = counts.get_mut(usize::from(job.state.number())) {
            *count += 1;
        }
    }
    counts
}
