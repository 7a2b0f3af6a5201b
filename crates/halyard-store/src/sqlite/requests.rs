//! Requests that carried an `Idempotency-Key`: what they did is remembered for a day.

use halyard_core::id::JobId;
use halyard_core::limits;
use halyard_core::planted::{Bug, planted};
use rusqlite::OptionalExtension;

use super::keys;
use super::transaction::Tx;
use super::writer::Ran;
use crate::remembered::Item;
use crate::session::remembered::Member;
use crate::verbs::{Acted, Created, Keyed, RequestKey};

/// An answer that can be remembered and given again.
pub(super) trait Remembered: Sized {
    /// What to remember of it.
    fn member(&self) -> Member;
    /// The answer to the same request again.
    fn again(tx: &mut Tx<'_>, member: Member) -> Ran<Self>;
}

/// Runs `fresh` unless the request was run before.
pub(super) fn keyed<T: Remembered>(
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
        let members: Vec<Member> = items.into_iter().map(Member::of_item).collect();
        if body != request.body.0 {
            return Ok(Keyed::Reused(members.iter().find_map(Member::accepted)));
        }
        let again = members.into_iter().map(|member| T::again(tx, member)).collect::<Ran<_>>()?;
        return Ok(Keyed::Replayed(again));
    }
    let made = fresh(tx)?;
    let members: Vec<Member> = made.iter().map(Remembered::member).collect();
    if members.iter().any(|member| member.accepted().is_some()) {
        let items: Vec<Item> = members.iter().map(Member::item).collect();
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

impl Remembered for Created {
    fn member(&self) -> Member {
        Member::of_created(self)
    }

    fn again(tx: &mut Tx<'_>, member: Member) -> Ran<Self> {
        match member {
            Member::CreateRefused(refused) => {
                if matches!(refused, Self::KeyReused { .. }) {
                    tx.count_key_refused();
                }
                Ok(refused)
            }
            Member::Tombstone(id) => buried(tx, id),
            Member::Job(id) => {
                let Some(job) = tx.job_by_id(id)? else { return buried(tx, id) };
                tx.count_replay(Some(job.id));
                Ok(Self::Replayed { view: Box::new(tx.view(job)?), revived: false })
            }
            Member::Deleted(_) | Member::ActionRefused(_) => {
                unreachable!("an action remembered as a create")
            }
        }
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

impl Remembered for (JobId, Acted) {
    fn member(&self) -> Member {
        Member::of_acted(Some(self.0), &self.1)
    }

    fn again(tx: &mut Tx<'_>, member: Member) -> Ran<Self> {
        let (id, was_delete) = match member {
            Member::ActionRefused(refused) => return Ok((JobId(0), refused)),
            Member::Job(id) => (id, false),
            Member::Deleted(id) => (id, true),
            Member::Tombstone(_) | Member::CreateRefused(_) => {
                unreachable!("a create remembered as an action")
            }
        };
        // An id may have been used again since its job was deleted.
        let view = match tx.job_by_id(id)? {
            Some(job) => Some(Box::new(tx.view(job)?)),
            None if was_delete => None,
            None => return Ok((id, Acted::NotFound)),
        };
        Ok((id, Acted::Done { view, repeated: true, changed: false }))
    }
}
