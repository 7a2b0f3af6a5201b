//! Making a key, or the secret of a cookie. What is kept of either is its SHA-256: with 256 random
//! bits there is nothing to guess, so a slow hash would protect nothing.

use std::fmt;

use halyard_core::TimeMs;
use halyard_core::id::KeyId;
use halyard_core::role::Role;
use halyard_store::access::{ApiKey, SecretHash};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Characters of a cookie's secret.
pub const SECRET_LENGTH: usize = 64;

const PREFIX: &str = "hyd_";

/// SHA-256 of a secret: what is kept of it, and compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub SecretHash);

impl KeyHash {
    /// Of this key.
    #[must_use]
    pub fn of(key: &[u8]) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Says whether it is of this key.
    #[must_use]
    pub fn matches(&self, key: &[u8]) -> bool {
        bool::from(Self::of(key).0.ct_eq(&self.0))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// A secret that was made just now.
pub struct Secret(String);

impl Secret {
    /// 256 random bits.
    #[must_use]
    pub fn make() -> Self {
        Self(hex(rand::random()))
    }

    /// Its text, which is shown once.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> SecretHash {
        KeyHash::of(self.0.as_bytes()).0
    }
}

/// Makes a key: `hyd_`, the 26 characters of its id, `_` and 256 random bits in hexadecimal.
#[must_use]
pub fn make_key(name: &str, role: Role, now: TimeMs) -> (ApiKey, Secret) {
    let id = KeyId::make(now, rand::random());
    let suffix = id.to_string();
    let suffix = suffix.trim_start_matches("key_");
    let secret = Secret(format!("{PREFIX}{suffix}_{}", hex(rand::random())));
    let hash = secret.hash();
    (ApiKey { id, name: name.into(), role, hash, created_at: now, last_used_at: None }, secret)
}

/// The id that stands in the text of a key. `None`: no key of a store is written so.
#[must_use]
pub fn key_id(text: &[u8]) -> Option<KeyId> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix(PREFIX)?;
    let (suffix, _) = text.split_once('_')?;
    KeyId::parse(&format!("key_{suffix}"))
}

fn hex(bytes: [u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_itself_and_is_kept_as_a_hash() {
        let (key, secret) = make_key("ci", Role::Worker, 1_800_000_000_000);
        assert_eq!(key_id(secret.text().as_bytes()), Some(key.id));
        assert_eq!(secret.text().len(), 4 + 26 + 1 + 64);
        assert!(KeyHash(key.hash).matches(secret.text().as_bytes()));
        assert!(!KeyHash(key.hash).matches(b"hyd_"));
        let (_, other) = make_key("ci", Role::Worker, 1_800_000_000_000);
        assert_ne!(secret.text(), other.text());
        for none in ["", "hyd_", "hyd_x_y", "the-key-of-this-test"] {
            assert_eq!(key_id(none.as_bytes()), None, "{none}");
        }
        assert_eq!(format!("{:?}", KeyHash(key.hash)), "KeyHash(…)");
    }
}
