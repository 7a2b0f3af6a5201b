//! `GET` and `POST /v1/api-keys`, `DELETE /v1/api-keys/{id}`: keys that open the API. To revoke one
//! is answered 204 without a body.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::place::Place;
use crate::state::Role;

/// A key to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CreateApiKey {
    /// What it is called in lists and in the audit log, 1 to 128 code points.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// What it may do.
    pub role: Role,
}

/// A key, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiKey {
    /// Its id, `key_` and 26 characters.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute; `null` when it never was.
    #[schema(required)]
    pub last_used_at: Option<Timestamp>,
}

/// A key that was made. Its text is shown this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreatedApiKey {
    /// Its id, `key_` and 26 characters.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Its text, for the header `Authorization: Bearer …`.
    pub key: String,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Every key, in the order of their making.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiKeysAnswer {
    /// The keys.
    pub data: Vec<ApiKey>,
}

/// A [`CreateApiKey`] that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<'v> {
    /// What it is called.
    pub name: Cow<'v, str>,
    /// What it may do.
    pub role: Role,
}

/// Reads the body of a call that makes a key.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Received<'b>, Faults> {
    const MEMBERS: &[&str] = &["name", "role"];
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let (mut name, mut role) = (None, None);
    if !faults.accepts(&place, root) {
        return Err(faults);
    }
    object(root, &place, &mut faults, Unknown::Refused(MEMBERS), |field, faults| {
        match field.name {
            "name" => name = field.text(faults),
            "role" => role = field.word(faults, Role::WORDS, Role::from_word),
            _ => return false,
        }
        true
    });
    let name = faults.required(name, root, &place, "name");
    if role.is_none() {
        faults.required(None::<()>, root, &place, "role");
    }
    match role {
        Some(role) => faults.or(Received { name, role }),
        None => Err(faults),
    }
}

/// A key's text is a secret.
impl std::fmt::Debug for CreatedApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedApiKey").field("id", &self.id).finish_non_exhaustive()
    }
}
