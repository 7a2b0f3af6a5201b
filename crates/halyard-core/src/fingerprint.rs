//! Fingerprints: two payloads are one request when their canonical forms are equal.
//!
//! The canonical form sorts members by code point at every depth, keeps array order, compares
//! strings after unescaping and numbers as sign, digits and exponent, never through a float.

use halyard_json::Text;
use sha2::{Digest, Sha256};

/// SHA-256 over the canonical form of a JSON value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The number of the algorithm, stored beside each fingerprint.
    pub const ALGORITHM: u8 = 1;

    /// The fingerprint of a value. An absent payload is `null`.
    #[must_use]
    pub fn of(value: &Text) -> Self {
        Self(Sha256::digest(halyard_json::canonical(value)).into())
    }

    /// The fingerprint of a result; no result is `null`.
    #[must_use]
    pub fn of_result(result: Option<&Text>) -> Self {
        result.map_or_else(|| Self::of(&Text::null()), Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, same: bool) {
        let of = |text: &str| {
            Text::parse(text, crate::limits::VALUE_DEPTH_MAX).map(|text| Fingerprint::of(&text))
        };
        assert_eq!(of(a) == of(b), same, "{a} and {b}");
    }

    #[test]
    fn order_spelling_and_space_are_not_another_body() {
        check(r#"{"p":1,"q":2}"#, r#" { "q" : 2, "p" : 1 } "#, true);
        check(r#"{"a":{"x":1,"y":[1,2]}}"#, r#"{"a":{"y":[1,2],"x":1}}"#, true);
        check("1", "1.0", true);
        check("1", "1e0", true);
        check("-0", "0", true);
        check("100", "1e2", true);
        check(r#""\u00e9""#, "\"é\"", true);
    }

    #[test]
    fn another_value_is_another_body() {
        check("1", "2", false);
        check("[1,2]", "[2,1]", false);
        check("9007199254740993", "9007199254740992", false);
        check("1", "\"1\"", false);
        check("null", "{}", false);
        check("\"é\"", "\"e\u{301}\"", false);
    }
}
