//! Tells of a storage that refuses in few lines, however many calls that makes fail: one when it
//! begins, one now and then, one when it is over.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// That it goes on is told so often.
const TOLD_EVERY: Duration = Duration::from_secs(10);
/// It is over when nothing was refused for so long, and the storage does its work.
const QUIET: Duration = Duration::from_secs(2);

/// The storage of this process.
pub static STORAGE: Refusals = Refusals(Mutex::new(None));

/// Whether the storage refuses, and what was told of it.
#[derive(Debug)]
pub struct Refusals(Mutex<Option<Course>>);

#[derive(Clone, Copy, Debug)]
struct Course {
    began: Instant,
    last: Instant,
    told: Instant,
    refused: u64,
}

/// What is to be told.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Begins,
    GoesOn { refused: u64 },
    Over { refused: u64, lasted: Duration },
}

impl Refusals {
    /// The storage refused a call, or a step of a loop, for a reason that is told in the log.
    pub fn refused(&self, reason: &str) {
        match self.refused_at(Instant::now()) {
            Some(Line::GoesOn { refused }) => {
                tracing::error!(reason, refused, "the storage still refuses calls");
            }
            Some(_) => tracing::error!(reason, "the storage refuses calls"),
            None => tracing::debug!(reason, "the storage refused a call"),
        }
    }

    /// The storage did what it was asked.
    pub fn works(&self) {
        if let Some(Line::Over { refused, lasted }) = self.works_at(Instant::now()) {
            let seconds = lasted.as_secs();
            tracing::info!(refused, seconds, "the storage takes calls again");
        }
    }

    fn refused_at(&self, now: Instant) -> Option<Line> {
        let mut course = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(course) = &mut *course else {
            *course = Some(Course { began: now, last: now, told: now, refused: 1 });
            return Some(Line::Begins);
        };
        course.last = now;
        course.refused += 1;
        if now - course.told < TOLD_EVERY {
            return None;
        }
        course.told = now;
        Some(Line::GoesOn { refused: course.refused })
    }

    fn works_at(&self, now: Instant) -> Option<Line> {
        let mut course = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Course { began, last, refused, .. } = (*course)?;
        if now - last < QUIET {
            return None;
        }
        *course = None;
        Some(Line::Over { refused, lasted: last - began })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_in_few_lines() {
        let refusals = Refusals(Mutex::new(None));
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        assert_eq!(refusals.works_at(at(0)), None, "there was none");
        assert_eq!(refusals.refused_at(at(0)), Some(Line::Begins));
        assert_eq!(refusals.refused_at(at(9_999)), None);
        assert_eq!(refusals.refused_at(at(10_000)), Some(Line::GoesOn { refused: 3 }));
        assert_eq!(refusals.refused_at(at(10_001)), None);
        assert_eq!(refusals.works_at(at(12_000)), None, "not all of it works yet");
        let over = Line::Over { refused: 4, lasted: Duration::from_millis(10_001) };
        assert_eq!(refusals.works_at(at(12_001)), Some(over));
        assert_eq!(refusals.works_at(at(20_000)), None, "it is told once");
        assert_eq!(refusals.refused_at(at(20_001)), Some(Line::Begins));
    }
}
