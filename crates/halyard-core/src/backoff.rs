//! How long until the next attempt.

use crate::{DurationMs, TimeMs, limits};

/// Waits between attempts: `min(initial * factor^(n-1), max)`, with jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// Before the second attempt.
    pub initial_ms: DurationMs,
    /// Each further wait is this many times longer.
    pub factor: f64,
    /// No wait is longer.
    pub max_ms: DurationMs,
    /// A wait varies by this share of itself, 0 to 1, up and down.
    pub jitter: f64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { initial_ms: 5_000, factor: 2.0, max_ms: 3_600_000, jitter: 0.2 }
    }
}

impl Backoff {
    /// The wait after the `attempt`-th counted attempt failed. `unit` is chance in `[0, 1)`.
    #[must_use]
    pub fn delay_ms(&self, attempt: u32, unit: f64) -> DurationMs {
        round(self.base(attempt) * (1.0 + self.jitter * (2.0 * unit - 1.0)))
    }

    /// The wait after a crash: spread over half to twice the base, so that the innocent
    /// neighbours of a job that kills its worker do not meet it again.
    #[must_use]
    pub fn delay_after_crash_ms(&self, attempt: u32, unit: f64) -> DurationMs {
        round(self.base(attempt) * (0.5 + 1.5 * unit))
    }

    /// The wait when the worker named one: never earlier than asked, and never earlier than the
    /// backoff's own base; jitter only adds.
    #[must_use]
    pub fn delay_at_least_ms(&self, floor_ms: DurationMs, attempt: u32, unit: f64) -> DurationMs {
        let floor = floor_ms.clamp(0, limits::RETRY_AFTER_MS_MAX) as f64;
        round(self.base(attempt).max(floor) * (1.0 + self.jitter * unit))
    }

    /// The wait after the `attempt`-th counted attempt, before jitter.
    #[must_use]
    pub fn base_ms(&self, attempt: u32) -> DurationMs {
        round(self.base(attempt))
    }

    fn base(&self, attempt: u32) -> f64 {
        let exponent = f64::from(attempt.saturating_sub(1));
        // An exponent that overflows gives infinity, which the cap then cuts; 0 * infinity is not
        // a number, so an initial wait of 0 stays 0.
        if self.initial_ms == 0 {
            return 0.0;
        }
        (self.initial_ms as f64 * self.factor.powf(exponent)).min(self.max_ms as f64)
    }
}

/// When something is due that waits `delay_ms` from `at`.
#[must_use]
pub fn due_at(at: TimeMs, delay_ms: DurationMs) -> TimeMs {
    at.saturating_add(delay_ms)
}

fn round(ms: f64) -> DurationMs {
    ms.ceil().max(0.0) as DurationMs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(initial_ms: DurationMs, factor: f64, max_ms: DurationMs) -> Backoff {
        Backoff { initial_ms, factor, max_ms, jitter: 0.0 }
    }

    /// Case 32: backoff arithmetic.
    #[test]
    fn never_negative_never_overflowing_and_capped() {
        let initials = [0, 1, 5_000, limits::BACKOFF_INITIAL_MS_MAX];
        let maxima = [0, 1, 3_600_000, limits::BACKOFF_MS_MAX];
        for initial_ms in initials {
            for max_ms in maxima {
                for factor in [1.0, 1.5, 2.0, 10.0] {
                    for jitter in [0.0, 0.2, 1.0] {
                        let backoff = Backoff { initial_ms, factor, max_ms, jitter };
                        for attempt in 0..=100 {
                            for unit in [0.0, 0.5, 0.999_999] {
                                let delay = backoff.delay_ms(attempt, unit);
                                assert!((0..=2 * max_ms).contains(&delay), "{backoff:?} {delay}");
                                let crash = backoff.delay_after_crash_ms(attempt, unit);
                                assert!((0..=2 * max_ms).contains(&crash), "{backoff:?} {crash}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn doubles_up_to_its_cap() {
        let waits: Vec<_> = (1..=6).map(|n| plain(5, 2.0, 100).delay_ms(n, 0.5)).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 100]);
        assert_eq!(plain(5, 2.0, 100).delay_ms(100, 0.5), 100);
    }

    #[test]
    fn never_earlier_than_asked() {
        let backoff = Backoff::default();
        for asked in [-1, 0, 1, 60_000, 1_000_000_000_000] {
            for unit in [0.0, 0.3, 0.999] {
                let delay = backoff.delay_at_least_ms(asked, 1, unit);
                assert!(delay >= asked.clamp(0, limits::RETRY_AFTER_MS_MAX), "{asked} {delay}");
            }
        }
    }

    #[test]
    fn a_crash_spreads_over_half_to_twice() {
        let backoff = plain(1_000, 1.0, 10_000);
        assert_eq!(backoff.delay_after_crash_ms(1, 0.0), 500);
        assert_eq!(backoff.delay_after_crash_ms(1, 1.0), 2_000);
    }
}
