//! The shortest sequence that still shows a difference: commands are left out as long as it stays.

use std::fmt::Write;

use super::compare::Difference;
use super::generate::{Sequence, sequence};
use super::run_sequences;
use crate::contract::Maker;

/// Sequences that shrinking may try.
const TRIES_MAX: usize = 1_000;

/// What a failed test prints. A difference that its sequence does not show alone came from what
/// the sequences of its batch before it had left.
pub(super) fn report(maker: &impl Maker, batch: &[u64], difference: &Difference) -> String {
    let alone = |seed: &u64| {
        let whole = sequence(*seed);
        let found = run_sequences(maker, |_| {}, std::slice::from_ref(&whole)).err()?;
        Some(shrink(maker, whole, found))
    };
    let mut seeds = batch.iter().rev().skip_while(|seed| **seed != difference.seed);
    let Some((short, difference)) = seeds.find_map(alone) else {
        let (command, what) = (&difference.command, &difference.what);
        return format!("seeds {batch:?} in a row, not alone: at {command}\n{what}");
    };
    let mut report = format!("seed {}: the store differs from the model:\n", short.seed);
    for (number, command) in short.commands.iter().enumerate() {
        let _ = writeln!(report, "{number:3}  {command:?}");
    }
    let _ = write!(report, "at {}\n{}", difference.command, difference.what);
    report
}

fn shrink(
    maker: &impl Maker,
    mut sequence: Sequence,
    mut difference: Difference,
) -> (Sequence, Difference) {
    let mut tries = 0;
    let mut length = sequence.commands.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < sequence.commands.len() && tries < TRIES_MAX {
            tries += 1;
            let mut shorter = sequence.clone();
            let end = (at + length).min(shorter.commands.len());
            shorter.commands.drain(at..end);
            match run_sequences(maker, |_| {}, std::slice::from_ref(&shorter)) {
                Err(found) => (sequence, difference) = (shorter, found),
                Ok(_) => at += length,
            }
        }
        length /= 2;
    }
    (sequence, difference)
}
