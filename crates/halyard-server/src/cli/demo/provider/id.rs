//! Ids as Stripe makes them: a prefix that names the noun, then letters and digits.

use rand::RngExt;
use rand::distr::Alphanumeric;

/// 24 characters of 62: no two meet in a demo's life.
const OBJECT_CHARS: usize = 24;
const REQUEST_CHARS: usize = 14;

/// The id of an object, such as `ch_` and 24 characters.
pub(super) fn object(prefix: &str) -> String {
    format!("{prefix}_{}", random(OBJECT_CHARS))
}

/// The id of a call, for `Request-Id`.
pub(super) fn request() -> String {
    format!("req_{}", random(REQUEST_CHARS))
}

fn random(chars: usize) -> String {
    rand::rng().sample_iter(Alphanumeric).take(chars).map(char::from).collect()
}
