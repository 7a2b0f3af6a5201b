//! Keys, roles and the audit log.

use halyard_api::api_keys::{ApiKey, CreatedApiKey, Received};
use halyard_api::audit::{AuditAnswer, AuditEntry, ListAudit};
use halyard_api::problem::Code;
use halyard_api::state::{self, AuditAction};
use halyard_api::{Faults, Timestamp};
use halyard_core::id::KeyId;
use halyard_core::name;
use halyard_core::role::Role;
use halyard_store::access::{self, Action, AuditPage};

use super::look::page_limit;
use super::{place, refuse_if_any};
use crate::access::secret::Secret;
use crate::http::refused::{Refused, shown};

/// A key to make: its name and role.
///
/// # Errors
/// The name breaks a rule.
pub fn new_key(sent: Received<'_>) -> Result<(String, Role), Refused> {
    let mut faults = Faults::default();
    if let Err(rule) = name::check_api_key_name(&sent.name) {
        let message = format!("{} {rule}, not {}", place("/name"), shown(&sent.name));
        faults.push(Code::InvalidField, "/name", message);
    }
    refuse_if_any(faults)?;
    let role = match sent.role {
        state::Role::Producer => Role::Producer,
        state::Role::Worker => Role::Worker,
        state::Role::Admin => Role::Admin,
    };
    Ok((sent.name.into_owned(), role))
}

/// The id of a key in a path.
///
/// # Errors
/// No key is called so.
pub fn key_id(text: &str) -> Result<KeyId, Refused> {
    KeyId::parse(text).ok_or_else(|| no_such_key(text))
}

/// No key is called so.
pub fn no_such_key(id: &str) -> Refused {
    Refused::new(Code::NotFound, format!("there is no key {}", shown(id)))
}

/// A role.
pub fn role(of: Role) -> state::Role {
    match of {
        Role::Producer => state::Role::Producer,
        Role::Worker => state::Role::Worker,
        Role::Admin => state::Role::Admin,
    }
}

/// A key, without its text.
pub fn key(of: &access::ApiKey) -> ApiKey {
    ApiKey {
        id: of.id.to_string(),
        name: of.name.to_string(),
        role: role(of.role),
        created_at: Timestamp::from_ms(of.created_at),
        last_used_at: of.last_used_at.map(Timestamp::from_ms),
    }
}

/// A key that was made, with its text.
pub fn created(of: &access::ApiKey, secret: &Secret) -> CreatedApiKey {
    CreatedApiKey {
        id: of.id.to_string(),
        name: of.name.to_string(),
        role: role(of.role),
        key: secret.text().to_owned(),
        created_at: Timestamp::from_ms(of.created_at),
    }
}

/// Where a page of the audit log begins, and how long it is.
///
/// # Errors
/// The cursor is none that a server gave.
pub fn audit_place(sent: &ListAudit) -> Result<(Option<i64>, usize), Refused> {
    let read = |cursor: &String| {
        let place = i64::from_str_radix(cursor, 16).ok().filter(|place| *place > 0);
        place.ok_or_else(|| {
            let message = format!("cursor {} is none that this server gave", shown(cursor));
            Refused::field(Code::CursorMismatch, "?cursor", message)
        })
    };
    Ok((sent.cursor.as_ref().map(read).transpose()?, page_limit(sent.limit)))
}

/// A page of the audit log.
pub fn audit_page(of: &AuditPage) -> AuditAnswer {
    AuditAnswer {
        data: of.entries.iter().map(entry).collect(),
        next_cursor: of.next.map(|place| format!("{place:x}")),
    }
}

fn entry(of: &access::AuditEntry) -> AuditEntry {
    let access::AuditEntry { at, by, deed } = of;
    AuditEntry {
        at: Timestamp::from_ms(*at),
        actor: by.actor.to_string(),
        key_id: by.key_id.map(|id| id.to_string()),
        action: action(deed.action),
        target: deed.target.clone(),
        job_ids: deed.job_ids.iter().map(ToString::to_string).collect(),
        count: deed.count() as u64,
        request_id: by.request_id.to_string(),
    }
}

fn action(of: Action) -> AuditAction {
    match of {
        Action::Retry => AuditAction::Retry,
        Action::Cancel => AuditAction::Cancel,
        Action::RunNow => AuditAction::RunNow,
        Action::RunAsNew => AuditAction::RunAsNew,
        Action::Delete => AuditAction::Delete,
        Action::ForgetKey => AuditAction::ForgetKey,
        Action::Pause => AuditAction::Pause,
        Action::Resume => AuditAction::Resume,
        Action::CreateKey => AuditAction::CreateKey,
        Action::RevokeKey => AuditAction::RevokeKey,
        Action::SignIn => AuditAction::SignIn,
    }
}
