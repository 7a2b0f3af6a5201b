//! Who may write a checkpoint, what wins, and how much room there is: semantics, section 4.

use halyard_core::checkpoint::{Checkpoint, Standing, Written, write};
use halyard_core::job::{Attempt, Job};
use halyard_core::limits::{CHECKPOINT_BYTES_MAX, CHECKPOINTS_BYTES_MAX, CHECKPOINTS_MAX};
use halyard_core::outcome::{self, Report};
use halyard_json::Text;

use crate::nouns::{MINUTE, NOW, completed, failed, running, text};

fn known(value: &str) -> Checkpoint {
    let value = text(value);
    Checkpoint { name: "c".into(), value, life: 1, attempt: 1, start: 1, created_at: NOW - 5 }
}

fn kind(written: &Written) -> &'static str {
    match written {
        Written::New { .. } => "new",
        Written::Repeated { .. } => "repeated",
        Written::Conflict(_) => "conflict",
        Written::LeaseLost => "lost",
        Written::TooLarge(_) => "too large",
        Written::NotFound => "not found",
    }
}

/// What a write of `1` gets: nothing known, `1.0` known, `2` known.
#[track_caller]
fn check(standing: Standing, answers: [&str; 3]) {
    for (before, expected) in [None, Some("1.0"), Some("2")].into_iter().zip(answers) {
        let mut job = running();
        let untouched = job.clone();
        let before = before.map(known);
        let written = write(&mut job, standing, before.clone(), "c", text("1"), NOW);
        assert_eq!(kind(&written), expected, "{standing:?}, {before:?}");
        match written {
            Written::Repeated { checkpoint, .. } | Written::Conflict(checkpoint) => {
                assert_eq!(Some(checkpoint), before, "the first is answered");
            }
            _ => {}
        }
        assert_eq!(job == untouched, expected != "new", "{standing:?}: only a new one counts");
    }
}

#[test]
fn first_write_wins_and_a_dead_token_writes_nothing() {
    check(Standing::Live, ["new", "repeated", "conflict"]);
    check(Standing::Reported, ["lost", "repeated", "lost"]);
    check(Standing::Dead, ["lost", "lost", "lost"]);
}

#[test]
fn how_a_token_stands() {
    let record = |report: Option<Report>| -> Option<Attempt> {
        let mut job = running();
        let ended = match report {
            Some(report) => outcome::report(&mut job, report, NOW, 0.5).1.attempt,
            None => outcome::lapse(&mut job, NOW + MINUTE, 0.5),
        };
        ended.or_else(|| job.newest_attempt(None))
    };
    assert_eq!(Standing::of(running().newest_attempt(None).as_ref()), Standing::Live);
    for report in [completed("1"), failed(), Report::Released, Report::Snoozed { delay_ms: 1 }] {
        assert_eq!(Standing::of(record(Some(report)).as_ref()), Standing::Reported);
    }
    assert_eq!(Standing::of(record(None).as_ref()), Standing::Dead, "it lapsed");
    assert_eq!(Standing::of(None), Standing::Dead, "nobody's");
}

#[test]
fn a_new_one_says_who_wrote_it_and_is_progress() {
    let mut job = running();
    (job.life, job.attempt, job.crashes, job.releases, job.snoozes) = (3, 2, 1, 7, 9);
    job.starts = 5;
    job.cancel_requested = true;
    let written = write(&mut job, Standing::Live, None, "шаг", text("[1]"), NOW + 7);
    let Written::New { checkpoint, cancel_requested: true } = written else {
        panic!("{written:?}");
    };
    assert_eq!((&*checkpoint.name, checkpoint.value.as_str()), ("шаг", "[1]"));
    assert_eq!((checkpoint.life, checkpoint.attempt, checkpoint.start), (3, 2, 5));
    assert_eq!(checkpoint.created_at, NOW + 7);
    assert_eq!((job.checkpoints, job.checkpoints_bytes), (1, 3));
    assert_eq!((job.crashes, job.releases, job.snoozes), (0, 0, 0));
}

/// Bytes of a value, checkpoints and bytes that are there already.
#[track_caller]
fn check_room(bytes: usize, count: u32, sum: usize, fits: bool) {
    let mut job: Job = running();
    (job.checkpoints, job.checkpoints_bytes) = (count, sum as u64);
    let value = Text::trusted(format!("\"{}\"", "x".repeat(bytes - 2)));
    let written = write(&mut job, Standing::Live, None, "c", value, NOW);
    assert_eq!(kind(&written), if fits { "new" } else { "too large" });
    if let Written::TooLarge(sentence) = written {
        assert!(sentence.contains("may have"), "{sentence}");
    }
}

#[test]
fn a_job_has_room_for_so_much() {
    check_room(CHECKPOINT_BYTES_MAX, 0, 0, true);
    check_room(CHECKPOINT_BYTES_MAX + 1, 0, 0, false);
    check_room(2, CHECKPOINTS_MAX - 1, 0, true);
    check_room(2, CHECKPOINTS_MAX, 0, false);
    check_room(10, 1, CHECKPOINTS_BYTES_MAX - 10, true);
    check_room(11, 1, CHECKPOINTS_BYTES_MAX - 10, false);
}
