//! Every number of a create, at its bounds and beyond: the table of the reference.

use halyard_core::admission::{Application, BackoffWish, Due, NewJob, admit};
use halyard_core::limits::DAY;

use crate::admission::application;
use crate::nouns::{NOW, id};

/// A member: how it is sent, how it is read back, its least and its greatest value.
#[track_caller]
fn check(
    field: &str,
    send: impl Fn(&mut Application<'_>, i64),
    read: impl Fn(&NewJob) -> i64,
    least: i64,
    greatest: i64,
) {
    let sent = |number| {
        let mut application = application();
        send(&mut application, number);
        admit(application, id(1), 30 * DAY, NOW)
    };
    for number in [least, greatest, i64::midpoint(least, greatest)] {
        assert_eq!(sent(number).map(|job| read(&job)), Ok(number), "{field}");
    }
    // The last one would fit if it were cut to 32 bits.
    let bad = [least - 1, greatest + 1, i64::MIN, i64::MAX, i64::from(u32::MAX) + 1 + least];
    for number in bad.into_iter().filter(|number| !(least..=greatest).contains(number)) {
        let faults = sent(number).expect_err(field);
        assert_eq!(faults.len(), 1, "{faults:?}");
        let fault = &faults[0];
        assert_eq!((&*fault.field, fault.too_large), (field, false));
        let names_all =
            [number, least, greatest].iter().all(|it| fault.message.contains(&it.to_string()));
        assert!(names_all, "{}", fault.message);
    }
}

#[test]
fn integers() {
    let ttl = 400 * DAY;
    let is_after = |job: &NewJob| match job.due {
        Due::After(ms) => ms,
        Due::Now | Due::At(_) => -1,
    };
    check("priority", |it, n| it.priority = Some(n), |it| it.priority.into(), -100, 100);
    check("max_attempts", |it, n| it.max_attempts = Some(n), |it| it.max_attempts.into(), 1, 100);
    check("max_crashes", |it, n| it.max_crashes = Some(n), |it| it.max_crashes.into(), 1, 100);
    check("timeout_ms", |it, n| it.timeout_ms = Some(n), |it| it.timeout_ms, 100, 86_400_000);
    check(
        "idempotency_ttl_ms",
        |it, n| it.idempotency_ttl_ms = Some(n),
        |it| it.key_ttl_ms,
        60_000,
        ttl,
    );
    check("delay_ms", |it, n| it.delay_ms = Some(n), is_after, 0, 400 * DAY);
    check(
        "backoff/initial_ms",
        |it, n| it.backoff.initial_ms = Some(n),
        |it| it.backoff.initial_ms,
        0,
        86_400_000,
    );
    check(
        "backoff/max_ms",
        |it, n| it.backoff.max_ms = Some(n),
        |it| it.backoff.max_ms,
        0,
        604_800_000,
    );
}

/// Field, how it is sent, least and greatest value.
type Share = (&'static str, fn(f64) -> BackoffWish, f64, f64);

#[test]
fn shares() {
    let table: [Share; 2] = [
        ("backoff/factor", |n| BackoffWish { factor: Some(n), ..Default::default() }, 1.0, 10.0),
        ("backoff/jitter", |n| BackoffWish { jitter: Some(n), ..Default::default() }, 0.0, 1.0),
    ];
    for (field, wish, least, greatest) in table {
        let sent =
            |number| admit(Application { backoff: wish(number), ..application() }, id(1), DAY, NOW);
        for number in [least, greatest, (least + greatest) / 2.0] {
            assert!(sent(number).is_ok(), "{field} {number}");
        }
        let bad = [
            least - 0.001,
            greatest + 0.001,
            -1.0,
            1e300,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        for number in bad {
            let faults = sent(number).expect_err(field);
            assert_eq!((faults.len(), &*faults[0].field), (1, field), "{number}");
        }
    }
}

/// A `run_at` that was sent, when the job is due then, and whether it waits.
#[track_caller]
fn check_run_at(run_at: i64, due: Option<i64>) {
    let admitted = admit(Application { run_at: Some(run_at), ..application() }, id(1), DAY, NOW);
    match (admitted, due) {
        (Ok(job), Some(due)) => {
            let job = job.begin(1, NOW);
            let state = if due > NOW {
                halyard_core::job::State::Scheduled
            } else {
                halyard_core::job::State::Queued
            };
            assert_eq!((job.run_at, job.state), (due, state), "{run_at}");
            job.assert_sound();
        }
        (Err(faults), None) => {
            assert_eq!(&*faults[0].field, "run_at");
            assert!(faults[0].message.contains("400 days"), "{faults:?}");
        }
        (admitted, due) => panic!("{run_at}: {due:?} expected, {admitted:?} given"),
    }
}

#[test]
fn odd_points_in_time() {
    for past in [i64::MIN, -1, 0, NOW - 1] {
        check_run_at(past, Some(NOW));
    }
    check_run_at(NOW, Some(NOW));
    check_run_at(NOW + 1, Some(NOW + 1));
    check_run_at(NOW + 400 * DAY, Some(NOW + 400 * DAY));
    check_run_at(NOW + 400 * DAY + 1, None);
    check_run_at(i64::MAX, None);
    let both = Application { run_at: Some(NOW), delay_ms: Some(0), ..application() };
    let faults = admit(both, id(1), DAY, NOW).expect_err("both");
    assert_eq!((faults.len(), &*faults[0].field), (1, "delay_ms"));
    // A clock that is wrong by far does not make arithmetic wrong.
    let late = admit(Application { delay_ms: Some(1), ..application() }, id(1), DAY, i64::MAX);
    assert_eq!(late.map(|job| job.begin(1, i64::MAX).run_at), Ok(i64::MAX));
}
