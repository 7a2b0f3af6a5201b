//! Keys, sign-ins and the audit log.

use halyard_core::TimeMs;
use halyard_core::id::KeyId;
use halyard_core::role::Role;
use rusqlite::Row;

use super::rows::{Columns, limit, signed};
use super::transaction::Tx;
use super::writer::Ran;
use crate::access::{
    Access, Action, ApiKey, AuditEntry, AuditKept, AuditPage, By, Deed, Revoked, SIGN_INS_MAX,
    SIGN_INS_OF_KEY_MAX, SecretHash, SignIn,
};

/// Writes down what was done, if anything was, and it is known by whom.
pub(super) fn note(tx: &mut Tx<'_>, by: Option<&By>, deed: Option<Deed>) -> Ran<()> {
    let Some((by, deed)) = by.zip(deed) else { return Ok(()) };
    tx.sql.audit_insert.execute((
        tx.now,
        &*by.actor,
        by.key_id.map(|id| id.0.to_be_bytes()),
        &*by.request_id,
        deed.action.as_str(),
        &deed.target,
        deed.job_ids_text(),
    ))?;
    Ok(())
}

pub(super) fn create_key(tx: &mut Tx<'_>, key: &ApiKey, by: &By) -> Ran<()> {
    let id = key.id.0.to_be_bytes();
    let (name, role) = (&*key.name, key.role.as_str());
    let at = (key.created_at, key.last_used_at);
    tx.sql.api_key_insert.execute((id, name, role, key.hash, at.0, at.1))?;
    note(tx, Some(by), Some(Deed::to(Action::CreateKey, key.called())))
}

pub(super) fn revoke_key(tx: &mut Tx<'_>, id: KeyId, keep_an_admin: bool, by: &By) -> Ran<Revoked> {
    let keys: Vec<ApiKey> = tx.sql.api_keys.query_map([], api_key)?.collect::<Ran<_>>()?;
    let admins = keys.iter().filter(|key| key.role == Role::Admin);
    let is_last_admin = admins.map(|key| key.id).eq([id]);
    let Some(key) = keys.into_iter().find(|key| key.id == id) else { return Ok(Revoked::Unknown) };
    if keep_an_admin && is_last_admin {
        return Ok(Revoked::LastAdmin);
    }
    tx.sql.api_key_delete.execute([id.0.to_be_bytes()])?;
    note(tx, Some(by), Some(Deed::to(Action::RevokeKey, key.called())))?;
    Ok(Revoked::Done(key))
}

pub(super) fn use_keys(tx: &mut Tx<'_>, used: &[(KeyId, TimeMs)]) -> Ran<()> {
    for (id, at) in used {
        tx.sql.api_key_use.execute((id.0.to_be_bytes(), at))?;
    }
    Ok(())
}

pub(super) fn sign_in(tx: &mut Tx<'_>, sign_in: &SignIn, by: &By) -> Ran<()> {
    tx.sql.sign_in_insert.execute((sign_in.hash, sign_in.key_hash, sign_in.expires_at))?;
    tx.sql.sign_ins_trim.execute((
        tx.now,
        limit(SIGN_INS_MAX),
        sign_in.key_hash,
        limit(SIGN_INS_OF_KEY_MAX),
    ))?;
    note(tx, Some(by), Some(Deed::to_jobs(Action::SignIn, Vec::new())))
}

pub(super) fn sign_out(tx: &mut Tx<'_>, hash: &SecretHash) -> Ran<()> {
    tx.sql.sign_in_delete.execute([hash])?;
    Ok(())
}

pub(super) fn prune_audit(tx: &mut Tx<'_>, rows: usize, kept: AuditKept) -> Ran<usize> {
    let before = tx.now.saturating_sub(kept.for_ms);
    tx.sql.audit_prune.execute((before, signed(kept.lines_max), limit(rows)))
}

impl super::reads::Read {
    pub(super) fn access(&self) -> Ran<Access> {
        let keys = self
            .sql(include_str!("sql/api_keys.sql"))?
            .query_map([], api_key)?
            .collect::<Ran<_>>()?;
        let sign_ins = self
            .sql(include_str!("sql/sign_ins.sql"))?
            .query_map([], sign_in_of)?
            .collect::<Ran<_>>()?;
        Ok(Access { keys, sign_ins })
    }

    pub(super) fn audit(&self, before: Option<i64>, rows: usize) -> Ran<AuditPage> {
        let mut statement = self.sql(include_str!("sql/audit_page.sql"))?;
        let before = before.unwrap_or(i64::MAX);
        let mut found: Vec<(i64, AuditEntry)> =
            statement.query_map((before, limit(rows + 1)), entry)?.collect::<Ran<_>>()?;
        let more = found.len() > rows;
        found.truncate(rows);
        Ok(AuditPage {
            next: found.last().filter(|_| more).map(|(number, _)| *number),
            entries: found.into_iter().map(|(_, entry)| entry).collect(),
        })
    }
}

fn api_key(row: &Row<'_>) -> Ran<ApiKey> {
    let mut next = Columns::of(row);
    Ok(ApiKey {
        id: KeyId(next.uuid()?),
        name: next.name()?,
        role: next.named(Role::parse)?,
        hash: next.next()?,
        created_at: next.next()?,
        last_used_at: next.next()?,
    })
}

fn sign_in_of(row: &Row<'_>) -> Ran<SignIn> {
    let mut next = Columns::of(row);
    Ok(SignIn { hash: next.next()?, key_hash: next.next()?, expires_at: next.next()? })
}

fn entry(row: &Row<'_>) -> Ran<(i64, AuditEntry)> {
    let mut next = Columns::of(row);
    let (number, at) = (next.next()?, next.next()?);
    let by =
        By { actor: next.name()?, key_id: next.maybe_uuid()?.map(KeyId), request_id: next.name()? };
    let (action, target) = (next.named(Action::parse)?, next.next()?);
    let job_ids: String = next.next()?;
    let deed = Deed { action, target, job_ids: Deed::job_ids_of(&job_ids) };
    Ok((number, AuditEntry { at, by, deed }))
}
