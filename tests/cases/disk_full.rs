//! A data directory whose disk is full: reads go on, writes are refused, and it heals by itself.

use std::collections::BTreeSet;

use halyard_tests::server::Setup;
use halyard_tests::small_disk::{PAGE, SmallDisk};
use halyard_tests::until;
use halyard_tests::wire::{Answer, Client};
use serde_json::{Value, json};

use crate::acting::{
    beat, checkpoint, claim_body, claim_one, completed, create, finish_ok, id, job, list,
    until_state,
};

const MIB: u64 = 1024 * 1024;
const LOG: &str = "halyard.sqlite3-wal";
const LOG_INDEX: &str = "halyard.sqlite3-shm";

/// A refusal for want of space, which says when to come back.
#[track_caller]
fn refused_for_space(answer: Answer) {
    let wait = answer.header("retry-after").map(str::to_owned);
    let told = answer.refused(503, "storage_unavailable");
    assert!(wait.is_some_and(|wait| wait.parse::<u64>().is_ok()), "no Retry-After: {told}");
    assert_eq!(told["retryable"], true);
    // What lies behind is for the log.
    let detail = told["detail"].as_str().unwrap().to_ascii_lowercase();
    assert!(!detail.contains("sqlite") && !detail.contains("database"), "{detail}");
}

/// Every call that must write is refused, nothing that was acknowledged is lost, and calls are
/// taken again as soon as there is space.
#[test]
fn a_full_disk_refuses_writes_and_nothing_else() {
    let Some(disk) = SmallDisk::new(16 * MIB) else { return };
    let mut server = disk.serve(Setup::new());
    let mut client = server.client();
    let made = |client: &mut Client, task: &str| id(&create(client, &json!({"task": task})));
    let ended = made(&mut client, "ended");
    let lease = claim_one(&mut client, &json!({}));
    finish_ok(&mut client, &lease, &completed(json!({"n": 1})));
    let held = made(&mut client, "held");
    let lease = claim_one(&mut client, &json!({}));
    let waiting = made(&mut client, "waiting");

    disk.fill(0);
    let finish = json!({"outcomes": [
        {"id": held, "token": lease.token, "outcome": "completed", "result": 1},
    ]});
    let mark = json!({"token": lease.token, "name": "n", "value": 1});
    let beating = json!({"worker": {"id": "wrk_1"}, "leases": [lease.lease()]});
    for (path, body) in [
        ("/v1/jobs".to_owned(), json!({"task": "refused"})),
        ("/v1/jobs/batch".to_owned(), json!({"jobs": [{"task": "refused"}]})),
        ("/v1/jobs/claim".to_owned(), claim_body(&json!({}))),
        ("/v1/jobs/heartbeat".to_owned(), beating),
        (format!("/v1/jobs/{held}/checkpoints"), mark),
        ("/v1/jobs/finish".to_owned(), finish),
        (format!("/v1/jobs/{waiting}/cancel"), json!({})),
        (format!("/v1/jobs/{ended}/retry"), json!({"allow_completed": true})),
        (format!("/v1/jobs/{waiting}/run-as-new"), json!({})),
        ("/v1/queues/default/pause".to_owned(), json!({})),
    ] {
        println!("{path}");
        refused_for_space(client.post(&path, &body));
    }
    refused_for_space(client.delete(&format!("/v1/jobs/{ended}")));
    assert_eq!(job(&mut client, &ended)["result"], json!({"n": 1}));
    assert_eq!(job(&mut client, &held)["state"], "running");
    assert_eq!(list(&mut client, "").len(), 3);
    for path in ["/healthz", "/v1/stats", "/v1/queues", "/v1/tasks", "/metrics"] {
        assert_eq!(client.get(path).status, 200, "{path}");
    }

    disk.empty();
    let new = until("a create to be taken", || {
        let answer = client.post("/v1/jobs", &json!({"task": "new"}));
        (answer.status == 201).then(|| id(&answer.json()))
    });
    assert_eq!(beat(&mut client, &lease, 60000)["status"], "ok");
    checkpoint(&mut client, &lease, "n", &json!(1)).expect(201);
    finish_ok(&mut client, &lease, &completed(json!(2)));
    server.kill();
    server.restart();
    let mut client = server.client();
    until_state(&mut client, &held, "completed");
    let all: BTreeSet<String> = list(&mut client, "").iter().map(id).collect();
    assert_eq!(all, BTreeSet::from([ended, held, waiting, new]));
}

/// Space comes back one page at a time, over the place where the index of SQLite's log grows: the
/// server comes to the end of the disk at each step of a commit, and never ends for it.
#[test]
fn a_disk_that_fills_up_at_any_page_stops_no_server() {
    // The index of the log has room for so many pages of the log before it must grow. One page in
    // the log takes 24 bytes more than its size.
    const INDEX_PAGES: u64 = 4062;
    let pages = |disk: &SmallDisk| disk.size_of(LOG) / (PAGE + 24);
    let Some(disk) = SmallDisk::new(48 * MIB) else { return };
    let mut server = disk.serve(Setup::new());
    let mut client = server.client();
    let mut acknowledged = BTreeSet::new();
    let large = json!({"task": "t", "payload": "x".repeat(100_000)});
    while pages(&disk) < INDEX_PAGES - 40 {
        acknowledged.insert(id(&create(&mut client, &large)));
    }
    let index_before = disk.size_of(LOG_INDEX);
    disk.fill(0);
    let (mut refused, mut given) = (0, 0);
    let small = json!({"task": "t", "payload": "x".repeat(20_000)});
    while pages(&disk) < INDEX_PAGES + 60 {
        let answer = client.post("/v1/jobs", &small);
        if answer.status == 201 {
            acknowledged.insert(id(&answer.json()));
            continue;
        }
        refused_for_space(answer);
        refused += 1;
        disk.give();
        given += 1;
        assert!(given < 1000, "{} pages in the log after {given} pages", pages(&disk));
    }
    assert!(refused > 50, "refused {refused} times only");
    assert!(disk.size_of(LOG_INDEX) > index_before, "the index of the log did not grow");

    disk.empty();
    until("a create to be taken", || {
        let answer = client.post("/v1/jobs", &small);
        (answer.status == 201).then(|| acknowledged.insert(id(&answer.json())))
    });
    server.kill();
    server.restart();
    let mut client = server.client();
    let mut found = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("/v1/jobs?limit=200{cursor}")).expect(200);
        found.extend(page["data"].as_array().unwrap().iter().map(id));
        match &page["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => break,
        }
    }
    assert_eq!(found, acknowledged);
}
