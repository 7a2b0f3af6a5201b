//! Requests that carried an `Idempotency-Key`: what they did is remembered for a day.

use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_core::key::IdClash;
use halyard_core::limits;
use halyard_core::operate::Refusal;
use halyard_core::planted::{Bug, planted};
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use super::keys;
use super::transaction::Tx;
use super::writer::Ran;
use crate::verbs::{Acted, Created, Keyed, RequestKey};

/// What became of one member of a request. An id is its text.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Item {
    Job(String),
    Purged(String),
    Deleted(String),
    KeyReused {
        job: String,
        changed: Option<Vec<String>>,
    },
    /// By a job with another task or payload.
    IdTaken(String),
    IdTakenNoKey(String),
    IdTakenOtherKey(String),
    Gone(String),
    NotFound,
    Running,
    NotRetryable(u8),
    Finished(u8),
    KeyTaken(String),
    LifeAhead(u32),
    NoSuchCheckpoint(String),
}

/// An answer that can be remembered and given again.
pub(super) trait Member: Sized {
    /// What to remember of it; `acted_on` is the job that was asked for, where that is known.
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
        let items: Vec<Item> = serde_json::from_str(&results).map_err(|error| {
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
        let results = serde_json::to_string(&items)
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

impl Item {
    /// The job of a member that was accepted.
    fn accepted_job(&self) -> Option<JobId> {
        match self {
            Self::Job(id) | Self::Purged(id) | Self::Deleted(id) => Some(job_id(id)),
            Self::KeyReused { .. }
            | Self::IdTaken(_)
            | Self::IdTakenNoKey(_)
            | Self::IdTakenOtherKey(_)
            | Self::Gone(_)
            | Self::NotFound
            | Self::Running
            | Self::NotRetryable(_)
            | Self::Finished(_)
            | Self::KeyTaken(_)
            | Self::LifeAhead(_)
            | Self::NoSuchCheckpoint(_) => None,
        }
    }
}

/// Only ids that were written here are read here.
fn job_id(text: &str) -> JobId {
    JobId::parse(text).unwrap_or(JobId(0))
}

impl Member for Created {
    fn item(&self) -> Item {
        match self {
            Self::New(view) | Self::Replayed { view, .. } => Item::Job(view.job.id.to_string()),
            Self::Purged(grave) => Item::Purged(grave.job_id.to_string()),
            Self::KeyReused { job_id, changed } => {
                Item::KeyReused { job: job_id.to_string(), changed: changed.clone() }
            }
            Self::IdTaken { id, clash } => match clash {
                IdClash::Work => Item::IdTaken(id.to_string()),
                IdClash::NoKey => Item::IdTakenNoKey(id.to_string()),
                IdClash::OtherKey => Item::IdTakenOtherKey(id.to_string()),
            },
            Self::Gone(id) => Item::Gone(id.to_string()),
        }
    }

    fn again(tx: &mut Tx<'_>, item: Item) -> Ran<Self> {
        Ok(match item {
            Item::Job(id) | Item::Deleted(id) => {
                let id = job_id(&id);
                let Some(job) = tx.job_by_id(id)? else { return Ok(Self::Gone(id)) };
                tx.count_replay(Some(job.id));
                Self::Replayed { view: Box::new(tx.view(job)?), revived: false }
            }
            Item::Purged(id) => {
                let id = job_id(&id);
                match keys::tombstone_of(tx, id)?.filter(|grave| tx.now < grave.expires_at) {
                    Some(grave) => {
                        tx.count_replay(None);
                        Self::Purged(grave)
                    }
                    None => Self::Gone(id),
                }
            }
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

impl Member for (JobId, Acted) {
    fn item(&self) -> Item {
        match &self.1 {
            Acted::Done { view: Some(_), .. } => Item::Job(self.0.to_string()),
            Acted::Done { view: None, .. } => Item::Deleted(self.0.to_string()),
            Acted::NotFound => Item::NotFound,
            Acted::Refused(refusal) => match refusal {
                Refusal::Running => Item::Running,
                Refusal::NotRetryable(state) => Item::NotRetryable(state.number()),
                Refusal::Finished(state) => Item::Finished(state.number()),
                Refusal::KeyTaken(id) => Item::KeyTaken(id.to_string()),
                Refusal::LifeAhead(life) => Item::LifeAhead(*life),
                Refusal::NoSuchCheckpoint(name) => Item::NoSuchCheckpoint(name.clone()),
            },
        }
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
                        Acted::Done { view, repeated: true }
                    }
                    None if was_delete => Acted::Done { view: None, repeated: true },
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
