//! Finish: what workers report of their starts, each judged by itself.

use halyard_core::chance::Seed;
use halyard_core::outcome::{self, Finish};
use halyard_core::planted::{Bug, planted};

use super::rows::Guard;
use super::transaction::Tx;
use super::writer::Ran;
use crate::verbs::Outcome;

pub(super) fn finish(tx: &mut Tx<'_>, outcomes: &[Outcome], seed: Seed) -> Ran<Vec<Finish>> {
    (0..).zip(outcomes).map(|(index, outcome)| finish_one(tx, outcome, seed, index)).collect()
}

fn finish_one(tx: &mut Tx<'_>, outcome: &Outcome, seed: Seed, index: u64) -> Ran<Finish> {
    let Some(id) = outcome.id else { return Ok(Finish::NotFound) };
    let Some(mut job) = tx.settled(id, seed)? else { return Ok(Finish::NotFound) };
    let before = Guard::of(&job);
    let live = job.running().is_some_and(|start| {
        Some(start.marks.token) == outcome.token || planted(Bug::TokenUncheckedInFinish)
    });
    if !live {
        let past = tx.start_of_token(&job, outcome.token)?;
        let finish = outcome::judge_repeat(job.state, past.as_ref(), &outcome.report);
        if !matches!(finish, Finish::Ok { .. }) {
            tx.count_rejected(job.id);
        }
        return Ok(finish);
    }
    let unit = seed.unit(index);
    let (finish, ended) = outcome::report(&mut job, outcome.report.clone(), tx.now, unit);
    if !matches!(finish, Finish::Ok { .. }) {
        return Ok(finish);
    }
    if let Some(attempt) = &ended.attempt {
        tx.record(job.seq, attempt)?;
    }
    if let Some(result) = &ended.result {
        tx.sql.result_save.execute((job.seq, result.as_str()))?;
    }
    tx.save(&job, before)?;
    Ok(finish)
}
