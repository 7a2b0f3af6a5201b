//! The headers of the API's own, and reading `Idempotency-Key`.

use std::borrow::Cow;

use crate::excerpt::Excerpt;
use crate::faults::Faults;
use crate::problem::Code;

/// Request: makes a call repeatable for clients that make no ids.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Answer: `true` or `false`, whether a create, retry, run as new or bulk call was a repeat.
pub const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";

/// Answer: the id of the request, `req_` and 26 characters.
pub const REQUEST_ID: &str = "x-request-id";

/// Request: the last event that a listener of `/v1/events` has seen.
pub const LAST_EVENT_ID: &str = "last-event-id";

/// Characters of the longest key.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;

/// Reads the values of all `Idempotency-Key` headers of a request: none, or one of 1 to 255
/// visible ASCII characters, bare or as a quoted string (RFC 8941, `\"` and `\\` escaped).
///
/// # Errors
///
/// One `invalid_field`, whose pointer is the header's name.
pub fn idempotency_key<'h>(
    values: impl IntoIterator<Item = &'h [u8]>,
) -> Result<Option<Cow<'h, str>>, Faults> {
    let mut values = values.into_iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(invalid("be given once", value));
    }
    let visible = |byte: &u8| (0x21..=0x7e).contains(byte);
    let key = match value.trim_ascii() {
        [b'"', inner @ .., b'"'] => unquoted(inner),
        [b'"', ..] | [.., b'"'] => None,
        bare => std::str::from_utf8(bare).ok().map(Cow::Borrowed),
    };
    match key {
        Some(key)
            if (1..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&key.len())
                && key.as_bytes().iter().all(visible) =>
        {
            Ok(Some(key))
        }
        _ => {
            let rule = "be 1 to 255 visible ASCII characters, bare or as a quoted string";
            Err(invalid(rule, value))
        }
    }
}

/// What stands between the quotes, without its escapes.
fn unquoted(inner: &[u8]) -> Option<Cow<'_, str>> {
    let inner = std::str::from_utf8(inner).ok()?;
    if !inner.contains(['"', '\\']) {
        return Some(Cow::Borrowed(inner));
    }
    let mut key = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        match character {
            '"' => return None,
            '\\' => key.push(rest.next().filter(|escaped| matches!(escaped, '"' | '\\'))?),
            plain => key.push(plain),
        }
    }
    Some(Cow::Owned(key))
}

#[cold]
fn invalid(rule: &str, value: &[u8]) -> Faults {
    let value = String::from_utf8_lossy(value);
    let message = format!("Idempotency-Key must {rule}, not {}", Excerpt(&value));
    Faults::one(Code::InvalidField, "Idempotency-Key", message)
}
