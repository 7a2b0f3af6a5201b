//! Idempotency keys: who holds one, taking it, losing it, burying it with its job.

use halyard_core::TimeMs;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Job, Name};
use halyard_core::key::{self, Holder, Removal, Tombstone};
use rusqlite::{OptionalExtension, Row};

use super::access::note;
use super::rows::{Columns, Guard};
use super::transaction::Tx;
use super::writer::Ran;
use crate::access::{By, Deed};

/// A key's row, with what is read through its job.
pub(super) struct Known {
    pub(super) holder: Holder,
    /// The job's row, while there is one.
    pub(super) seq: Option<i64>,
    grave: Option<Grave>,
}

/// What only a tombstone has.
struct Grave {
    queue: Name,
    created_at: TimeMs,
    finished_at: TimeMs,
}

impl Known {
    /// Reads a row of `key.sql`.
    pub(super) fn of(row: &Row<'_>) -> Ran<Self> {
        let mut next = Columns::from(row, 2);
        let (job_id, fingerprint) = (next.id()?, Fingerprint(next.next()?));
        let _algorithm: u8 = next.next()?;
        if let Some(seq) = next.next::<Option<i64>>()? {
            let mut through = Columns::from(row, 11);
            let state = through.state()?;
            let (finished_at, ttl_ms): (Option<TimeMs>, i64) = (through.next()?, through.next()?);
            let expires_at = key::expires_at(finished_at, ttl_ms);
            let holder = Holder { job_id, fingerprint, state, expires_at, purged: false };
            return Ok(Self { holder, seq: Some(seq), grave: None });
        }
        let (queue, state) = (next.name()?, next.state()?);
        let grave = Grave { queue, created_at: next.next()?, finished_at: next.next()? };
        let expires_at = next.next()?;
        let holder = Holder { job_id, fingerprint, state, expires_at, purged: true };
        Ok(Self { holder, seq: None, grave: Some(grave) })
    }

    /// The tombstone, when the job's row is gone.
    pub(super) fn tombstone(self, task: &Name, key: &Name) -> Option<Tombstone> {
        let (grave, expires_at) = (self.grave?, self.holder.expires_at?);
        Some(Tombstone {
            task: Name::clone(task),
            key: Name::clone(key),
            queue: grave.queue,
            job_id: self.holder.job_id,
            fingerprint: self.holder.fingerprint,
            state: self.holder.state,
            created_at: grave.created_at,
            finished_at: grave.finished_at,
            expires_at,
        })
    }
}

/// Who holds a key, expired or not.
pub(super) fn known(tx: &mut Tx<'_>, task: &Name, key: &Name) -> Ran<Option<Known>> {
    tx.sql.key.query_one((&**task, &**key), Known::of).optional()
}

/// The first unexpired tombstone that jobs of this id left.
pub(super) fn tombstone_of(tx: &mut Tx<'_>, id: JobId) -> Ran<Option<Tombstone>> {
    let unexpired = (id.0.to_be_bytes(), tx.now);
    let names = |row: &Row<'_>| {
        let mut next = Columns::of(row);
        Ok((next.name()?, next.name()?))
    };
    let found = tx.sql.key_of_tombstone.query_one(unexpired, names).optional()?;
    let Some((task, key)) = found else { return Ok(None) };
    Ok(known(tx, &task, &key)?.and_then(|known| known.tombstone(&task, &key)))
}

/// The job takes the key, whoever had it.
pub(super) fn hold(
    tx: &mut Tx<'_>,
    task: &Name,
    key: &Name,
    job: &Job,
    fingerprint: Fingerprint,
) -> Ran<()> {
    tx.sql.key_hold.execute((
        &**task,
        &**key,
        job.id.0.to_be_bytes(),
        fingerprint.0,
        Fingerprint::ALGORITHM,
        job.seq,
    ))?;
    Ok(())
}

/// A job's key goes to another one, or is free.
pub(super) fn lose(tx: &mut Tx<'_>, seq: i64, successor: Option<JobId>) -> Ran<()> {
    let mut job = tx.job_by_seq(seq)?;
    let before = Guard::of(&job);
    job.holds_key = false;
    job.replaced_by = successor.or(job.replaced_by);
    tx.save(&job, before)
}

/// A job's row goes: its key's tombstone stays, or, without a `removal`, the key is forgotten.
pub(super) fn bury(tx: &mut Tx<'_>, job: &Job, removal: Option<Removal>) -> Ran<()> {
    if !job.holds_key {
        return Ok(());
    }
    let (details, _) = tx.body(job.seq)?;
    let Some(name) = details.idempotency_key else { return Ok(()) };
    let Some(known) = known(tx, &job.task, &name)? else { return Ok(()) };
    let fingerprint = known.holder.fingerprint;
    match removal.and_then(|removal| key::tombstone(job, &name, fingerprint, removal, tx.now)) {
        None => tx.sql.key_delete.execute((&*job.task, &*name))?,
        Some(grave) => tx.sql.key_bury.execute((
            &*job.task,
            &*name,
            &*grave.queue,
            grave.state.number(),
            grave.created_at,
            grave.finished_at,
            grave.expires_at,
        ))?,
    };
    Ok(())
}

/// Frees the key that a job or its tombstone holds; false when nothing is known of the job.
pub(super) fn forget(tx: &mut Tx<'_>, id: JobId, by: Option<&By>) -> Ran<bool> {
    let (known, freed) = forget_one(tx, id)?;
    note(tx, by, Deed::of_forget(id, freed))?;
    Ok(known)
}

/// Says whether anything is known of the job, and whether a key was freed.
fn forget_one(tx: &mut Tx<'_>, id: JobId) -> Ran<(bool, bool)> {
    let was_buried = tombstone_of(tx, id)?.is_some();
    tx.sql.key_delete_tombstone.execute([id.0.to_be_bytes()])?;
    let Some(job) = tx.job_by_id(id)? else {
        return Ok((was_buried, was_buried));
    };
    if job.holds_key {
        bury(tx, &job, None)?;
        lose(tx, job.seq, None)?;
    }
    Ok((true, job.holds_key || was_buried))
}

/// An opened life holds its key again when nobody else does. The other job, when one does.
pub(super) fn hold_again(tx: &mut Tx<'_>, job: &mut Job) -> Ran<Result<(), JobId>> {
    if job.holds_key {
        return Ok(Ok(()));
    }
    let (details, payload) = tx.body(job.seq)?;
    let Some(name) = details.idempotency_key else { return Ok(Ok(())) };
    if let Some(other) = known(tx, &job.task, &name)? {
        if !other.holder.has_expired(tx.now) {
            return Ok(Err(other.holder.job_id));
        }
        if let Some(seq) = other.seq {
            lose(tx, seq, None)?;
        }
    }
    hold(tx, &Name::clone(&job.task), &name, job, Fingerprint::of(&payload))?;
    job.holds_key = true;
    Ok(Ok(()))
}
