//! One key, or one request, through several servers at once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use crate::Many;
use crate::acting::id;

/// Sends one body from `callers` clients at the same moment, spread over the servers.
fn at_once(many: &Many, callers: usize, header: Option<&str>, body: &Value) -> Vec<(u16, Value)> {
    let barrier = Barrier::new(callers);
    let call = |number: usize| {
        let mut client = many.client(number);
        if let Some(value) = header {
            client = client.with_header("Idempotency-Key", value);
        }
        barrier.wait();
        let answer = client.post("/v1/jobs", body);
        (answer.status, answer.json())
    };
    thread::scope(|scope| {
        let calls: Vec<_> = (0..callers).map(|number| scope.spawn(move || call(number))).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    })
}

fn one_made_it(answers: &[(u16, Value)]) {
    let made = answers.iter().filter(|(status, _)| *status == 201).count();
    let others = answers.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!((made, made + others), (1, answers.len()), "{answers:?}");
    let ids: BTreeSet<String> = answers.iter().map(|(_, job)| id(job)).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

/// Case 1 · Same key from 64 callers on two servers
#[test]
fn case_1_same_key_from_64_callers_on_two_servers() {
    let many = Many::of(2);
    for round in 0..20 {
        let key = format!("key {round}");
        let body = json!({"task": "t", "payload": {"round": round}, "idempotency_key": key});
        one_made_it(&at_once(&many, 64, None, &body));
    }
    assert_eq!(many.number("SELECT count(*) FROM halyard.jobs"), 20);
    many.end();
}

#[test]
fn a_hundred_callers_through_three_servers_make_one_job() {
    let many = Many::of(3);
    let body = json!({"task": "t", "idempotency_key": "k"});
    one_made_it(&at_once(&many, 100, None, &body));
    assert_eq!(many.number("SELECT count(*) FROM halyard.jobs"), 1);
    assert_eq!(many.number("SELECT sum(created) FROM halyard.totals"), 1);
    many.end();
}

/// The header makes a whole request one, without a key or an id in it.
#[test]
fn one_request_at_two_servers_at_once_is_done_once() {
    let many = Many::of(2);
    for round in 0..20 {
        let name = format!("request-{round}");
        let answers = at_once(&many, 8, Some(&name), &json!({"task": "t"}));
        let ids: BTreeSet<String> = answers.iter().map(|(_, job)| id(job)).collect();
        assert_eq!(ids.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|(status, _)| matches!(status, 200 | 201)), "{answers:?}");
    }
    assert_eq!(many.number("SELECT count(*) FROM halyard.jobs"), 20);
    many.end();
}
