//! Claim: leases for jobs in the order of priority, due time and creation, over all named queues
//! as one list.

use std::cmp::Reverse;
use std::rc::Rc;

use halyard_core::job::{JobView, Name};
use halyard_core::lease::{self, Terms};
use halyard_core::limits;
use halyard_core::planted::{Bug, planted};
use rusqlite::types::Value;
use rusqlite::vtab::array::Array;

use super::planted;
use super::rows::{self, Columns, Guard};
use super::transaction::Tx;
use super::writer::Ran;
use crate::verbs::{Claim, Claimed, Claims, answer_bytes};

pub(super) fn claim(tx: &mut Tx<'_>, claim: &Claim) -> Ran<Claims> {
    let mut jobs = claimed_before(tx, claim)?;
    if jobs.is_empty() {
        jobs = claim_anew(tx, claim)?;
    }
    if planted(Bug::ClaimLeasesMore) {
        jobs.truncate(claim.max);
    }
    Ok(Claims { now: tx.now, jobs })
}

/// The live leases of a claim that is sent again.
fn claimed_before(tx: &mut Tx<'_>, claim: &Claim) -> Ran<Vec<Claimed>> {
    let Some(mark) = claim.mark.filter(|_| claim.repeat) else { return Ok(Vec::new()) };
    let seq = |row: &rusqlite::Row<'_>| row.get(0);
    let seqs = tx.sql.claimed.query_map((tx.now, mark), seq)?.collect::<Ran<Vec<_>>>()?;
    show(tx, seqs, u64::MAX)
}

fn claim_anew(tx: &mut Tx<'_>, claim: &Claim) -> Ran<Vec<Claimed>> {
    let terms = Terms { worker: claim.worker.clone(), claim: claim.mark, lease_ms: claim.lease_ms };
    let next = ready(tx, claim)?;
    let mut jobs = show(tx, next, limits::CLAIM_ANSWER_BYTES_MAX as u64)?;
    for (index, claimed) in (0..).zip(&mut jobs) {
        let job = &mut claimed.view.job;
        let before = Guard::of(job);
        let now = if planted(Bug::LeaseFromStaleTime) { tx.stamp } else { tx.now };
        lease::claim(job, &terms, planted::seed(claim.seed).start_marks(index, tx.now), now);
        tx.save(job, before)?;
    }
    Ok(jobs)
}

/// Which jobs are next. Tasks without claimable jobs cost nothing, whatever else they have.
fn ready(tx: &mut Tx<'_>, claim: &Claim) -> Ran<Vec<i64>> {
    let limit = rows::limit(claim.max + usize::from(planted(Bug::ClaimLeasesMore)));
    let mut lists = Vec::new();
    let mut queues: Vec<_> = claim.queues.iter().filter(|queue| claimable(tx, queue)).collect();
    queues.sort();
    queues.dedup();
    for queue in queues {
        let mut tasks = tx.counters.ready(queue, claim.tasks.as_deref());
        tasks.sort();
        tasks.dedup();
        for task in tasks {
            let place = |row: &rusqlite::Row<'_>| {
                let mut next = Columns::of(row);
                let seq: i64 = next.next()?;
                let priority: i32 = next.next()?;
                let heeded = !planted(Bug::ClaimIgnoresPriority);
                Ok((Reverse(if heeded { priority } else { 0 }), next.next::<i64>()?, seq))
            };
            let places = tx.sql.ready.query_map((&**queue, &*task, limit), place)?;
            lists.push(places.collect::<Ran<Vec<_>>>()?);
        }
    }
    let mut places = lists.pop().unwrap_or_default();
    if !lists.is_empty() {
        places.extend(lists.into_iter().flatten());
        places.sort_unstable();
        places.truncate(claim.max);
    }
    Ok(places.into_iter().map(|(_, _, seq)| seq).collect())
}

fn claimable(tx: &Tx<'_>, queue: &Name) -> bool {
    !tx.is_paused(queue) || planted(Bug::PausedQueueClaimed)
}

/// Jobs as an answer shows them: the first of `seqs` that have at most `bytes_max` together, and
/// at least one.
fn show(tx: &mut Tx<'_>, seqs: Vec<i64>, bytes_max: u64) -> Ran<Vec<Claimed>> {
    let mut shown = Vec::with_capacity(seqs.len());
    let seqs: Array = Rc::new(seqs.into_iter().map(Value::from).collect());
    let mut found = tx.sql.jobs_and_bodies.query([seqs])?;
    let mut bytes = 0;
    while let Some(row) = found.next()? {
        let job = rows::job(row)?;
        let (details, payload) = rows::body(row, rows::JOB_COLUMNS)?;
        bytes += answer_bytes(&job, &payload, None);
        if bytes > bytes_max && !shown.is_empty() {
            break;
        }
        let view = JobView { job, details, payload, result: None, error: None };
        shown.push(Claimed { view, checkpoints: Vec::new() });
    }
    drop(found);
    let (mut bytes, mut fit) = (0, 0);
    for Claimed { view, checkpoints } in &mut shown {
        view.error = tx.error(&view.job)?;
        bytes += answer_bytes(&view.job, &view.payload, view.error.as_ref());
        if bytes > bytes_max && fit > 0 {
            break;
        }
        *checkpoints = tx.checkpoints(&view.job)?;
        fit += 1;
    }
    shown.truncate(fit);
    Ok(shown)
}
