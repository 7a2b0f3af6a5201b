//! `GET`, `POST` and `DELETE /v1/session`: a key becomes a cookie for the dashboard. Signing in and
//! out are answered 204 without a body.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::Body;
use crate::faults::Faults;
use crate::fields::{Unknown, object};
use crate::place::Place;
use crate::state::Role;

/// A key to sign in with.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StartSession {
    /// The text of a key.
    pub key: String,
}

/// Who calls, and what this server lets them do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// What they may do.
    pub role: Role,
    /// The name of their key; `null` on a server that asks for none.
    #[schema(required)]
    pub name: Option<String>,
    /// Whether this server refuses every call that changes something.
    pub read_only: bool,
}

/// Reads the body of a call that signs in: the text of the key.
///
/// # Errors
///
/// Everything that is wrong with its shape.
pub fn read<'b>(body: &'b Body<'_>) -> Result<Cow<'b, str>, Faults> {
    let mut faults = Faults::default();
    let (root, place) = (body.root(), Place::Body);
    let mut key = None;
    if !faults.accepts(&place, root) {
        return Err(faults);
    }
    object(root, &place, &mut faults, Unknown::Refused(&["key"]), |field, faults| {
        match field.name {
            "key" => key = field.text(faults),
            _ => return false,
        }
        true
    });
    let key = faults.required(key, root, &place, "key");
    faults.or(key)
}

/// A key's text is a secret.
impl std::fmt::Debug for StartSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StartSession(…)")
    }
}
