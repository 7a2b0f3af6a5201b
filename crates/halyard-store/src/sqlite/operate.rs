//! Retry, cancel, run now, delete: one job by hand, or many.

use halyard_core::chance::Seed;
use halyard_core::id::JobId;
use halyard_core::job::{Job, State};
use halyard_core::key::Removal;
use halyard_core::operate::{self, Refusal, Retried, Retry};

use super::access::note;
use super::rows::{self, Guard};
use super::transaction::Tx;
use super::writer::Ran;
use super::{keys, requests};
use crate::access::{Action, By, Deed};
use crate::verbs::{Acted, Bulk, BulkAction, Keyed, RequestKey};

pub(super) fn retry(
    tx: &mut Tx<'_>,
    id: JobId,
    how: &Retry,
    request: Option<&RequestKey>,
    seed: Seed,
    by: Option<&By>,
) -> Ran<Keyed<Acted>> {
    let acted = requests::keyed(tx, request, |tx| Ok(vec![(id, retry_one(tx, id, how, seed)?)]))?;
    let acted = acted.map(|mut acted| acted.pop().map_or(Acted::NotFound, |(_, acted)| acted));
    note(tx, by, Deed::of_retry(id, &acted))?;
    Ok(acted)
}

pub(super) fn cancel(tx: &mut Tx<'_>, id: JobId, seed: Seed, by: Option<&By>) -> Ran<Acted> {
    let acted = act(tx, id, seed, operate::cancel)?;
    note(tx, by, Deed::of_act(Action::Cancel, id, &acted))?;
    Ok(acted)
}

pub(super) fn run_now(tx: &mut Tx<'_>, id: JobId, seed: Seed, by: Option<&By>) -> Ran<Acted> {
    let acted = act(tx, id, seed, operate::run_now)?;
    note(tx, by, Deed::of_act(Action::RunNow, id, &acted))?;
    Ok(acted)
}

pub(super) fn delete(
    tx: &mut Tx<'_>,
    id: JobId,
    forget_key: bool,
    seed: Seed,
    by: Option<&By>,
) -> Ran<Acted> {
    let (acted, freed) = delete_one(tx, id, forget_key, seed)?;
    note(tx, by, Deed::of_act(Action::Delete, id, &acted))?;
    note(tx, by, Deed::of_forget(id, freed))?;
    Ok(acted)
}

/// Also whether a key was freed because that was asked for.
fn delete_one(tx: &mut Tx<'_>, id: JobId, forget_key: bool, seed: Seed) -> Ran<(Acted, bool)> {
    let Some(job) = tx.settled(id, seed)? else { return Ok((Acted::NotFound, false)) };
    if let Err(refusal) = operate::delete(&job) {
        return Ok((Acted::Refused(refusal), false));
    }
    keys::bury(tx, &job, (!forget_key).then_some(Removal::Deleted))?;
    tx.remove(&job)?;
    if !job.state.is_terminal() {
        tx.count_end(State::Cancelled);
    }
    let acted = Acted::Done { view: None, repeated: false, changed: true };
    Ok((acted, forget_key && job.holds_key))
}

pub(super) fn bulk(
    tx: &mut Tx<'_>,
    bulk: &Bulk,
    request: Option<&RequestKey>,
    seed: Seed,
    by: Option<&By>,
) -> Ran<Keyed<Vec<Acted>>> {
    let one = |tx: &mut Tx<'_>, id: JobId, life: Option<u32>| match bulk.action {
        BulkAction::Retry => retry_one(tx, id, &BulkAction::retry(life), seed),
        BulkAction::Cancel => cancel(tx, id, seed, None),
        BulkAction::Delete => delete_one(tx, id, false, seed).map(|(acted, _)| acted),
        BulkAction::RunNow => run_now(tx, id, seed, None),
    };
    let acted = requests::keyed(tx, request, |tx| {
        bulk.targets
            .iter()
            .map(|(id, life)| match id {
                Some(id) => Ok((*id, one(tx, *id, *life)?)),
                None => Ok((JobId(0), Acted::NotFound)),
            })
            .collect()
    })?;
    let acted = acted.map(|acted| acted.into_iter().map(|(_, acted)| acted).collect());
    note(tx, by, Deed::of_bulk(bulk, &acted))?;
    Ok(acted)
}

/// An action that changes the job alone.
fn act(
    tx: &mut Tx<'_>,
    id: JobId,
    seed: Seed,
    rule: impl FnOnce(&mut Job, i64) -> Result<(), Refusal>,
) -> Ran<Acted> {
    let Some(mut job) = tx.settled(id, seed)? else { return Ok(Acted::NotFound) };
    let before = Guard::of(&job);
    if let Err(refusal) = rule(&mut job, tx.now) {
        return Ok(Acted::Refused(refusal));
    }
    let changed = before.shows_change(&job);
    if changed {
        tx.save(&job, before)?;
    }
    done(tx, job, false, changed)
}

fn retry_one(tx: &mut Tx<'_>, id: JobId, how: &Retry, seed: Seed) -> Ran<Acted> {
    let Some(mut job) = tx.settled(id, seed)? else { return Ok(Acted::NotFound) };
    let before = Guard::of(&job);
    let checkpoints = tx.checkpoints(&job)?;
    let result = tx.result(&job)?;
    match operate::retry(&mut job, how, &checkpoints, result.as_ref(), tx.now) {
        Err(refusal) => Ok(Acted::Refused(refusal)),
        Ok(Retried::Repeated) => done(tx, job, true, false),
        Ok(Retried::Opened { attempt, keep }) => {
            if let Err(other) = keys::hold_again(tx, &mut job)? {
                return Ok(Acted::Refused(Refusal::KeyTaken(other)));
            }
            if let Some(attempt) = attempt {
                tx.record(job.seq, &attempt)?;
            }
            tx.sql.checkpoints_delete.execute((job.seq, rows::limit(keep)))?;
            tx.sql.result_delete.execute([job.seq])?;
            tx.count_retry();
            tx.save(&job, before)?;
            done(tx, job, false, true)
        }
    }
}

fn done(tx: &mut Tx<'_>, job: Job, repeated: bool, changed: bool) -> Ran<Acted> {
    Ok(Acted::Done { view: Some(Box::new(tx.view(job)?)), repeated, changed })
}
