//! Servers that die.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use halyard_tests::until;
use serde_json::{Value, json};

use crate::Many;
use crate::acting::{claim_one, completed, create, finish_ok, id, job, pass};

const JOBS: usize = 600;
const WORKERS: usize = 9;

/// Longer than the 5 s from which on it is an outage.
const LONG: Duration = Duration::from_millis(6_500);

/// Claims a few jobs and reports them; `None` when its server is gone.
fn work(
    client: &mut halyard_tests::wire::Client,
    done: &Mutex<BTreeMap<String, usize>>,
) -> Option<()> {
    let body = crate::acting::claim_body(&json!({"max": 5, "lease_ms": 5000, "wait_ms": 200}));
    let body = body.to_string().into_bytes();
    let answer = client.try_call("POST", "/v1/jobs/claim", Some(&body)).ok()?.expect(200);
    let mut outcomes = Vec::new();
    for job in answer["jobs"].as_array()? {
        outcomes.push(json!({
            "id": job["id"], "token": job["lease"]["token"], "outcome": "completed", "result": null,
        }));
    }
    if outcomes.is_empty() {
        return Some(());
    }
    let body = json!({ "outcomes": outcomes }).to_string().into_bytes();
    let answer = client.try_call("POST", "/v1/jobs/finish", Some(&body)).ok()?.expect(200);
    for result in answer["results"].as_array()? {
        assert_eq!((&result["status"], &result["repeated"]), (&json!("ok"), &json!(false)));
        *done.lock().unwrap().entry(id(result)).or_default() += 1;
    }
    Some(())
}

/// The work of a server that is killed is taken up by the others: nothing is lost, nothing doubled.
#[test]
fn a_server_that_is_killed_loses_and_doubles_nothing() {
    let many = Many::of(3);
    let mut client = many.client(0);
    for part in 0..JOBS / 100 {
        let one = |number: usize| json!({"task": "t", "payload": {"number": part * 100 + number}});
        let jobs: Vec<Value> = (0..100).map(one).collect();
        client.post("/v1/jobs/batch", &json!({ "jobs": jobs })).expect(200);
    }
    let done = Mutex::new(BTreeMap::new());
    let lost = AtomicUsize::new(0);
    let completed = || many.number("SELECT coalesce(sum(completed), 0) FROM halyard.totals");
    thread::scope(|scope| {
        for number in 0..WORKERS {
            let (many, done, lost) = (&many, &done, &lost);
            scope.spawn(move || {
                let (mut number, mut client) = (number, many.client(number));
                until("all jobs to be done", || {
                    if work(&mut client, done).is_none() {
                        // The worker goes to the next server; what it held lapses.
                        lost.fetch_add(1, Ordering::SeqCst);
                        number += 1;
                        client = many.client(number);
                    }
                    (completed() == JOBS).then_some(())
                });
            });
        }
        until("some work", || (completed() > JOBS / 6).then_some(()));
        many.servers[1].process().kill();
    });
    assert!(lost.load(Ordering::SeqCst) > 0, "the kill hit nobody");
    let done = done.into_inner().unwrap();
    assert!(done.values().all(|times| *times == 1), "acknowledged twice: {done:?}");
    assert_eq!(completed(), JOBS);
    assert_eq!(many.number("SELECT count(*) FROM halyard.jobs WHERE state = 4"), JOBS);
    let started = many.number("SELECT sum(starts - 1) FROM halyard.jobs");
    assert_eq!(started, many.number("SELECT sum(leases_lost) FROM halyard.totals"));
    halyard_tests::postgres::tables_are_sound(&many.database.url());
}

/// While one server serves there is no outage: leases lapse when their holders were told.
#[test]
fn without_one_of_three_there_is_no_outage() {
    let mut many = Many::of(3);
    let mut gone = many.client(1);
    let made = id(&create(&mut gone, &json!({"task": "t", "max_crashes": 3})));
    let held = claim_one(&mut gone, &json!({"lease_ms": 5000}));
    many.servers[1].kill();
    let mut client = many.client(0);
    let again = claim_one(&mut client, &json!({"lease_ms": 20000}));
    assert_eq!((&again.id, &again.job["crashes"]), (&made, &json!(1)));
    let shown = job(&mut client, &made);
    let attempts = shown["attempts"].as_array().expect("a list");
    let first = attempts.iter().find(|it| it["start"] == 1).expect("the first start");
    assert_eq!(first["state"], "lost");
    assert_eq!(first["finished_at"], held.job["lease"]["expires_at"], "{first}");
    pass(LONG);
    many.servers[1].restart();
    let shown = job(&mut many.client(1), &made);
    assert_eq!((&shown["state"], &shown["crashes"]), (&json!("running"), &json!(1)));
    finish_ok(&mut many.client(1), &again, &completed(json!(null)));
    many.end();
}

/// When all are gone nobody can renew: a lease gets a fresh length from the first server that is
/// back.
#[test]
fn without_all_of_them_leases_get_a_fresh_length() {
    let mut many = Many::of(3);
    let mut client = many.client(0);
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let held = claim_one(&mut client, &json!({"lease_ms": 5000}));
    many.servers.iter_mut().for_each(halyard_tests::server::Server::kill);
    pass(LONG);
    many.servers.iter_mut().for_each(halyard_tests::server::Server::restart);
    let mut client = many.client(2);
    let shown = job(&mut client, &made);
    assert_eq!((&shown["state"], &shown["crashes"]), (&json!("running"), &json!(0)), "{shown}");
    finish_ok(&mut client, &held, &completed(json!("after all")));
    many.end();
}
