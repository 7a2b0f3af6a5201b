//! Numbers of jobs that were taken from the sequence and not used, for the next jobs.
//!
//! The order of numbers is nearly that of time, and lists trust that: so a number is kept for some
//! seconds only, and is a gap from then on.

use std::collections::VecDeque;

use halyard_core::{DurationMs, TimeMs};

/// How long the oldest of them is kept: half of what lists allow for.
const KEPT_MS: DurationMs = 10_000;

/// Numbers to be used, the lowest first.
#[derive(Debug, Default)]
pub(super) struct Spare {
    numbers: VecDeque<i64>,
    /// Since when there are some.
    since: Option<TimeMs>,
}

impl Spare {
    /// Takes `count` of them at most; says since when the oldest is there, which is `now` for those
    /// that are still to come.
    pub(super) fn take(&mut self, count: usize, now: TimeMs) -> (VecDeque<i64>, TimeMs) {
        if self.since.is_some_and(|since| now - since > KEPT_MS) {
            self.clear();
        }
        let known = self.numbers.len().min(count);
        let taken: VecDeque<i64> = self.numbers.drain(..known).collect();
        let since = self.since.filter(|_| !taken.is_empty()).unwrap_or(now);
        if self.numbers.is_empty() {
            self.since = None;
        }
        (taken, since)
    }

    /// Keeps what was not used of numbers that are there since then.
    pub(super) fn give_back(&mut self, unused: &mut VecDeque<i64>, since: TimeMs) {
        if !unused.is_empty() {
            self.since = Some(self.since.map_or(since, |known| known.min(since)));
            self.numbers.append(unused);
            self.numbers.make_contiguous().sort_unstable();
        }
    }

    /// Lets them go.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_kept_for_some_seconds() {
        let mut spare = Spare::default();
        spare.give_back(&mut VecDeque::from([3, 1]), 0);
        assert_eq!(spare.take(1, KEPT_MS).0, [1]);
        assert!(spare.take(1, KEPT_MS + 1).0.is_empty(), "3 was taken long ago");
        spare.give_back(&mut VecDeque::from([4]), KEPT_MS + 1);
        assert_eq!(spare.take(2, KEPT_MS + 2).0, [4]);
    }

    #[test]
    fn a_number_that_is_taken_in_vain_grows_no_younger() {
        let mut spare = Spare::default();
        let (mut taken, since) = spare.take(1, 5);
        assert_eq!((taken.len(), since), (0, 5));
        taken.push_back(7);
        spare.give_back(&mut taken, since);
        let (mut taken, since) = spare.take(1, KEPT_MS);
        assert_eq!((&taken, since), (&VecDeque::from([7]), 5));
        spare.give_back(&mut taken, since);
        assert!(spare.take(1, KEPT_MS + 6).0.is_empty());
    }
}
