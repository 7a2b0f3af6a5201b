//! The id of one request, `req_` and a UUIDv7 in 26 characters: in the header `X-Request-Id` of its
//! answer, in problems and in logs.

use std::fmt;

use http::HeaderValue;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The id of one request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RequestId([u8; 30]);

impl RequestId {
    /// From the time in milliseconds and random bits (RFC 9562, section 5.7).
    #[must_use]
    pub fn make(now_ms: i64, random: u128) -> Self {
        let millis = u128::from(now_ms.unsigned_abs() & ((1 << 48) - 1));
        let random_a = (random >> 62) & 0xfff;
        let random_b = random & ((1 << 62) - 1);
        let mut rest = (millis << 80) | (0x7 << 76) | (random_a << 64) | (0b10 << 62) | random_b;
        let mut text = *b"req_00000000000000000000000000";
        for place in text.iter_mut().skip(4).rev() {
            *place = ALPHABET.get((rest & 31) as usize).copied().unwrap_or(b'0');
            rest >>= 5;
        }
        Self(text)
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// As a header's value.
    #[must_use]
    pub fn header(&self) -> HeaderValue {
        HeaderValue::from_bytes(&self.0).unwrap_or(HeaderValue::from_static("req_"))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::RequestId;

    #[test]
    fn ids_have_the_form_of_a_typeid() {
        let id = RequestId::make(1_764_403_200_000, 0);
        assert_eq!(id.as_str(), "req_01kb7a0g00e008000000000000");
        assert_ne!(id, RequestId::make(1_764_403_200_000, 1));
    }
}
