//! What can be wrong with a job, and what to do about each.

use halyard_core::id::JobId;

use super::Finding;

/// Jobs that a finding names.
const NAMED_MAX: usize = 3;

/// Jobs with the same fault: how many, and the first few.
#[derive(Default)]
pub(super) struct Found {
    pub(super) count: u64,
    ids: Vec<JobId>,
}

impl Found {
    pub(super) fn add(&mut self, id: JobId) {
        self.count += 1;
        if self.ids.len() < NAMED_MAX {
            self.ids.push(id);
        }
    }

    /// Such as `2 jobs (job_…, job_…)`.
    pub(super) fn shown(&self) -> String {
        let named: Vec<String> = self.ids.iter().map(ToString::to_string).collect();
        let more = if self.count as usize > named.len() { ", …" } else { "" };
        let jobs = if self.count == 1 { "job" } else { "jobs" };
        format!("{} {jobs} ({}{more})", self.count, named.join(", "))
    }
}

/// What a word of `jobs.sql` means.
pub(super) struct Fault {
    /// Whether it is one only while a server, which would act on it, is there.
    served: bool,
    message: &'static str,
    advice: &'static str,
}

impl Fault {
    pub(super) fn finding(&self, found: &Found, served: bool) -> Finding {
        let message = format!("{} {}", found.shown(), self.message);
        if self.served && !served {
            return Finding::ok("jobs", format!("{message}; the next server acts on that at once"));
        }
        Finding::error("jobs", message, self.advice)
    }
}

const RESTART: &str = "the server does not do its rounds: look at its log, and restart it";

/// In the order in which they are shown.
pub(super) const FAULTS: [(&str, Fault); 6] = [
    (
        "start",
        Fault {
            served: false,
            message: "with a broken start: no lease, or one without an end",
            advice: "somebody changed the rows; restore a backup, or set them to `queued` (state \
                     1, all columns of the start null) while the server is stopped, and repair \
                     the counters",
        },
    ),
    (
        "lease",
        Fault {
            served: false,
            message: "with a lease that ends later than any lease may",
            advice: "restart the server: it gives such leases an end, and the jobs run again",
        },
    ),
    (
        "never",
        Fault {
            served: false,
            message: "due later than anything may be scheduled for",
            advice: "make them due with `halyard jobs run-now`, or cancel them",
        },
    ),
    (
        "unsound",
        Fault {
            served: false,
            message: "whose numbers contradict each other",
            advice: "a server stops rather than to write such a job; restore a backup, or delete \
                     them with `halyard jobs delete`",
        },
    ),
    (
        "lapsed",
        Fault { served: true, message: "whose lease ended over a minute ago", advice: RESTART },
    ),
    (
        "overdue",
        Fault {
            served: true,
            message: "due for over a minute and not made claimable",
            advice: RESTART,
        },
    ),
];
