//! The store under many callers, many servers, and much old work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use halyard_tests::postgres::{Url, query};
use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use serde_json::{Value, json};

use crate::acting::{
    checkpoint, claim, claim_one, completed, create, finish_ok, id, job, list, no_backoff,
};

/// Case 19 · Leased row without a usable expiry
#[test]
fn case_19_leased_row_without_a_usable_expiry() {
    let mut server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "backoff": no_backoff()})));
    claim_one(&mut client, &json!({"lease_ms": 5000}));
    server.kill();
    for refused in ["expires_at = NULL", "deadline = NULL", "token = NULL"] {
        let error = meddle(&server, &format!("UPDATE jobs SET {refused}")).unwrap_err();
        assert!(error.to_lowercase().contains("check constraint"), "{refused}: {error}");
    }
    // The year 9999: a start of the server mends it.
    meddle(&server, "UPDATE jobs SET expires_at = 253402300799999, deadline = 253402300799999")
        .unwrap();
    server.restart();
    let again = claim_one(&mut server.client(), &json!({}));
    assert_eq!((&again.job["id"], &again.job["starts"]), (&json!(made), &json!(2)));
}

/// Does something to the store behind the server's back.
fn meddle(server: &Server, sql: &str) -> Result<(), String> {
    if let Some(url) = server.database() {
        let sql = format!("SET search_path TO halyard; {sql}");
        return query(&Url::read(&url), &sql).map(drop).map_err(|error| format!("{error:?}"));
    }
    let file = server.directory().path().join("halyard.sqlite3");
    let store = rusqlite::Connection::open(file).unwrap();
    store.execute_batch(sql).map_err(|error| error.to_string())
}

/// Case 57 · SQLite read-then-write upgrade
#[test]
fn case_57_sqlite_read_then_write_upgrade() {
    let server = Server::start();
    let over = AtomicBool::new(false);
    let calls = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for reader in 0..8 {
            let (mut client, over, calls) = (server.client(), &over, &calls);
            scope.spawn(move || {
                let paths = [
                    "/v1/jobs?limit=200",
                    "/v1/jobs?state=queued,running&limit=200",
                    "/v1/queues",
                    "/v1/stats",
                ];
                while !over.load(Ordering::SeqCst) {
                    client.get(paths[reader % 4]).expect(200);
                    calls.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for writer in 0..24 {
            let (mut client, over, calls) = (server.client(), &over, &calls);
            scope.spawn(move || {
                let mut n = 0;
                while !over.load(Ordering::SeqCst) {
                    n += 1;
                    let new = json!({
                        "task": "t", "payload": "x".repeat(3000),
                        "idempotency_key": format!("{writer}:{}", n / 2),
                    });
                    let status = client.post("/v1/jobs", &new).status;
                    assert!(matches!(status, 200 | 201), "{status}");
                    for lease in claim(&mut client, &json!({"max": 3})) {
                        finish_ok(&mut client, &lease, &completed(json!(n)));
                    }
                    calls.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        crate::acting::pass(Duration::from_secs(5));
        over.store(true, Ordering::SeqCst);
    });
    assert!(calls.into_inner() > 200, "hardly anything happened");
}

/// Case 58 · Numbers past 2^31 and 2^53
#[test]
fn case_58_numbers_past_2_31_and_2_53() {
    let mut server = Server::start();
    let mut client = server.client();
    let new = json!({"task": "t", "backoff": no_backoff(), "idempotency_key": "k"});
    let first = id(&create(&mut client, &new));
    assert!(server.stop().success());
    // Places just below 2^53, starts just below 2^31, totals just below both.
    meddle(
        &server,
        "UPDATE bodies SET seq = 9007199254740982; UPDATE keys SET seq = 9007199254740982;
         UPDATE jobs SET seq = 9007199254740982, starts = 2147483640;
         UPDATE totals SET created = 9007199254740982, completed = 2147483640;",
    )
    .unwrap();
    if server.database().is_some() {
        meddle(&server, "ALTER SEQUENCE jobs_seq RESTART WITH 9007199254740983").unwrap();
    }
    server.restart();
    let mut client = server.client();
    for n in 1..=10 {
        let lease = claim_one(&mut client, &json!({}));
        assert_eq!(lease.job["starts"], 2_147_483_640_u64 + n);
        checkpoint(&mut client, &lease, &format!("{n}"), &json!(9_007_199_254_740_993_u64));
        finish_ok(&mut client, &lease, &json!({"outcome": "released"}));
    }
    assert_eq!(client.post("/v1/jobs", &new).expect(200)["id"], first.as_str());
    let kept = job(&mut client, &first);
    assert_eq!(kept["attempts"][0]["start"], 2_147_483_650_u64);
    assert_eq!(kept["checkpoints"][9]["start"], 2_147_483_650_u64);
    assert_eq!(kept["checkpoints"][0]["value"], 9_007_199_254_740_993_u64);
    for n in 0..20 {
        create(&mut client, &json!({"task": "u", "payload": n}));
    }
    for lease in claim(&mut client, &json!({"max": 100})) {
        finish_ok(&mut client, &lease, &completed(json!(null)));
    }
    // Pages go on past 2^53 without a row lost or told twice.
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("/v1/jobs?limit=3{cursor}")).expect(200);
        seen.extend(page["data"].as_array().unwrap().iter().map(id));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let one_each: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), one_each.len()), (21, 21));
    let totals = client.get("/v1/stats").expect(200)["totals"].clone();
    assert_eq!(totals["created"], 9_007_199_254_740_982_u64 + 20);
    assert_eq!(totals["completed"], 2_147_483_640_u64 + 21);
    assert!(server.stop().success());
}

/// Case 61 · Retention of millions while stopping
#[test]
fn case_61_retention_of_millions_while_stopping() {
    let setup = || Setup::new().env("HALYARD_RETENTION_COMPLETED_MS", "1000");
    let mut server = setup().start();
    let mut client = server.client();
    let mut old = Vec::new();
    for _ in 0..5 {
        let jobs = json!({"jobs": vec![json!({"task": "old"}); 1000]});
        client.post("/v1/jobs/batch", &jobs).expect(200);
        let leases = claim(&mut client, &json!({"max": 1000, "tasks": ["old"]}));
        let outcomes: Vec<Value> = leases
            .iter()
            .map(|lease| json!({"id": lease.id, "token": lease.token, "outcome": "completed"}))
            .collect();
        client.post("/v1/jobs/finish", &json!({ "outcomes": outcomes })).expect(200);
        old.extend(leases.into_iter().map(|lease| lease.id));
    }
    assert_eq!(old.len(), 5000);
    let live = id(&create(&mut client, &json!({"task": "live"})));
    // Claims go on while old work is swept.
    until("the first sweep", || {
        create(&mut client, &json!({"task": "new"}));
        claim_one(&mut client, &json!({"tasks": ["new"], "lease_ms": 5000}));
        (client.get(&format!("/v1/jobs/{}", old[0])).status == 404).then_some(())
    });
    let begin = Instant::now();
    server.process().kill();
    server.restart_with(setup().env("HALYARD_DRAIN_MS", "1000"));
    assert!(server.stop().success());
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    server.restart_with(setup());
    let mut client = server.client();
    until("the end of the sweep", || list(&mut client, "state=completed").is_empty().then_some(()));
    assert_eq!(job(&mut client, &live)["state"], "queued");
    let queue = client.get("/v1/queues/default").expect(200);
    assert_eq!(queue["counts"]["completed"], 0, "{queue}");
}

/// Case 62 · Many servers start at once
#[test]
fn case_62_many_servers_start_at_once() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..2 {
        let processes: Vec<_> = (0..10).map(|_| Setup::new().spawn_on(directory.path())).collect();
        let mut serving = Vec::new();
        for process in &processes {
            match process.address() {
                Some(address) => serving.push(address),
                None => {
                    let status = process.wait();
                    assert!(!status.success(), "it ended with {status}");
                    // Its last words may be read after its end is seen.
                    let log = until("its last words", || {
                        Some(process.log()).filter(|log| !log.trim().is_empty())
                    });
                    assert!(!log.contains("panicked"), "{log}");
                }
            }
        }
        assert_eq!(serving.len(), 1, "round {round}: {serving:?}");
        let mut client = halyard_tests::wire::Client::new(serving[0]);
        create(&mut client, &json!({"task": "t"}));
        assert_eq!(list(&mut client, "").len(), round + 1);
    }
}

/// What was acknowledged is there after SIGKILL at once.
#[test]
fn acknowledged_work_survives_a_kill() {
    let mut server = Server::start();
    let mut client = server.client();
    let made = id(&create(&mut client, &json!({"task": "t", "payload": {"n": 1}})));
    server.kill();
    server.restart();
    let mut client = server.client();
    let lease = claim_one(&mut client, &json!({}));
    assert_eq!((&lease.job["id"], &lease.job["payload"]), (&json!(made), &json!({"n": 1})));
    server.kill();
    server.restart();
    let mut client = server.client();
    finish_ok(&mut client, &lease, &completed(json!(2)));
    server.kill();
    server.restart();
    let mut client = server.client();
    let after = job(&mut client, &made);
    assert_eq!((&after["state"], &after["result"]), (&json!("completed"), &json!(2)));
    let queue = client.get("/v1/queues/default").expect(200);
    assert_eq!(queue["counts"]["completed"], 1, "{queue}");
}

/// The data directory is for its owner only.
#[test]
fn the_data_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let outer = tempfile::tempdir().unwrap();
    let directory = outer.path().join("data");
    let process = Setup::new().spawn_on(&directory);
    assert!(process.address().is_some(), "{}", process.log());
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{} is open to others", path.display());
    }
}
