//! The history of a schema: numbered SQL files, each applied once, each known by its checksum.

use sha2::{Digest, Sha256};

/// The migrations that this program knows, in order: name and text. The number is the place, from
/// 1. A file that was released is never edited.
pub(crate) struct History(pub(crate) &'static [(&'static str, &'static str)]);

/// One of them.
pub(crate) struct Migration {
    pub(crate) number: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
    pub(crate) checksum: [u8; 32],
}

/// Why what was applied is not this program's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// More was applied than is known.
    Newer { found: i64, known: i64 },
    /// Another text was applied under a number.
    Foreign { number: i64 },
}

impl History {
    /// The number of the newest schema.
    pub(crate) fn newest(&self) -> i64 {
        length(self.0)
    }

    /// What is still to be applied where migrations of these checksums were.
    pub(crate) fn missing(&self, applied: &[[u8; 32]]) -> Result<Vec<Migration>, Mismatch> {
        let found = length(applied);
        if found > self.newest() {
            return Err(Mismatch::Newer { found, known: self.newest() });
        }
        let mut missing = Vec::new();
        let applied = applied.iter().map(Some).chain(std::iter::repeat(None));
        for (number, ((name, sql), applied)) in (1_i64..).zip(self.0.iter().zip(applied)) {
            let checksum: [u8; 32] = Sha256::digest(sql).into();
            match applied {
                Some(applied) if *applied == checksum => {}
                Some(_) => return Err(Mismatch::Foreign { number }),
                None => missing.push(Migration { number, name, sql, checksum }),
            }
        }
        Ok(missing)
    }
}

pub(crate) fn length<T>(list: &[T]) -> i64 {
    i64::try_from(list.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(applied: &[[u8; 32]]) -> Result<Vec<i64>, Mismatch> {
        let history = History(&[("one", "a"), ("two", "b")]);
        Ok(history.missing(applied)?.iter().map(|it| it.number).collect())
    }

    #[test]
    fn what_is_missing_is_what_comes_behind_what_is_known() {
        let (a, b) = (Sha256::digest("a").into(), Sha256::digest("b").into());
        assert_eq!(numbers(&[]), Ok(vec![1, 2]));
        assert_eq!(numbers(&[a]), Ok(vec![2]));
        assert_eq!(numbers(&[a, b]), Ok(vec![]));
        assert_eq!(numbers(&[a, b, a]), Err(Mismatch::Newer { found: 3, known: 2 }));
        assert_eq!(numbers(&[b]), Err(Mismatch::Foreign { number: 1 }));
        assert_eq!(numbers(&[a, a]), Err(Mismatch::Foreign { number: 2 }));
    }
}
