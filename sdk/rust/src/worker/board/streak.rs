//! Failures in a row of one kind of call, and when to tell of them.

use super::Trouble;

/// A broken connection is told of at this failure in a row: proxies and servers close connections
/// that are idle, and then the repeat succeeds at once.
const BROKEN_TOLD_AT: u32 = 2;

#[derive(Debug, Default)]
pub(super) struct Streak {
    failures: u32,
    told: bool,
}

impl Streak {
    /// Takes in a failure; says whether to tell of it, which is once in a row.
    pub(super) fn failed(&mut self, trouble: &Trouble) -> bool {
        self.failures += 1;
        let tell = !self.told && (!trouble.is_broken() || self.failures >= BROKEN_TOLD_AT);
        self.told |= tell;
        tell
    }

    /// Takes in an answer.
    pub(super) fn answered(&mut self) {
        *self = Self::default();
    }

    /// How many calls in a row have failed.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::{broken, trouble};
    use super::*;

    /// Plays calls, `-` broken, `5` and `4` answered with 503 and 401, `.` well; `!` in `wanted`
    /// stands where trouble is told.
    fn check(calls: &str, wanted: &str) {
        let mut streak = Streak::default();
        let mut step = |call| match call {
            '.' => {
                streak.answered();
                false
            }
            '5' => streak.failed(&trouble(503)),
            '4' => streak.failed(&trouble(401)),
            _ => streak.failed(&broken()),
        };
        let told: String = calls.chars().map(|call| if step(call) { '!' } else { ' ' }).collect();
        assert_eq!(told, wanted, "{calls}");
    }

    #[test]
    fn a_broken_connection_is_told_when_its_repeat_fails_too() {
        check("-.-.-.", "      ");
        check("---.--", " !   !");
        check("5-5.5", "!   !");
        check("-5-", " ! ");
        check("4.-4", "!  !");
    }
}
