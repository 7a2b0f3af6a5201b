//! Claim: leases for jobs in the order of priority, due time and creation, over all named queues
//! as one list.

use std::cmp::Reverse;

use halyard_core::job::Name;
use halyard_core::lease::{self, Terms};
use halyard_core::limits;
use halyard_core::planted::{Bug, planted};

use super::planted;
use super::rows::{self, Columns, Guard};
use super::transaction::Tx;
use super::writer::Ran;
use crate::verbs::{Claim, Claimed, Claims};

pub(super) fn claim(tx: &mut Tx<'_>, claim: &Claim) -> Ran<Claims> {
    let mut answer = Claims { now: tx.now, jobs: Vec::new() };
    if let Some(mark) = claim.mark.filter(|_| claim.repeat) {
        let seq = |row: &rusqlite::Row<'_>| row.get(0);
        let seqs: Vec<i64> = tx.sql.claimed.query_map((tx.now, mark), seq)?.collect::<Ran<_>>()?;
        for seq in seqs {
            answer.jobs.push(show(tx, seq)?);
        }
        if !answer.jobs.is_empty() {
            return Ok(answer);
        }
    }
    let terms = Terms { worker: claim.worker.clone(), claim: claim.mark, lease_ms: claim.lease_ms };
    let mut bytes = 0;
    let next = ready(tx, claim)?;
    answer.jobs.reserve(next.len());
    for (index, seq) in (0..).zip(next) {
        let mut claimed = show(tx, seq)?;
        let before = Guard::of(&claimed.view.job);
        bytes += size(&claimed);
        if bytes > limits::CLAIM_ANSWER_BYTES_MAX && !answer.jobs.is_empty() {
            break;
        }
        let job = &mut claimed.view.job;
        let now = if planted(Bug::LeaseFromStaleTime) { tx.stamp } else { tx.now };
        lease::claim(job, &terms, planted::seed(claim.seed).start_marks(index, tx.now), now);
        tx.save(job, before)?;
        answer.jobs.push(claimed);
    }
    if planted(Bug::ClaimLeasesMore) {
        answer.jobs.truncate(claim.max);
    }
    Ok(answer)
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

fn show(tx: &mut Tx<'_>, seq: i64) -> Ran<Claimed> {
    let (job, details, payload) = tx.job_and_body(seq)?;
    let checkpoints = tx.checkpoints(&job)?;
    Ok(Claimed { view: tx.view_with(job, details, payload)?, checkpoints })
}

fn size(claimed: &Claimed) -> usize {
    let values = claimed.checkpoints.iter().map(|checkpoint| checkpoint.value.len()).sum::<usize>();
    claimed.view.payload.len() + values
}
