//! The worker as a whole: every test plays a course of events and looks at what the worker does
//! about each.

use std::time::Duration;

use halyard_api::Timestamp;
use halyard_api::jobs::finish::FinishStatus;
use halyard_api::jobs::heartbeat::HeartbeatStatus;
use halyard_api::state::{Outcome, State};

use super::course::{Course, SECOND, broken, claimed_job, done, trouble};
use super::*;
use crate::worker::verdict::Failure;

#[test]
fn claims_only_what_can_start() {
    let mut course = Course::new(3);
    assert_eq!(course.poll(), ["claim 3 for 20s as wrk_1:1"]);
    assert!(course.poll().is_empty(), "one claim at a time");
    course.claimed(1, 2);
    assert_eq!(course.poll(), ["start 1", "start 2", "claim 1 for 20s as wrk_1:2"]);
    course.claimed(2, 1);
    assert_eq!(course.poll(), ["start 3"], "nothing is claimed for later");
    course.ended(1, done());
    course.ended(3, Ending::Failed(Failure::default()));
    assert_eq!(
        course.poll(),
        ["failed job_3", "claim 2 for 20s as wrk_1:3", "report job_1=completed job_3=failed"]
    );
}

#[test]
fn a_failure_that_is_not_reported_as_one_is_not_told_as_one() {
    let mut course = Course::running(2, 2);
    course.handle(Event::Told { slot: 1, reason: AbortReason::Cancelled });
    course.ended(1, Ending::Failed(Failure::default()));
    course.handle(Event::Told { slot: 2, reason: AbortReason::LeaseLost });
    course.ended(2, Ending::Failed(Failure::default()));
    let told = course.poll();
    assert!(!told.iter().any(|done| done.starts_with("failed")), "{told:?}");
    assert!(told.contains(&"lost job_2".to_owned()), "{told:?}");
}

#[test]
fn reports_that_nobody_takes_stop_the_claims() {
    let mut course = Course::running(1, 1);
    course.ended(1, done());
    assert_eq!(course.poll(), ["claim 1 for 20s as wrk_1:2", "report job_1=completed"]);
    course.claimed(2, 1);
    course.poll();
    course.ended(2, done());
    assert!(course.poll().is_empty());
    course.reported(&[FinishStatus::Ok]);
    assert_eq!(course.poll(), ["claim 1 for 20s as wrk_1:3", "report job_2=completed"]);
}

#[test]
fn a_job_whose_lease_may_be_over_is_not_started() {
    for (later_ms, still, looks, starts) in [
        // The times of this one count from the claim.
        (1, 61, false, false),
        (0, 61, false, false),
        // The clock is looked at before the answer is read.
        (0, 61, true, false),
        (0, 50, true, true),
    ] {
        let mut course = Course::new(1);
        let (sent, mut done) = (course.now, course.poll());
        // The answer came now, and is read by a process that was frozen meanwhile.
        course.now += still * SECOND;
        if looks {
            done.extend(course.poll());
            course.now += SECOND / 1_000;
        }
        let mut job = claimed_job(1);
        job.started_at = Some(Timestamp::from_ms(0));
        job.lease.deadline_in_ms += later_ms;
        course.handle(Event::Claimed { number: 1, sent, answer: Ok(vec![job]) });
        done.extend(course.poll());
        assert_eq!(done.contains(&"start 1".to_owned()), starts, "{done:?}");
        assert_eq!(done.contains(&"report job_1=released".to_owned()), !starts, "{done:?}");
        // What is left of its lease counts from when it came.
        let later = course.pass(11 * SECOND);
        assert_eq!(later.contains(&"lost job_1".to_owned()), starts, "{later:?}");
    }
}

#[test]
fn times_count_from_the_answer_when_the_worker_has_gone_on_all_the_time() {
    let mut course = Course::new(1);
    let sent = course.now;
    course.poll();
    course.pass(19 * SECOND);
    let mut job = claimed_job(1);
    job.started_at = Some(Timestamp::from_ms(0));
    course.handle(Event::Claimed { number: 1, sent, answer: Ok(vec![job]) });
    assert_eq!(course.poll(), ["start 1"]);
    assert!(!course.pass(59 * SECOND).contains(&"lost job_1".to_owned()));
    assert!(course.pass(SECOND).contains(&"lost job_1".to_owned()));
}

#[test]
fn a_claim_is_repeated_under_its_id() {
    let mut course = Course::new(1);
    course.poll();
    for (number, status, told) in [(1, 503, true), (2, 500, false)] {
        let answer = Err(trouble(status));
        course.handle(Event::Claimed { number, sent: course.now, answer });
        let done = course.pass(SECOND);
        let claim = "claim 1 for 20s as wrk_1:1 again".to_owned();
        let told = told.then(|| format!("trouble Some({status})"));
        assert_eq!(done, told.into_iter().chain([claim]).collect::<Vec<_>>());
    }
    course.claimed(1, 1);
    assert!(course.poll().is_empty(), "an answer that came too late");
    course.claimed(3, 0);
    assert_eq!(course.pass(SECOND), ["idle", "claim 1 for 20s as wrk_1:4"]);
}

#[test]
fn a_refused_claim_is_not_repeated_at_once() {
    let mut course = Course::new(1);
    course.poll();
    course.handle(Event::Claimed { number: 1, sent: course.now, answer: Err(trouble(401)) });
    assert_eq!(course.pass(SECOND / 2), ["trouble Some(401)"]);
    assert_eq!(course.pass(SECOND / 2), ["claim 1 for 20s as wrk_1:2"]);
}

/// A proxy closed the connection while it was idle.
#[test]
fn a_broken_connection_is_told_only_when_the_repeat_fails_too() {
    let mut course = Course::running(1, 1);
    course.pass(Duration::from_secs(10));
    let mut told = Vec::new();
    for answered in [true, false] {
        course.handle(Event::Beaten { sent: course.now, answer: Err(broken()) });
        told.extend(course.pass(SECOND / 10));
        if answered {
            course.beaten(&[(HeartbeatStatus::Ok, false)]);
            told.extend(course.pass(Duration::from_secs(10)));
        }
    }
    assert_eq!(told, ["beat job_1", "beat job_1", "beat job_1"]);
    course.handle(Event::Beaten { sent: course.now, answer: Err(broken()) });
    course.ended(1, done());
    assert_eq!(
        course.poll(),
        ["trouble None", "claim 1 for 20s as wrk_1:2", "report job_1=completed"]
    );
    for told in [&[] as &[&str], &["trouble None"], &[]] {
        course.handle(Event::Reported { answer: Err(broken()) });
        assert_eq!(course.poll(), told);
        assert!(course.pass(SECOND).contains(&"report job_1=completed".to_owned()));
    }
}

#[test]
fn leases_are_renewed_together() {
    let mut course = Course::running(3, 2);
    assert_eq!(course.pass(Duration::from_secs(10)), ["beat job_1 job_2"]);
    course.claimed(2, 1);
    course.poll();
    assert!(course.pass(SECOND).is_empty(), "one heartbeat at a time");
    course.beaten(&[(HeartbeatStatus::Ok, false); 2]);
    assert_eq!(course.pass(Duration::from_secs(9)), ["beat job_1 job_2 job_3"]);
    course.beaten(&[(HeartbeatStatus::Ok, false); 3]);
    course.pass(Duration::from_secs(4));
    course.ended(3, done());
    assert_eq!(course.poll(), ["claim 1 for 20s as wrk_1:3", "report job_3=completed"]);
    course.pass(Duration::from_secs(2));
    course.claimed(3, 1);
    course.poll();
    let next = course.pass(Duration::from_secs(4));
    assert_eq!(next, ["beat job_1 job_2 job_3"], "also a report that nobody takes, not a new job");
}

#[test]
fn a_report_under_way_is_not_crossed_by_a_heartbeat() {
    let mut course = Course::running(1, 1);
    course.pass(Duration::from_millis(9_999));
    course.ended(1, done());
    course.poll();
    assert!(course.pass(Duration::from_millis(500)).is_empty());
    assert_eq!(course.pass(Duration::from_millis(500)), ["beat job_1"], "it is not answered");
}

#[test]
fn a_worker_whose_runtime_is_gone_ends() {
    let mut course = Course::running(2, 2);
    course.poll();
    course.ended(1, Ending::Dropped);
    course.ended(2, Ending::Dropped);
    let done = course.poll();
    assert!(done.contains(&"report job_1=released job_2=released".to_owned()), "{done:?}");
    assert!(!done.iter().any(|word| word.starts_with("claim")), "{done:?}");
}

#[test]
fn a_failed_heartbeat_is_repeated_until_the_lease_has_lapsed() {
    let mut course = Course::running(1, 1);
    course.pass(Duration::from_secs(10));
    let mut told = Vec::new();
    let mut beats = 0;
    course.handle(Event::Beaten { sent: course.now, answer: Err(trouble(503)) });
    for _ in 0..100 {
        let done = course.pass(SECOND / 2);
        if done.contains(&"beat job_1".to_owned()) {
            course.handle(Event::Beaten { sent: course.now, answer: Err(trouble(503)) });
            beats += 1;
        }
        told.extend(done.into_iter().filter(|word| word != "beat job_1"));
    }
    assert!(beats >= 20, "{beats}");
    assert_eq!(told, ["trouble Some(503)", "lost job_1", "abort 1: its lease is lost"]);
    // The server was away, and gave the lease a fresh length: the job need not wait for its end.
    course.ended(1, done());
    assert!(course.poll().contains(&"report job_1=released".to_owned()));
}

#[test]
fn a_lost_lease_throws_the_result_away() {
    let mut course = Course::running(1, 1);
    course.pass(Duration::from_secs(10));
    course.beaten(&[(HeartbeatStatus::LeaseLost, false)]);
    assert_eq!(course.poll(), ["lost job_1", "abort 1: its lease is lost"]);
    assert_eq!(course.pass(Duration::from_secs(5)), ["drop 1"], "patience has an end");
    course.ended(1, done());
    assert_eq!(course.poll(), ["claim 1 for 20s as wrk_1:2"], "and nothing is reported");
}

#[test]
fn at_the_deadline_nothing_is_reported() {
    let mut course = Course::running(1, 1);
    let mut done_so_far = Vec::new();
    for _ in 0..90 {
        done_so_far.extend(course.pass(Duration::from_secs(10)));
        course.beaten(&[(HeartbeatStatus::Ok, false)]);
    }
    let last = done_so_far.split_off(done_so_far.len() - 2);
    assert!(done_so_far.iter().all(|word| word == "beat job_1"), "{done_so_far:?}");
    assert_eq!(last, ["lost job_1", "abort 1: its time is up"]);
    course.ended(1, done());
    assert_eq!(course.poll(), ["claim 1 for 20s as wrk_1:2"]);
}

#[test]
fn a_cancel_is_reported_whatever_the_handler_returns() {
    for ending in [done(), Ending::Failed(Failure::default()), Ending::Dropped] {
        let mut course = Course::running(1, 1);
        course.handle(Event::Told { slot: 1, reason: AbortReason::Cancelled });
        assert_eq!(course.poll(), ["cancelled job_1", "abort 1: it was cancelled"]);
        course.handle(Event::Told { slot: 1, reason: AbortReason::Cancelled });
        assert!(course.poll().is_empty(), "told once");
        course.ended(1, ending);
        assert!(course.poll().contains(&"report job_1=cancelled".to_owned()));
    }
}

#[test]
fn a_cancel_in_a_heartbeat() {
    let mut course = Course::running(1, 1);
    course.pass(Duration::from_secs(10));
    course.beaten(&[(HeartbeatStatus::Ok, true)]);
    assert_eq!(course.poll(), ["cancelled job_1", "abort 1: it was cancelled"]);
}

#[test]
fn a_result_that_the_server_refused_is_told_as_a_failure() {
    let failed = || Ending::Failed(Failure::default());
    for (ending, state, repeated, told) in [
        (done(), State::Failed, false, vec!["failed job_1"]),
        (done(), State::Completed, false, vec![]),
        // A repeat is answered with what the job is by now.
        (done(), State::Failed, true, vec![]),
        (failed(), State::Failed, false, vec![]),
    ] {
        let mut course = Course::running(1, 1);
        course.ended(1, ending);
        course.poll();
        course.settled(state, repeated);
        assert_eq!(course.poll(), told);
    }
}

#[test]
fn a_late_report_is_told() {
    for status in [FinishStatus::LeaseLost, FinishStatus::Conflict, FinishStatus::NotFound] {
        let mut course = Course::running(1, 1);
        course.ended(1, done());
        course.poll();
        course.reported(&[status]);
        assert_eq!(course.poll(), ["lost job_1"], "and the report is not sent again");
        assert!(course.board.held.is_empty());
    }
}

#[test]
fn idle_is_told_once() {
    let mut course = Course::new(1);
    assert_eq!(course.pass(SECOND), ["claim 1 for 20s as wrk_1:1", "idle"]);
    assert!(course.pass(SECOND).is_empty());
    course.claimed(1, 1);
    assert_eq!(course.pass(SECOND), ["start 1"]);
    course.ended(1, done());
    course.poll();
    course.reported(&[FinishStatus::Ok]);
    assert_eq!(course.pass(SECOND), ["idle"]);
}

#[test]
fn a_worker_without_jobs_ends_at_once() {
    let mut course = Course::new(1);
    course.poll();
    course.handle(Event::Stop);
    assert_eq!(course.poll(), ["hang up", "claim 1 for 0ns as wrk_1:1 again", "beat draining"]);
    course.claimed(2, 1);
    course.beaten(&[]);
    assert_eq!(course.poll(), ["report job_1=released"], "what the lost answer had leased");
    course.reported(&[FinishStatus::Ok]);
    course.poll();
    assert!(course.board.is_done());
}

#[test]
fn a_server_that_is_away_does_not_hold_up_the_end() {
    let mut course = Course::new(1);
    course.poll();
    course.handle(Event::Claimed { number: 1, sent: course.now, answer: Err(trouble(503)) });
    course.handle(Event::Stop);
    course.poll();
    course.handle(Event::Beaten { sent: course.now, answer: Err(trouble(503)) });
    for number in 2..=3 {
        course.handle(Event::Claimed { number, sent: course.now, answer: Err(trouble(503)) });
        course.pass(SECOND);
    }
    assert!(course.board.is_done());
}

#[test]
fn handlers_get_their_time_when_the_worker_ends() {
    let mut course = Course::running(2, 2);
    course.handle(Event::Stop);
    assert_eq!(course.poll(), ["beat draining"]);
    course.beaten(&[]);
    course.ended(1, done());
    assert_eq!(course.poll(), ["report job_1=completed"]);
    course.reported(&[FinishStatus::Ok]);
    let waiting = course.pass(Duration::from_secs(24));
    assert_eq!(waiting, ["beat job_2 draining"], "its lease is kept meanwhile");
    assert_eq!(course.pass(SECOND), ["abort 2: its worker ends"]);
    assert_eq!(course.pass(SECOND), ["drop 2", "drop 2", "report job_2=released"]);
    course.ended(2, done());
    assert!(course.poll().is_empty(), "what came too late is thrown away");
    course.reported(&[FinishStatus::Ok]);
    course.beaten(&[(HeartbeatStatus::Ok, false)]);
    course.poll();
    assert!(course.board.is_done());
}

#[test]
fn the_end_has_an_end() {
    let mut course = Course::running(1, 1);
    course.handle(Event::Stop);
    let start = course.now;
    while !course.board.is_done() {
        for word in course.pass(Duration::from_millis(500)) {
            if word.starts_with("beat") {
                course.handle(Event::Beaten { sent: course.now, answer: Err(trouble(503)) });
            } else if word.starts_with("report") {
                course.handle(Event::Reported { answer: Err(trouble(503)) });
            }
        }
        assert!(course.now - start < Duration::from_secs(30), "a process manager would kill");
    }
}

#[test]
fn a_snooze_keeps_within_its_limits() {
    for (delay, expected) in [
        (Duration::ZERO, 1_000),
        (Duration::from_secs(90), 90_000),
        (Duration::MAX, 30 * 86_400_000),
    ] {
        let mut course = Course::running(1, 1);
        course.ended(1, Ending::Snoozed(delay));
        let actions = course.board.poll(course.now);
        let report = actions.iter().find_map(|action| match action {
            Action::Report { reports } => reports.first(),
            _ => None,
        });
        let report = report.map(|report| (report.outcome, report.delay_ms));
        assert_eq!(report, Some((Outcome::Snoozed, Some(expected))));
    }
}
