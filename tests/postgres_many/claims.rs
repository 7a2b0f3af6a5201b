//! What one server makes another one's worker gets.

use std::thread;

use halyard_tests::postgres::{Postgres, query, value};
use serde_json::json;

use crate::acting::{claim_one, completed, create, finish_ok, id};
use crate::{Many, on};

const ROUNDS: usize = 5;

/// A worker waits at the second server for what is made at the first.
fn a_worker_waits_elsewhere(many: &Many) {
    let (mut here, mut there) = (many.client(0), many.client(1));
    for _ in 0..ROUNDS {
        let waits = thread::spawn(move || {
            let claimed = claim_one(&mut there, &json!({}));
            (claimed, there)
        });
        let made = id(&create(&mut here, &json!({"task": "t"})));
        let (claimed, back) = waits.join().unwrap();
        there = back;
        assert_eq!(claimed.id, made);
        finish_ok(&mut there, &claimed, &completed(json!(null)));
    }
}

#[test]
fn a_job_reaches_a_worker_at_another_server() {
    let many = Many::of(2);
    a_worker_waits_elsewhere(&many);
    many.end();
}

/// Hints are hints: with all of them lost every server looks for itself.
#[test]
fn a_job_reaches_a_worker_at_another_server_without_hints() {
    let postgres = Postgres::start();
    postgres.run("CREATE ROLE mute LOGIN PASSWORD 'mute'");
    postgres.run("CREATE DATABASE mute OWNER mute");
    let owner = postgres.url().database("mute");
    query(&owner, "REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC").unwrap();
    let mut mute = owner.clone();
    (mute.user, mute.password) = ("mute".to_owned(), "mute".to_owned());
    let refused = query(&mute, "SELECT pg_notify('a', 'b')").unwrap_err();
    assert_eq!(refused.code().map(|code| code.code()), Some("42501"), "{refused}");
    let servers: Vec<_> = (0..2).map(|_| on(&mute).start()).collect();
    let (mut here, mut there) = (servers[0].client(), servers[1].client());
    let waits = thread::spawn(move || claim_one(&mut there, &json!({})).id);
    let made = id(&create(&mut here, &json!({"task": "t"})));
    assert_eq!(waits.join().unwrap(), made);
    let claimed = value(&owner, "SELECT state FROM halyard.jobs");
    assert_eq!(claimed, "2", "it runs");
}

/// A read that waits for a job's end hears of it from another server.
#[test]
fn a_read_waits_for_an_end_at_another_server() {
    let many = Many::of(2);
    let (mut here, mut there) = (many.client(0), many.client(1));
    for round in 0..ROUNDS {
        let made = id(&create(&mut here, &json!({"task": "t"})));
        let path = format!("/v1/jobs/{made}?wait_ms=30000");
        let waits = thread::spawn(move || {
            let ended = there.get(&path).expect(200);
            (ended, there)
        });
        let claimed = claim_one(&mut here, &json!({}));
        finish_ok(&mut here, &claimed, &completed(json!({"round": round})));
        let (ended, back) = waits.join().unwrap();
        there = back;
        assert_eq!(
            (&ended["state"], &ended["result"]["round"]),
            (&json!("completed"), &json!(round))
        );
    }
    many.end();
}
