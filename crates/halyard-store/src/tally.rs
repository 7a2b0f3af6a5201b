//! Answers that wrote nothing, counted in memory and added by a stamp.

use std::collections::HashMap;

use halyard_core::id::JobId;

use crate::verbs::Totals;

/// What was counted since the stamp before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Replays and rejections, by job.
    pub(crate) jobs: HashMap<JobId, (u64, u64)>,
    pub(crate) totals: Totals,
}

impl Tally {
    /// Adds what was counted beside it.
    pub(crate) fn add(&mut self, other: Self) {
        self.totals.add_gathered(&other.totals);
        for (id, counts) in other.jobs {
            self.add_of_job(id, counts);
        }
    }

    /// A create was answered with a known job.
    pub(crate) fn add_replay(&mut self, id: JobId) {
        self.totals.replayed += 1;
        self.add_of_job(id, (1, 0));
    }

    /// A call with a dead token was turned away.
    pub(crate) fn add_rejection(&mut self, id: JobId) {
        self.totals.reports_rejected += 1;
        self.add_of_job(id, (0, 1));
    }

    /// Adds replays and rejections of one job.
    pub(crate) fn add_of_job(&mut self, id: JobId, (replays, rejected): (u64, u64)) {
        let counts = self.jobs.entry(id).or_default();
        counts.0 += replays;
        counts.1 += rejected;
    }
}

impl Totals {
    /// Adds what a tally holds.
    pub(crate) fn add_gathered(&mut self, gathered: &Self) {
        self.replayed += gathered.replayed;
        self.keys_refused += gathered.keys_refused;
        self.reports_rejected += gathered.reports_rejected;
    }
}
