//! Create: a new job, or the one that an equal create made before.

use halyard_core::admission::NewJob;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Job, JobView};
use halyard_core::key::{Duplicate, IdClash, Wish};
use halyard_core::operate::{self, Retried, Retry};
use halyard_core::planted::{Bug, planted};
use halyard_core::{job::Name, limits};
use halyard_json::Text;

use super::rows::{self, Guard};
use super::transaction::Tx;
use super::writer::Ran;
use super::{access, keys, requests};
use crate::access::{By, Deed};
use crate::verbs::{Created, Keyed, RequestKey};

/// In order, as if sent singly.
pub(super) fn create(
    tx: &mut Tx<'_>,
    jobs: &[NewJob],
    request: Option<&RequestKey>,
) -> Ran<Keyed<Vec<Created>>> {
    requests::keyed(tx, request, |tx| jobs.iter().map(|job| create_one(tx, job)).collect())
}

/// The same work again under another id and without a key.
pub(super) fn run_as_new(
    tx: &mut Tx<'_>,
    id: JobId,
    new_id: JobId,
    payload: Option<&Text>,
    request: Option<&RequestKey>,
    by: Option<&By>,
) -> Ran<Keyed<Created>> {
    let made = requests::keyed(tx, request, |tx| {
        let Some(old) = tx.job_by_id(id)? else { return Ok(vec![Created::Gone(id)]) };
        let (details, known) = tx.body(old.seq)?;
        let payload = payload.cloned().unwrap_or(known);
        let job = NewJob::again(&old, &details, new_id, payload);
        Ok(vec![create_one(tx, &job)?])
    })?;
    let made = made.map(|mut made| made.pop().unwrap_or(Created::Gone(id)));
    access::note(tx, by, Deed::of_rerun(id, &made))?;
    Ok(made)
}

fn create_one(tx: &mut Tx<'_>, new: &NewJob) -> Ran<Created> {
    match (&new.details.idempotency_key, new.fingerprint) {
        (Some(key), Some(fingerprint)) => create_keyed(tx, new, key, fingerprint),
        _ => Ok(match insert(tx, new)? {
            Some(job) => made(new, job),
            None => replay_of_id(tx, new)?,
        }),
    }
}

/// The key decides first.
fn create_keyed(
    tx: &mut Tx<'_>,
    new: &NewJob,
    key: &Name,
    fingerprint: Fingerprint,
) -> Ran<Created> {
    let known = keys::known(tx, &new.task, key)?.filter(|_| !planted(Bug::KeyNotUnique));
    let wish = Wish { job_id: new.id, fingerprint, if_failed: new.if_failed };
    let now = tx.now;
    let duplicate = known.as_ref().map_or(Duplicate::None, |known| known.holder.judge(&wish, now));
    let seq = known.as_ref().and_then(|known| known.seq);
    match (duplicate, known, seq) {
        (Duplicate::None | Duplicate::Replace, known, _) => {
            let Some(job) = insert(tx, new)? else { return replay_of_id(tx, new) };
            if let Some(seq) = known.and_then(|known| known.seq) {
                let successor = (duplicate == Duplicate::Replace).then_some(job.id);
                keys::lose(tx, seq, successor)?;
            }
            keys::hold(tx, &new.task, key, &job, fingerprint)?;
            Ok(made(new, job))
        }
        (Duplicate::Purged, Some(known), _) => {
            tx.count_replay(None);
            Ok(known.tombstone(&new.task, key).map_or(Created::Gone(new.id), Created::Purged))
        }
        (Duplicate::Reused, Some(known), seq) => {
            tx.count_key_refused();
            let changed = match seq {
                Some(seq) => {
                    let (_, payload) = tx.body(seq)?;
                    Some(halyard_json::changed(&payload, &new.payload, limits::CHANGED_MAX))
                }
                None => None,
            };
            Ok(Created::KeyReused { job_id: known.holder.job_id, changed })
        }
        (Duplicate::Revive, _, Some(seq)) => revive(tx, seq),
        (Duplicate::Replay, _, Some(seq)) => replay(tx, seq),
        (Duplicate::Purged | Duplicate::Reused, None, _)
        | (Duplicate::Revive | Duplicate::Replay, _, None) => {
            unreachable!("{}: a key without its job was judged as one with it", new.id)
        }
    }
}

/// Writes the rows of a new job; `None` when its id is known already.
fn insert(tx: &mut Tx<'_>, new: &NewJob) -> Ran<Option<Job>> {
    let seq = tx.take_seq();
    let job = new.begin(seq, tx.now);
    job.assert_sound();
    if rows::insert_job(&mut tx.sql.job_insert, &job)? == 0 {
        tx.return_seq();
        return Ok(None);
    }
    tx.sql.body_insert.execute((
        seq,
        rows::tags_text(&new.details.tags),
        new.details.traceparent.as_deref(),
        new.details.idempotency_key.as_deref(),
        new.details.rerun_of.map(|id| id.0.to_be_bytes()),
        new.payload.as_str(),
    ))?;
    tx.count_new(&job);
    Ok(Some(job))
}

fn made(new: &NewJob, job: Job) -> Created {
    Created::New(Box::new(JobView {
        job,
        details: new.details.clone(),
        payload: new.payload.clone(),
        result: None,
        error: None,
    }))
}

fn replay(tx: &mut Tx<'_>, seq: i64) -> Ran<Created> {
    let job = tx.job_by_seq(seq)?;
    tx.count_replay(Some(job.id));
    Ok(Created::Replayed { view: Box::new(tx.view(job)?), revived: false })
}

fn revive(tx: &mut Tx<'_>, seq: i64) -> Ran<Created> {
    let mut job = tx.job_by_seq(seq)?;
    tx.count_replay(Some(job.id));
    let before = Guard::of(&job);
    let checkpoints = tx.checkpoints(&job)?;
    let retried = operate::retry(&mut job, &Retry::default(), &checkpoints, None, tx.now);
    assert!(
        matches!(retried, Ok(Retried::Opened { attempt: None, .. })),
        "{}: a failed job could not be revived",
        job.id
    );
    tx.count_retry();
    tx.save(&job, before)?;
    Ok(Created::Replayed { view: Box::new(tx.view(job)?), revived: true })
}

/// A client-made id again: with the same task, payload and key it is the same create.
fn replay_of_id(tx: &mut Tx<'_>, new: &NewJob) -> Ran<Created> {
    let id = new.id;
    let Some(job) = tx.job_by_id(id)? else { unreachable!("{id}: known, and not to be found") };
    let (details, payload) = tx.body(job.seq)?;
    let same_work = job.task == new.task && halyard_json::equal(&payload, &new.payload);
    let key = new.details.idempotency_key.as_deref();
    match IdClash::judge(same_work, details.idempotency_key.as_deref(), key) {
        None => replay(tx, job.seq),
        Some(clash) => Ok(Created::IdTaken { id, clash }),
    }
}
