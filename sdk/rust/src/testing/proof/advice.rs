//! What to do about a finding, as far as the runs have shown it.

use serde_json::Value;

use super::point::Point;
use super::ways::{Course, Way};

/// Whether there is too much of an effect, too little, or something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    More,
    Less,
    Other,
}

/// A sentence on how to mend it; `None` when the runs do not show a cause.
pub(super) fn on_effect(
    way: &Way,
    course: &Course,
    expected: &Value,
    got: &Value,
) -> Option<String> {
    let amount = amount(expected, got);
    match way {
        Way::Killed(point)
        | Way::KilledTwice(point)
        | Way::LastKilled(point)
        | Way::RecoveryKilled(_, point) => after_kill(point, course, amount),
        Way::Overlapping(_) if amount == Amount::More => Some(
            "two runs at once both found that it was not done yet; a look beforehand cannot tell, \
             so let what is written decide: a unique constraint, or a key that the provider knows"
                .to_owned(),
        ),
        Way::Twice | Way::ByHand if amount == Amount::More => Some(
            "the second run did it all again; make the write an upsert under a unique constraint, \
             and give every outside call a key: job.id, or job.key_for(name)"
                .to_owned(),
        ),
        _ => None,
    }
}

fn after_kill(point: &Point, course: &Course, amount: Amount) -> Option<String> {
    let again = course.second.contains(point);
    match amount {
        Amount::Less if point.is_after_checkpoint() => Some(format!(
            "the run after the kill took the work for done; write the checkpoint after its work, \
             not before it (the kill was {point})"
        )),
        Amount::Less => Some(format!(
            "the kill {point} came before the work was done, and the next run took it for done; \
             record it after it is done, not before"
        )),
        Amount::More | Amount::Other if again => Some(format!(
            "the next run did it again and came by once more ({point}); what it did had no key, or \
             another key each time: pass job.id, or job.key_for(name)"
        )),
        Amount::More | Amount::Other => None,
    }
}

/// A sentence for a handler that does not come to an end any more.
pub(super) fn on_never(way: &Way) -> Option<String> {
    let killed = match way {
        Way::Killed(point)
        | Way::KilledTwice(point)
        | Way::LastKilled(point)
        | Way::RecoveryKilled(_, point) => point,
        _ => return None,
    };
    Some(format!(
        "the run that was killed {killed} left something that stops the next one; a process that \
         dies runs no destructor and no `finally`, so what marks work as begun must end by itself \
         or be taken over"
    ))
}

/// For a clean run that fails where it was to complete.
pub(super) const ON_FAILED: &str = "a job that fails did nothing that could be done twice; correct \
    the payload, or what `reset` leaves in the world, so that the handler completes; if the job is \
    to fail, say so with `.expect_failure(true)`";

/// For a clean run that completes where it was to fail.
pub(super) const ON_COMPLETED: &str =
    "correct the payload, so that the handler refuses it; or take `expect_failure` away";

fn amount(expected: &Value, got: &Value) -> Amount {
    let order = match (expected, got) {
        (Value::Array(expected), Value::Array(got)) => Some(got.len().cmp(&expected.len())),
        (Value::Number(expected), Value::Number(got)) => got
            .as_f64()
            .zip(expected.as_f64())
            .and_then(|(got, expected)| got.partial_cmp(&expected)),
        _ => None,
    };
    match order {
        Some(std::cmp::Ordering::Greater) => Amount::More,
        Some(std::cmp::Ordering::Less) => Amount::Less,
        _ => Amount::Other,
    }
}
