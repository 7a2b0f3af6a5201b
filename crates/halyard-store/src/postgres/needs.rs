//! What calls need to have loaded before they run.

use std::collections::{BTreeMap, BTreeSet};

use halyard_core::admission::NewJob;
use halyard_core::id::{JobId, Token};
use halyard_core::job::{ClaimMark, Name};

use crate::verbs::{Claim, Invitation, RequestKey};

/// What the calls of one transaction need.
#[derive(Default)]
pub(super) struct Needs {
    /// How many jobs may be made.
    pub(super) numbers: usize,
    /// Remembered requests, by scope and value.
    pub(super) requests: BTreeSet<(String, String)>,
    /// Keys, by task and key, with the jobs that hold them.
    pub(super) keys: BTreeSet<(Name, Name)>,
    /// Ids that new jobs bring along. They are looked up only after one of them was refused.
    pub(super) made_ids: BTreeSet<JobId>,
    /// Jobs with all that is known of them, and their keys.
    pub(super) whole: BTreeSet<JobId>,
    /// Jobs for workers: the row, and the starts that these tokens belong to.
    pub(super) rows: BTreeMap<JobId, Vec<Token>>,
    /// Jobs for heartbeats and stamps: the row, unless somebody else holds it.
    pub(super) free: BTreeSet<JobId>,
    /// Checkpoints by job and name.
    pub(super) checkpoints: BTreeSet<(JobId, Name)>,
    /// The tombstones that these jobs left.
    pub(super) graves: BTreeSet<JobId>,
    /// Claimable jobs.
    pub(super) ready: Option<Ready>,
    /// Where a claim may be given them before they are committed.
    pub(super) invitation: Option<Invitation>,
    /// The leases that these claims gave.
    pub(super) marks: BTreeSet<ClaimMark>,
    /// So many due jobs.
    pub(super) due: usize,
    /// So many lapsed starts.
    pub(super) lapsed: usize,
    /// Which queues are paused.
    pub(super) queues: bool,
    /// Who may call.
    pub(super) access: bool,
    /// What was counted in memory.
    pub(super) tally: bool,
}

/// Which claimable jobs, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) queues: Vec<Name>,
    pub(super) tasks: Option<Vec<Name>>,
    pub(super) max: usize,
    /// How many claims share them.
    pub(super) claims: usize,
}

impl Needs {
    pub(super) fn request(&mut self, request: Option<&RequestKey>) {
        self.requests.extend(request.map(|it| (it.scope.clone(), it.value.clone())));
    }

    pub(super) fn create(&mut self, job: &NewJob) {
        self.numbers += 1;
        self.made_ids.insert(job.id);
        let key = job.details.idempotency_key.as_ref();
        self.keys.extend(key.map(|key| (job.task.clone(), key.clone())));
    }

    pub(super) fn start(&mut self, id: Option<JobId>, token: Option<Token>) {
        if let Some(id) = id {
            self.rows.entry(id).or_default().extend(token);
        }
    }

    /// Claims that share a transaction want the same:
    /// [`Call::wants`](super::call::Call::wants).
    pub(super) fn claim(&mut self, claim: &Claim) {
        self.queues = true;
        self.invitation = claim.invitation;
        self.marks.extend(claim.mark.filter(|_| claim.repeat));
        match &mut self.ready {
            Some(ready) => {
                ready.max += claim.max;
                ready.claims += 1;
            }
            None => self.ready = Some(wants(claim)),
        }
    }
}

/// What a claim may take, and how much of it.
pub(super) fn wants(claim: &Claim) -> Ready {
    let sorted = |names: &[Name]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names.dedup();
        names
    };
    Ready {
        queues: sorted(&claim.queues),
        tasks: claim.tasks.as_deref().map(sorted),
        max: claim.max,
        claims: 1,
    }
}
