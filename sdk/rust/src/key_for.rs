//! Keys for outside effects, made from the job's id and a name of the effect.

use sha2::{Digest, Sha256};

/// Characters taken from the hash: 26 of 5 bits are 130 bits.
const HASH_CHARS: usize = 26;
/// RFC 4648 base32 in lower case.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// `job_id`, `_`, and the first 26 characters of lower-case RFC 4648 base32 of SHA-256 of `name` in
/// UTF-8. The same in every SDK; the vectors are in `sdk/scenarios/key-for.json`.
pub(crate) fn key_for(job_id: &str, name: &str) -> String {
    let mut key = format!("{job_id}_");
    let (mut bits, mut held) = (0_u16, 0);
    let mut bytes = Sha256::digest(name.as_bytes()).into_iter();
    for _ in 0..HASH_CHARS {
        if held < 5 {
            bits = bits << 8 | u16::from(bytes.next().unwrap_or_default());
            held += 8;
        }
        held -= 5;
        let index = usize::from(bits >> held & 31);
        key.push(char::from(ALPHABET.get(index).copied().unwrap_or(b'a')));
    }
    key
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        vectors: Vec<Vector>,
    }

    #[derive(Deserialize)]
    struct Vector {
        job_id: String,
        name: String,
        key: String,
    }

    #[test]
    fn vectors() {
        let text = include_str!("../../scenarios/key-for.json");
        let Vectors { vectors } = serde_json::from_str(text).expect("the file of vectors");
        assert!(vectors.len() >= 8);
        for vector in vectors {
            assert_eq!(key_for(&vector.job_id, &vector.name), vector.key, "{}", vector.name);
        }
    }
}
