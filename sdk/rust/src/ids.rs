//! Ids as a client makes them: a prefix and a UUIDv7 in 26 characters of lower-case Crockford
//! base32, the TypeID form (<https://github.com/jetify-com/typeid/tree/main/spec>).
//!
//! Ids that come from elsewhere are opaque and never read.

use uuid::Uuid;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new id such as `job_01jdvw3k8pf5tvn2c7m9a0r4xq`. Ids of one process sort by the time they
/// were made.
pub(crate) fn make(prefix: &str) -> String {
    typed(prefix, Uuid::now_v7())
}

fn typed(prefix: &str, uuid: Uuid) -> String {
    let number = uuid.as_u128();
    let mut id = String::with_capacity(prefix.len() + 27);
    id.push_str(prefix);
    id.push('_');
    // 26 digits of 5 bits hold 130 bits: the first digit has two leading zeros.
    for digit in (0..26).rev() {
        let index = (number >> (digit * 5)) as usize & 31;
        id.push(char::from(ALPHABET.get(index).copied().unwrap_or(b'0')));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_ids() {
        // The first three are vectors of the TypeID specification.
        for (number, expected) in [
            ("00000000-0000-0000-0000-000000000000", "job_00000000000000000000000000"),
            ("00000000-0000-0000-0000-00000000000a", "job_0000000000000000000000000a"),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", "job_7zzzzzzzzzzzzzzzzzzzzzzzzz"),
            ("0110c853-1d09-52d8-d73e-1194e95b5f19", "job_0123456789abcdefghjkmnpqrs"),
        ] {
            assert_eq!(typed("job", number.parse().expect("a UUID")), expected);
        }
    }

    #[test]
    fn made_ids_rise() {
        let ids: Vec<String> = (0..1000).map(|_| make("job")).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().all(|id| id.len() == 30));
    }
}
