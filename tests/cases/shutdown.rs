//! Stopping and starting.

use std::time::{Duration, Instant};

use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use halyard_tests::wire::Client;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::acting::{
    beat, checkpoint, claim, claim_body, claim_one, completed, create, finish_ok, id, job, pass,
    until_state,
};

/// Case 53 · Laptop sleep
#[test]
fn case_53_laptop_sleep() {
    let server = Server::start();
    let mut client = server.client();
    let held = id(&create(&mut client, &json!({"task": "held"})));
    let lease = claim_one(&mut client, &json!({"lease_ms": 5000}));
    let due = id(&create(&mut client, &json!({"task": "due", "delay_ms": 3000})));
    server.process().freeze();
    pass(Duration::from_secs(8));
    server.process().thaw();
    // The worker slept as well: its lease is judged from now on, not by the night.
    let next = claim_one(&mut client, &json!({"lease_ms": 60000}));
    assert_eq!(next.id, due, "a lease ended in a sleep that its worker shared");
    assert_eq!(beat(&mut client, &lease, 5000)["status"], "ok");
    finish_ok(&mut client, &lease, &completed(json!(null)));
    assert_eq!(job(&mut client, &held)["starts"], 1);
}

/// Case 64 · Long poll against client and proxy defaults
#[test]
fn case_64_long_poll_against_client_and_proxy_defaults() {
    let server = Server::start();
    let mut client = server.client();
    let begin = Instant::now();
    let jobs = claim(&mut client, &json!({"wait_ms": 600_000}));
    let took = begin.elapsed();
    assert_eq!(jobs.len(), 0);
    // A proxy between them gives up at 60 s of silence, as most do.
    assert!((50..60).contains(&took.as_secs()), "a wait of 600 s was answered after {took:?}");
    // The connection is good for the next call.
    create(&mut client, &json!({"task": "t"}));
    assert_eq!(claim(&mut client, &json!({})).len(), 1);
}

/// Case 66 · Stop and start at awkward moments
#[test]
fn case_66_stop_and_start_at_awkward_moments() {
    let mut chance = StdRng::seed_from_u64(66);
    let mut server = Server::start();
    let made = id(&create(&mut server.client(), &json!({"task": "t"})));
    server.kill();
    for _ in 0..25 {
        let process = server.spawn_again();
        pass(Duration::from_micros(chance.random_range(0..40_000)));
        process.signal(Signal::TERM);
        if chance.random_bool(0.5) {
            process.signal(Signal::TERM);
        }
        let status = process.wait_up_to(Duration::from_secs(10));
        assert!(status.is_some(), "still there 10 s after SIGTERM; it wrote:\n{}", process.log());
        assert!(!process.log().contains("panicked"), "{}", process.log());
    }
    server.restart();
    let mut client = server.client();
    assert_eq!(claim_one(&mut client, &json!({})).id, made);
    // One lease is live: the first signal waits for it, the second does not.
    server.process().signal(Signal::TERM);
    until("the drain", || (client.get("/readyz").status == 503).then_some(()));
    assert!(server.process().wait_up_to(Duration::from_secs(1)).is_none(), "did not wait");
    server.process().signal(Signal::TERM);
    let status = server.process().wait_up_to(Duration::from_secs(5));
    assert!(status.is_some(), "a second SIGTERM does not end it");
    server.restart();
    assert_eq!(job(&mut server.client(), &made)["state"], "running");
}

/// SIGTERM: no new work, waits are answered, and what runs can be reported until the end.
#[test]
fn a_drain_gives_no_work_and_takes_reports() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, &json!({"task": "t"}));
    let lease = claim_one(&mut client, &json!({}));
    create(&mut client, &json!({"task": "later", "delay_ms": 60000}));
    let mut waiter = server.client();
    let (asked, asks) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let body = claim_body(&json!({"wait_ms": 50_000})).to_string().into_bytes();
        let sent = || asked.send(()).is_ok();
        waiter.try_call_with("POST", "/v1/jobs/claim", Some(&body), sent)
    });
    asks.recv().unwrap();
    // Another call goes through the server after it: now the wait has begun.
    let (mut other, mut third) = (server.client(), server.client());
    other.get("/readyz").expect(200);
    third.get("/healthz");
    server.process().signal(Signal::TERM);
    let begin = Instant::now();
    let answer = waiting.join().unwrap().expect("a waiting claim is answered");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    if answer.status == 200 {
        assert_eq!(answer.json()["jobs"], json!([]));
    } else {
        assert_eq!((answer.status, answer.code().as_str()), (503, "draining"));
    }
    assert_eq!(other.get("/readyz").status, 503);
    assert_eq!(third.get("/healthz").status, 200);
    for (path, body) in [
        ("/v1/jobs", json!({"task": "t"})),
        ("/v1/jobs/batch", json!({"jobs": [{"task": "t"}]})),
        ("/v1/jobs/claim", claim_body(&json!({}))),
    ] {
        let refused = client.post(path, &body);
        assert!(refused.header("retry-after").is_some(), "{path}");
        assert_eq!(refused.refused(503, "draining")["retryable"], true, "{path}");
        client = server.client();
    }
    assert_eq!(beat(&mut client, &lease, 60000)["status"], "ok");
    checkpoint(&mut client, &lease, "c", &json!(1)).expect(201);
    finish_ok(&mut client, &lease, &completed(json!(1)));
    let status = server.process().wait();
    assert!(status.success(), "{status}");
    assert!(begin.elapsed() < Duration::from_secs(20), "it waited though no lease was live");
}

/// At the drain's end the process goes, and a lease that is live then goes on.
#[test]
fn a_drain_ends_in_time() {
    let mut server = Setup::new().env("HALYARD_DRAIN_MS", "1500").start();
    let mut client = server.client();
    create(&mut client, &json!({"task": "t"}));
    let lease = claim_one(&mut client, &json!({}));
    assert!(server.stop().success());
    server.restart();
    let mut client = server.client();
    finish_ok(&mut client, &lease, &completed(json!(1)));
    assert_eq!(job(&mut client, &lease.id)["starts"], 1);
}

/// A wait for a job's end, which comes, comes in another life, or does not come.
#[test]
fn waiting_for_a_job() {
    let server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let path = format!("/v1/jobs/{made}?wait_ms=");
    let begin = Instant::now();
    assert_eq!(client.get(&format!("{path}400")).expect(200)["state"], "queued");
    assert!(begin.elapsed() >= Duration::from_millis(400));
    let wait = |mut client: Client, path: String| std::thread::spawn(move || client.get(&path));
    let waiting = wait(server.client(), format!("{path}50000"));
    let lease = claim_one(&mut client, &json!({}));
    finish_ok(&mut client, &lease, &completed(json!({"n": 1})));
    let seen = waiting.join().unwrap().expect(200);
    assert_eq!((&seen["state"], &seen["result"]), (&json!("completed"), &json!({"n": 1})));

    // The same through create, for a caller who wants the result.
    let mut caller = server.client();
    let calling =
        std::thread::spawn(move || caller.post("/v1/jobs?wait_ms=50000", &json!({"task": "call"})));
    let lease = claim_one(&mut client, &json!({}));
    finish_ok(&mut client, &lease, &completed(json!(7)));
    let told = calling.join().unwrap().expect(201);
    assert_eq!((&told["state"], &told["result"]), (&json!("completed"), &json!(7)));

    let made = id(&create(&mut client, &json!({"task": "t"})));
    let waiting = wait(server.client(), format!("/v1/jobs/{made}?wait_ms=50000"));
    client.get("/readyz");
    assert_eq!(client.delete(&format!("/v1/jobs/{made}")).status, 204);
    waiting.join().unwrap().refused(404, "job_not_found");
    until("the end", || (client.get(&format!("/v1/jobs/{made}")).status == 404).then_some(()));
    let _: Value = until_state(&mut client, &lease.id, "completed");
}
