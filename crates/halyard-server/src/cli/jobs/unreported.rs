//! Starts that ended without a report.

use halyard::api::job::{Attempt, Checkpoint};
use halyard::api::state::AttemptState;

use super::super::screen::clean;

/// What nobody knows of a start that ended without a report: unknown is not failed.
pub(super) fn note(attempt: &Attempt, checkpoints: &[Checkpoint]) -> Option<String> {
    if !matches!(attempt.state, AttemptState::Lost | AttemptState::TimedOut) {
        return None;
    }
    let last = checkpoints.iter().rfind(|checkpoint| checkpoint.start <= attempt.start);
    let after = last.map_or_else(
        || "it saved no checkpoint, and any of its effects may have happened".to_owned(),
        |last| {
            format!("its effects after the checkpoint `{}` may have happened", clean(&last.name))
        },
    );
    Some(format!("start {} ended without a report: {after}", attempt.start))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use serde_json::json;

    use super::*;

    fn attempt(start: u64, state: &str) -> Attempt {
        let attempt = json!({
            "id": "att_1", "life": 1, "attempt": start, "start": start, "state": state,
            "worker": "wrk_1", "queued_at": null, "started_at": "2026-11-29T08:16:00.000Z",
            "finished_at": null, "error": null, "retry_delay_ms": null, "retry_reason": null,
        });
        serde_json::from_value(attempt).unwrap()
    }

    fn checkpoint(name: &str, start: u64) -> Checkpoint {
        let checkpoint = json!({
            "name": name, "value": null, "life": 1, "attempt": start, "start": start,
            "created_at": "2026-11-29T08:16:30.000Z",
        });
        serde_json::from_str(&checkpoint.to_string()).unwrap()
    }

    #[test]
    fn what_is_unknown_of_a_start() {
        let saved = [checkpoint("a", 1), checkpoint("b", 3)];
        for (start, state, saved, expected) in [
            (1, "completed", &saved[..], None),
            (1, "failed", &saved, None),
            (1, "running", &saved, None),
            (2, "released", &saved, None),
            (
                1,
                "lost",
                &saved,
                Some(
                    "start 1 ended without a report: its effects after the \
                checkpoint `a` may have happened",
                ),
            ),
            (
                2,
                "timed_out",
                &saved,
                Some(
                    "start 2 ended without a report: its effects after the \
                checkpoint `a` may have happened",
                ),
            ),
            (
                3,
                "lost",
                &saved,
                Some(
                    "start 3 ended without a report: its effects after the \
                checkpoint `b` may have happened",
                ),
            ),
            (
                3,
                "lost",
                &[],
                Some(
                    "start 3 ended without a report: it saved no checkpoint, and any \
                of its effects may have happened",
                ),
            ),
        ] {
            assert_eq!(note(&attempt(start, state), saved).as_deref(), expected);
        }
    }
}
