//! Ids: a short prefix and a UUIDv7 in 26 characters of lower-case Crockford base32.
//!
//! This is the TypeID form (<https://github.com/jetify-com/typeid>), so that an id sorts by its
//! time of making, says what it names, and survives a double click.

use std::fmt;

use crate::TimeMs;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const SUFFIX_LENGTH: usize = 26;

/// A job's id, `job_…`. Stable over every attempt and every life of the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u128);

/// The id of one start, `att_…`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId(pub u128);

/// The id of a key that opens the API, `key_…`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u128);

/// The secret of one claim: 128 random bits, 32 hexadecimal digits on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(pub u128);

impl JobId {
    const PREFIX: &'static str = "job_";

    /// Makes an id from a time and at least 74 random bits.
    #[must_use]
    pub fn make(now: TimeMs, random: u128) -> Self {
        Self(uuid_v7(now, random))
    }

    /// Reads `job_` and a UUIDv7. `None` for anything that no job can be called.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        decode_v7(text.strip_prefix(Self::PREFIX)?).map(Self)
    }
}

impl KeyId {
    const PREFIX: &'static str = "key_";

    /// Makes an id from a time and at least 74 random bits.
    #[must_use]
    pub fn make(now: TimeMs, random: u128) -> Self {
        Self(uuid_v7(now, random))
    }

    /// Reads `key_` and a UUIDv7. `None` for anything that no key can be called.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        decode_v7(text.strip_prefix(Self::PREFIX)?).map(Self)
    }
}

impl AttemptId {
    /// Makes an id from a time and at least 74 random bits.
    #[must_use]
    pub fn make(now: TimeMs, random: u128) -> Self {
        Self(uuid_v7(now, random))
    }
}

impl Token {
    /// Reads 32 hexadecimal digits. `None` for anything that was never handed out.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let well_formed =
            text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if !well_formed {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(Self::PREFIX, self.0, f)
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode("att_", self.0, f)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(Self::PREFIX, self.0, f)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A token is a secret: debug output shows its first digits only.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:06x}…)", self.0 >> 104)
    }
}

/// RFC 9562, section 5.7: 48 bits of Unix milliseconds, version, 74 random bits and the variant.
fn uuid_v7(now: TimeMs, random: u128) -> u128 {
    let millis = u128::from(now.clamp(0, (1 << 48) - 1).unsigned_abs());
    let random_a = (random >> 62) & 0xfff;
    let random_b = random & ((1 << 62) - 1);
    (millis << 80) | (0x7 << 76) | (random_a << 64) | (0b10 << 62) | random_b
}

fn encode(prefix: &str, value: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut suffix = [b'0'; SUFFIX_LENGTH];
    let mut rest = value;
    for place in suffix.iter_mut().rev() {
        *place = digit(rest);
        rest >>= 5;
    }
    f.write_str(prefix)?;
    f.write_str(std::str::from_utf8(&suffix).unwrap_or_default())
}

fn digit(value: u128) -> u8 {
    ALPHABET.get((value & 31) as usize).copied().unwrap_or(b'0')
}

fn decode_v7(suffix: &str) -> Option<u128> {
    let value = decode(suffix)?;
    let uuid = uuid::Uuid::from_u128(value);
    let is_v7 = uuid.get_version_num() == 7 && uuid.get_variant() == uuid::Variant::RFC4122;
    is_v7.then_some(value)
}

fn decode(suffix: &str) -> Option<u128> {
    if suffix.len() != SUFFIX_LENGTH || !suffix.starts_with(|c| ('0'..='7').contains(&c)) {
        return None;
    }
    suffix.bytes().try_fold(0_u128, |value, byte| {
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        Some((value << 5) | digit as u128)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back() {
        for (now, random) in [(0, 0), (1_764_425_000_000, 7), (TimeMs::MAX, u128::MAX)] {
            let id = JobId::make(now, random);
            assert_eq!(JobId::parse(&id.to_string()), Some(id));
            assert_eq!(id.to_string().len(), 30);
        }
    }

    #[test]
    fn ids_sort_by_time() {
        assert!(JobId::make(1, u128::MAX) < JobId::make(2, 0));
        assert!(JobId::make(1, u128::MAX).to_string() < JobId::make(2, 0).to_string());
    }

    #[test]
    fn what_no_job_can_be_called_is_none() {
        for text in [
            "",
            "job_",
            "job_3Rk9Tq7Xw2",
            "wrk_01jdvw3k8pf5tvn2c7m9a0r4xq",
            "job_81jdvw3k8pf5tvn2c7m9a0r4xq",
            "job_01jdvw3k8pf5tvn2c7m9a0r4xi",
            "job_00000000000000000000000000",
            "JOB_01jdvw3k8pf5tvn2c7m9a0r4xq",
        ] {
            assert_eq!(JobId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_token_reads_back_and_hides() {
        let token = Token(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(Token::parse(&token.to_string()), Some(token));
        assert_eq!(Token::parse("+123456789abcdef0123456789abcdef"), None);
        assert_eq!(Token::parse("0123456789ABCDEF0123456789ABCDEF"), None);
        assert_eq!(format!("{token:?}"), "Token(012345…)");
    }
}
