//! Keys, sign-ins and the audit log. Keys and sign-ins are few: who changes them locks them all.

use std::collections::VecDeque;

use halyard_core::id::KeyId;
use halyard_core::role::Role;
use tokio_postgres::Row;
use uuid::Uuid;

use super::Ran;
use super::difference::Difference;
use super::lanes::Shared;
use super::loaded::Hands;
use super::reads::Reads;
use super::rows::{Columns, limit, signed};
use super::statements::Parameter;
use crate::Answer;
use crate::access::{Access, Action, ApiKey, AuditEntry, AuditKept, AuditPage, By, Deed, SignIn};

/// Loads and locks every key and sign-in, in one order everywhere.
pub(super) async fn load(hands: Hands<'_>) -> Ran<Access> {
    let keys = hands.query(&hands.sql.api_keys_lock, &[]).await?;
    let sign_ins = hands.query(&hands.sql.sign_ins_lock, &[]).await?;
    access(&keys, &sign_ins)
}

/// Writes what differs, and what was done.
pub(super) async fn write(hands: Hands<'_>, difference: &Difference<'_>) -> Ran<()> {
    let (before, after) = (difference.access_before, &difference.tables.access);
    write_keys(hands, &before.keys, &after.keys).await?;
    write_sign_ins(hands, &before.sign_ins, &after.sign_ins).await?;
    note(hands, &difference.tables.audit.entries).await
}

async fn write_keys(hands: Hands<'_>, before: &[ApiKey], after: &[ApiKey]) -> Ran<()> {
    let sql = hands.sql;
    let known = |key: &ApiKey, keys: &[ApiKey]| keys.iter().any(|it| it.id == key.id);
    let gone: Vec<Uuid> = before.iter().filter(|key| !known(key, after)).map(uuid).collect();
    if !gone.is_empty() {
        hands.execute(&sql.api_keys_delete, &[&gone]).await?;
    }
    let made: Vec<&ApiKey> = after.iter().filter(|key| !known(key, before)).collect();
    if !made.is_empty() {
        let ids: Vec<Uuid> = made.iter().map(|key| uuid(key)).collect();
        let names: Vec<&str> = made.iter().map(|key| &*key.name).collect();
        let roles: Vec<&str> = made.iter().map(|key| key.role.as_str()).collect();
        let hashes: Vec<&[u8]> = made.iter().map(|key| key.hash.as_slice()).collect();
        let created: Vec<i64> = made.iter().map(|key| key.created_at).collect();
        let used: Vec<Option<i64>> = made.iter().map(|key| key.last_used_at).collect();
        hands
            .execute(&sql.api_keys_insert, &[&ids, &names, &roles, &hashes, &created, &used])
            .await?;
    }
    let is_used = |key: &&ApiKey| {
        before.iter().any(|it| it.id == key.id && it.last_used_at != key.last_used_at)
    };
    let used: Vec<&ApiKey> = after.iter().filter(is_used).collect();
    if !used.is_empty() {
        let ids: Vec<Uuid> = used.iter().map(|key| uuid(key)).collect();
        let at: Vec<Option<i64>> = used.iter().map(|key| key.last_used_at).collect();
        hands.execute(&sql.api_keys_use, &[&ids, &at]).await?;
    }
    Ok(())
}

async fn write_sign_ins(hands: Hands<'_>, before: &[SignIn], after: &[SignIn]) -> Ran<()> {
    let gone = before.iter().filter(|it| !after.contains(it));
    let gone: Vec<&[u8]> = gone.map(|it| it.hash.as_slice()).collect();
    if !gone.is_empty() {
        hands.execute(&hands.sql.sign_ins_delete, &[&gone]).await?;
    }
    let made: Vec<&SignIn> = after.iter().filter(|it| !before.contains(it)).collect();
    if !made.is_empty() {
        let hashes: Vec<&[u8]> = made.iter().map(|it| it.hash.as_slice()).collect();
        let keys: Vec<&[u8]> = made.iter().map(|it| it.key_hash.as_slice()).collect();
        let ends: Vec<i64> = made.iter().map(|it| it.expires_at).collect();
        hands.execute(&hands.sql.sign_ins_insert, &[&hashes, &keys, &ends]).await?;
    }
    Ok(())
}

/// Adds lines to the audit log.
async fn note(hands: Hands<'_>, entries: &VecDeque<AuditEntry>) -> Ran<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let at: Vec<i64> = entries.iter().map(|it| it.at).collect();
    let actors: Vec<&str> = entries.iter().map(|it| &*it.by.actor).collect();
    let key = |it: &AuditEntry| it.by.key_id.map(|id| Uuid::from_u128(id.0));
    let keys: Vec<Option<Uuid>> = entries.iter().map(key).collect();
    let requests: Vec<&str> = entries.iter().map(|it| &*it.by.request_id).collect();
    let actions: Vec<&str> = entries.iter().map(|it| it.deed.action.as_str()).collect();
    let targets: Vec<Option<&str>> = entries.iter().map(|it| it.deed.target.as_deref()).collect();
    let jobs: Vec<String> = entries.iter().map(|it| it.deed.job_ids_text()).collect();
    hands
        .execute(
            &hands.sql.audit_insert,
            &[&at, &actors, &keys, &requests, &actions, &targets, &jobs],
        )
        .await?;
    Ok(())
}

/// Removes up to `max` lines of the audit log that are kept no longer; says how many.
pub(super) async fn prune_audit(shared: &Shared, max: usize, kept: AuditKept) -> Ran<usize> {
    let before = shared.now().saturating_sub(kept.for_ms);
    let connection = shared.pool.get().await?;
    let hands = Hands::of(&connection, &shared.sql);
    let (lines, max_rows) = (signed(kept.lines_max), limit(max));
    let values: [Parameter<'_>; 3] = [&before, &lines, &max_rows];
    let gone = hands.execute(&shared.sql.audit_prune, &values).await?;
    Ok(usize::try_from(gone).unwrap_or(max))
}

impl Reads {
    /// Every key and sign-in.
    pub(super) async fn access(&self) -> Answer<Access> {
        let keys = self.query(&self.shared.sql.api_keys, &[]).await?;
        let sign_ins = self.query(&self.shared.sql.sign_ins, &[]).await?;
        Ok(access(&keys, &sign_ins)?)
    }

    /// A page of the audit log.
    pub(super) async fn audit(&self, before: Option<i64>, rows: usize) -> Answer<AuditPage> {
        let before = before.unwrap_or(i64::MAX);
        let more = limit(rows + 1);
        let found = self.query(&self.shared.sql.audit_page, &[&before, &more]).await?;
        let entries: Vec<(i64, AuditEntry)> =
            found.iter().take(rows).map(entry).collect::<Ran<_>>()?;
        Ok(AuditPage {
            next: entries.last().filter(|_| found.len() > rows).map(|(number, _)| *number),
            entries: entries.into_iter().map(|(_, entry)| entry).collect(),
        })
    }
}

fn access(keys: &[Row], sign_ins: &[Row]) -> Ran<Access> {
    Ok(Access {
        keys: keys.iter().map(api_key).collect::<Ran<_>>()?,
        sign_ins: sign_ins.iter().map(sign_in).collect::<Ran<_>>()?,
    })
}

fn api_key(row: &Row) -> Ran<ApiKey> {
    let mut next = Columns::from(row, 0);
    Ok(ApiKey {
        id: KeyId(next.uuid()?),
        name: next.name()?,
        role: next.named(Role::parse)?,
        hash: next.hash()?,
        created_at: next.next()?,
        last_used_at: next.next()?,
    })
}

fn sign_in(row: &Row) -> Ran<SignIn> {
    let mut next = Columns::from(row, 0);
    Ok(SignIn { hash: next.hash()?, key_hash: next.hash()?, expires_at: next.next()? })
}

fn entry(row: &Row) -> Ran<(i64, AuditEntry)> {
    let mut next = Columns::from(row, 0);
    let (number, at) = (next.next()?, next.next()?);
    let by =
        By { actor: next.name()?, key_id: next.maybe_uuid()?.map(KeyId), request_id: next.name()? };
    let (action, target) = (next.named(Action::parse)?, next.next()?);
    let job_ids = Deed::job_ids_of(next.next()?);
    Ok((number, AuditEntry { at, by, deed: Deed { action, target, job_ids } }))
}

fn uuid(key: &ApiKey) -> Uuid {
    Uuid::from_u128(key.id.0)
}
