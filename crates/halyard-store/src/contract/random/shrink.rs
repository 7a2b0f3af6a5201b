//! The shortest sequence that still shows a difference: commands are left out as long as it stays.

use std::fmt::Write;

use super::compare::Difference;
use super::generate::{Sequence, sequence};
use super::run_one;
use crate::contract::Maker;

/// Sequences that shrinking may try.
const TRIES_MAX: usize = 1_000;

/// What a failed test prints.
pub(super) fn report(maker: &impl Maker, seed: u64, difference: &Difference) -> String {
    let (short, difference) = shrink(maker, sequence(seed), difference.clone());
    let mut report = format!("seed {seed}: the store differs from the model. The commands:\n");
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
            match run_one(maker, |_| {}, &shorter) {
                Err(found) => (sequence, difference) = (shorter, found),
                Ok(_) => at += length,
            }
        }
        length /= 2;
    }
    (sequence, difference)
}
