//! Chance as a parameter: one seed a call, and everything random that follows from it.
//!
//! The server draws 256 random bits for each call that needs chance. Tokens, attempt ids and jitter
//! are derived from them, so that a rule stays a function and two stores given one seed decide
//! alike.

use sha2::{Digest, Sha256};

use crate::TimeMs;
use crate::id::{AttemptId, Token};
use crate::planted::{Bug, planted};

/// 256 random bits for one call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

/// Tokens follow from a seed, so it stays as secret as they are.
impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// What makes the start that a claim opens unmistakable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartMarks {
    /// The id that names the start in public.
    pub attempt_id: AttemptId,
    /// The secret that lets its worker act.
    pub token: Token,
}

impl Seed {
    /// The marks of the `index`-th start that this call opens. SHA-256 over seed and index: its
    /// halves tell nothing of each other, so the public id gives nothing of the token away.
    #[must_use]
    pub fn start_marks(&self, index: u64, now: TimeMs) -> StartMarks {
        let mut hash = Sha256::new();
        hash.update(if planted(Bug::TokenReused) { [0; 32] } else { self.0 });
        hash.update(index.to_be_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let (mut token, mut attempt) = ([0; 16], [0; 16]);
        for (index, byte) in digest.iter().enumerate() {
            match index.checked_sub(16) {
                None => set(&mut token, index, *byte),
                Some(index) => set(&mut attempt, index, *byte),
            }
        }
        StartMarks {
            attempt_id: AttemptId::make(now, u128::from_be_bytes(attempt)),
            token: Token(u128::from_be_bytes(token)),
        }
    }

    /// A number in `[0, 1)` for the `index`-th decision of this call (SplitMix64, Steele et al.,
    /// "Fast splittable pseudorandom number generators", 2014). Good enough for jitter.
    #[must_use]
    pub fn unit(&self, index: u64) -> f64 {
        let start = self.0.iter().take(8).fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
        let mut word =
            start.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        (word >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn set(bytes: &mut [u8; 16], index: usize, value: u8) {
    if let Some(place) = bytes.get_mut(index) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_by_seed_and_index() {
        let (a, b) = (Seed([1; 32]), Seed([2; 32]));
        assert_ne!(a.start_marks(0, 0).token, a.start_marks(1, 0).token);
        assert_ne!(a.start_marks(0, 0).token, b.start_marks(0, 0).token);
        assert_eq!(a.start_marks(3, 9), a.start_marks(3, 9));
    }

    #[test]
    fn unit_stays_in_its_interval_and_spreads() {
        let seed = Seed([7; 32]);
        let drawn: Vec<f64> = (0..1_000).map(|index| seed.unit(index)).collect();
        assert!(drawn.iter().all(|unit| (0.0..1.0).contains(unit)));
        let mean = drawn.iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
