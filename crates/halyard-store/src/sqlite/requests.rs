//! Requests that carried an `Idempotency-Key`: what they did is remembered for a day.

use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_core::key::IdClash;
use halyard_core::limits;
use halyard_core::operate::Refusal;
use halyard_core::planted::{Bug, planted};
use rusqlite::OptionalExtension;

use super::keys;
use super::transaction::Tx;
use super::writer::Ran;
use crate::remembered::{Item, job_id};
use crate::verbs::{Acted, Created, Keyed, RequestKey};

/// An answer that can be remembered and given again.
pub(super) trait Member: Sized {
    /// What to remember of it.
    fn item(&self) -> Item;
    /// The answer to the same request again.
    fn again(tx: &mut Tx<'_>, item: Item) -> Ran<Self>;
}

/// Runs `fresh` unless the request was run before.
pub(super) fn keyed<T: Member>(
    tx: &mut Tx<'_>,
    request: Option<&RequestKey>,
    fresh: impl FnOnce(&mut Tx<'_>) -> Ran<Vec<T>>,
) -> Ran<Keyed<Vec<T>>> {
    let Some(request) = request else { return Ok(Keyed::Fresh(fresh(tx)?)) };
    let known = tx
        .sql
        .request
        .query_one((&request.scope, &request.value), |row| {
            Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?))
        })
        .optional()?;
    if let Some((body, expires_at, results)) = known
        && tx.now < expires_at
        && !planted(Bug::RequestForgotten)
    {
        let items = Item::read_all(&results).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, error.into())
        })?;
        if body != request.body.0 {
            return Ok(Keyed::Reused(items.iter().find_map(Item::accepted_job)));
        }
        let again = items.into_iter().map(|item| T::again(tx, item)).collect::<Ran<_>>()?;
        return Ok(Keyed::Replayed(again));
    }
    let made = fresh(tx)?;
    let items: Vec<Item> = made.iter().map(Member::item).collect();
    if items.iter().any(|item| item.accepted_job().is_some()) {
        let results = Item::write_all(&items)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        tx.sql.request_save.execute((
            &request.scope,
            &request.value,
            request.body.0,
            tx.now.saturating_add(limits::REQUEST_KEY_TTL_MS),
            results,
        ))?;
    }
    Ok(Keyed::Fresh(made))
}

impl Member for Created {
    fn item(&self) -> Item {
        Item::of_created(self)
    }

    fn again(tx: &mut Tx<'_>, item: Item) -> Ran<Self> {
        Ok(match item {
            Item::Job(id) | Item::Deleted(id) => {
                let id = job_id(&id);
                let Some(job) = tx.job_by_id(id)? else { return buried(tx, id) };
                tx.count_replay(Some(job.id));
                Self::Replayed { view: Box::new(tx.view(job)?), revived: false }
            }
            Item::Purged(id) => return buried(tx, job_id(&id)),
            Item::KeyReused { job, changed } => {
                tx.count_key_refused();
                Self::KeyReused { job_id: job_id(&job), changed }
            }
            Item::IdTaken(id) => Self::IdTaken { id: job_id(&id), clash: IdClash::Work },
            Item::IdTakenNoKey(id) => Self::IdTaken { id: job_id(&id), clash: IdClash::NoKey },
            Item::IdTakenOtherKey(id) => {
                Self::IdTaken { id: job_id(&id), clash: IdClash::OtherKey }
            }
            Item::Gone(id) => Self::Gone(job_id(&id)),
            Item::NotFound
            | Item::Running
            | Item::NotRetryable(_)
            | Item::Finished(_)
            | Item::KeyTaken(_)
            | Item::LifeAhead(_)
            | Item::NoSuchCheckpoint(_) => unreachable!("an action remembered as a create"),
        })
    }
}

/// What is said of a job that is gone: what its key remembers, if it had one.
fn buried(tx: &mut Tx<'_>, id: JobId) -> Ran<Created> {
    Ok(match keys::tombstone_of(tx, id)? {
        Some(grave) => {
            tx.count_replay(None);
            Created::Purged(grave)
        }
        None => Created::Gone(id),
    })
}

impl Member for (JobId, Acted) {
    fn item(&self) -> Item {
        Item::of_acted(self.0, &self.1)
    }

    fn again(tx: &mut Tx<'_>, item: Item) -> Ran<Self> {
        let state = |number| State::from_number(number).unwrap_or(State::Completed);
        let refused = |refusal| Ok((JobId(0), Acted::Refused(refusal)));
        let was_delete = matches!(item, Item::Deleted(_));
        match item {
            Item::Job(id) | Item::Deleted(id) => {
                let id = job_id(&id);
                // An id may have been used again since its job was deleted.
                let acted = match tx.job_by_id(id)? {
                    Some(job) => {
                        let view = Some(Box::new(tx.view(job)?));
                        Acted::Done { view, repeated: true, changed: false }
                    }
                    None if was_delete => {
                        Acted::Done { view: None, repeated: true, changed: false }
                    }
                    None => Acted::NotFound,
                };
                Ok((id, acted))
            }
            Item::Running => refused(Refusal::Running),
            Item::NotRetryable(number) => refused(Refusal::NotRetryable(state(number))),
            Item::Finished(number) => refused(Refusal::Finished(state(number))),
            Item::KeyTaken(id) => refused(Refusal::KeyTaken(job_id(&id))),
            Item::LifeAhead(life) => refused(Refusal::LifeAhead(life)),
            Item::NoSuchCheckpoint(name) => refused(Refusal::NoSuchCheckpoint(name)),
            Item::NotFound | Item::Gone(_) => Ok((JobId(0), Acted::NotFound)),
            Item::Purged(_)
            | Item::KeyReused { .. }
            | Item::IdTaken(_)
            | Item::IdTakenNoKey(_)
            | Item::IdTakenOtherKey(_) => unreachable!("a create remembered as an action"),
        }
    }
}
