//! A wall clock that is set while jobs run and wait, and while the server is down.

use std::time::{Duration, Instant};

use halyard_tests::fake_clock::FakeClock;
use halyard_tests::server::{Server, Setup};
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::acting::{
    Claimed, beat, claim, claim_one, completed, create, finish, finish_ok, id, job, no_backoff,
    pass,
};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const LEASE_MS: u64 = 5_000;

/// The least that a duration may take which was asked for: the server's clock is slewed by 1 %.
fn nearly(ms: u64) -> Duration {
    Duration::from_millis(ms * 95 / 100)
}

/// Two running jobs: one whose worker renews its lease, and one whose worker does not.
struct Running {
    kept: Claimed,
    left: Claimed,
    /// Just before they were claimed.
    since: Instant,
}

impl Running {
    fn begin(client: &mut Client) -> Self {
        for task in ["kept", "left"] {
            create(client, &json!({"task": task, "backoff": no_backoff()}));
        }
        let since = Instant::now();
        let [kept, left] = ["kept", "left"]
            .map(|task| claim_one(client, &json!({"tasks": [task], "lease_ms": LEASE_MS})));
        Self { kept, left, since }
    }

    /// The lease that is renewed lives on. The other one ends, not before its length has passed
    /// since the clock was set, if that is a reason for a fresh lease, or since it was given.
    fn go_on(self, client: &mut Client, fresh_since: Option<Instant>) {
        let mut waiter = client.clone();
        let waiting = std::thread::spawn(move || {
            let again = claim_one(&mut waiter, &json!({"tasks": ["left"]}));
            (again, Instant::now())
        });
        while !waiting.is_finished() {
            let result = beat(client, &self.kept, LEASE_MS);
            assert_eq!(result["status"], "ok", "a lease ended early: {result}");
            assert_eq!(claim(client, &json!({"tasks": ["kept"], "wait_ms": 200})).len(), 0);
        }
        let (again, at) = waiting.join().unwrap();
        let since = fresh_since.unwrap_or(self.since);
        let lived = at.duration_since(since);
        assert!(lived >= nearly(LEASE_MS), "the lease ended after {lived:?}");
        assert_eq!((&again.job["id"], &again.job["starts"]), (&json!(self.left.id), &json!(2)));
        assert_eq!(finish(client, &self.left, &completed(json!(1)))["status"], "lease_lost");
        finish_ok(client, &again, &completed(json!(2)));
        finish_ok(client, &self.kept, &completed(json!(null)));
        assert_eq!(job(client, &self.kept.id)["starts"], 1);
    }
}

/// Waits for the job of this task, which must not be there sooner than so long after `since`.
fn comes_after(client: &mut Client, task: &str, since: Instant, ms: u64) {
    let lease = claim_one(client, &json!({"tasks": [task]}));
    let waited = since.elapsed();
    assert!(waited >= nearly(ms), "{task} came after {waited:?} and not after {ms} ms");
    finish_ok(client, &lease, &completed(json!(null)));
}

/// The hours since 1970 of a time that the server told.
fn hours(time: &Value) -> i64 {
    let text = time.as_str().unwrap();
    let part = |from: usize, to: usize| text[from..to].parse::<i64>().unwrap();
    let (year, month, day) = (part(0, 4), part(5, 7), part(8, 10));
    // Days from a date, with the year beginning in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    days * 24 + part(11, 13)
}

/// Case 52 · Clock jumps, while the server runs
fn jumps(seconds: i64) {
    let clock = FakeClock::new();
    let server = clock.show_to(Setup::new()).start();
    let mut client = server.client();
    let created = Instant::now();
    let before = create(&mut client, &json!({"task": "soon", "delay_ms": 4000}));
    let later = json!({"task": "later", "delay_ms": 2 * DAY * 1000});
    let later = id(&create(&mut client, &later));
    let running = Running::begin(&mut client);
    pass(Duration::from_millis(1500));
    clock.set(seconds);
    let jumped = Instant::now();

    // A step forth is followed, as after a suspend; one back is not.
    let forth = seconds > 0;
    let mut other = server.client();
    std::thread::scope(|scope| {
        scope.spawn(|| running.go_on(&mut other, forth.then_some(jumped)));
        let after = create(&mut client, &json!({"task": "after", "delay_ms": 3000}));
        let moved = hours(&after["created_at"]) - hours(&before["created_at"]);
        let expected = if forth { seconds / HOUR } else { 0 };
        assert!((expected..=expected + 1).contains(&moved), "{before} {after}");
        // What was to come in 4 s has come when an hour is over.
        comes_after(&mut client, "soon", created, if forth { 0 } else { 4000 });
        comes_after(&mut client, "after", jumped, 3000);
        assert_eq!(job(&mut client, &later)["state"], "scheduled");

        create(&mut client, &json!({"task": "retried", "backoff": no_backoff()}));
        let lease = claim_one(&mut client, &json!({"tasks": ["retried"]}));
        let failed = json!({"outcome": "failed", "retryable": true, "retry_after_ms": 1500});
        let at = Instant::now();
        finish_ok(&mut client, &lease, &failed);
        comes_after(&mut client, "retried", at, 1500);
    });
}

#[test]
fn case_52_clock_jumps_an_hour_back() {
    jumps(-HOUR);
}

#[test]
fn case_52_clock_jumps_an_hour_forth() {
    jumps(HOUR);
}

#[test]
fn case_52_clock_jumps_a_day_forth() {
    jumps(DAY);
}

/// Case 52 · Clock jumps, while the server is down
fn jumps_while_down(seconds: i64) {
    let clock = FakeClock::new();
    let mut server: Server = clock.show_to(Setup::new()).start();
    let mut client = server.client();
    let running = Running::begin(&mut client);
    let later = json!({"task": "later", "delay_ms": 2 * DAY * 1000});
    let later = create(&mut client, &later);
    server.kill();
    clock.set(seconds);
    let jumped = Instant::now();
    server.restart();
    let mut client = server.client();
    let after = create(&mut client, &json!({"task": "after", "delay_ms": 3000}));
    // RFC 3339 of one form: the order of texts is the order of times.
    assert!(after["created_at"].as_str() >= later["created_at"].as_str(), "{later} {after}");
    assert_eq!(job(&mut client, &id(&later))["state"], "scheduled");
    running.go_on(&mut client, (seconds > 0).then_some(jumped));
    comes_after(&mut client, "after", jumped, 3000);
}

#[test]
fn case_52_clock_jumps_an_hour_back_while_the_server_is_down() {
    jumps_while_down(-HOUR);
}

#[test]
fn case_52_clock_jumps_a_day_forth_while_the_server_is_down() {
    jumps_while_down(DAY);
}

/// Case 53 · Laptop sleep, as the clocks show it: two hours of wall time go by at once
#[test]
fn case_53_laptop_sleep_of_two_hours() {
    let clock = FakeClock::new();
    let server = clock.show_to(Setup::new()).start();
    let mut client = server.client();
    let running = Running::begin(&mut client);
    let due = json!({"task": "due", "delay_ms": HOUR * 1000});
    let due = id(&create(&mut client, &due));
    let later = json!({"task": "later", "delay_ms": 3 * HOUR * 1000});
    let later = id(&create(&mut client, &later));
    server.process().freeze();
    clock.set(2 * HOUR);
    let slept = Instant::now();
    server.process().thaw();
    // Both workers slept as well: neither lease is judged by the two hours.
    let mut other = server.client();
    std::thread::scope(|scope| {
        scope.spawn(|| running.go_on(&mut other, Some(slept)));
        assert_eq!(claim_one(&mut client, &json!({"tasks": ["due"]})).id, due);
        assert_eq!(job(&mut client, &later)["state"], "scheduled");
    });
}
