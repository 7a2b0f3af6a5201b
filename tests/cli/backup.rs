//! A backup under load, and a server on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use halyard_tests::server::{Process, Server, Setup};
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::command::{Done, command, run};

fn backup(data: &Path, to: &str) -> Done {
    run(command(&["backup", "--data-dir", data.to_str().expect("a path"), "--to", to]))
}

/// Starts a server on a directory that is not its own.
fn serve(directory: &Path) -> (Process, Client) {
    let process = Setup::new().spawn_on(directory);
    let address = process.address().unwrap_or_else(|| panic!("{}", process.log()));
    (process, Client::new(address))
}

/// What was acknowledged so far.
#[derive(Default)]
struct Known {
    created: BTreeSet<String>,
    completed: BTreeMap<String, Value>,
    tokens: BTreeSet<String>,
}

/// Creates jobs with keys, claims them, saves a checkpoint, and reports most of them.
fn work(mut client: Client, number: u64, known: &Mutex<Known>, over: &AtomicBool) {
    let queue = format!("q{number}");
    for n in 0_u64.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let key = format!("{number}:{n}");
        let body = json!({
            "task": "t", "queue": queue, "idempotency_key": key, "payload": "x".repeat(500),
        });
        let job = client.post("/v1/jobs", &body).expect(201);
        let id = job["id"].as_str().unwrap().to_owned();
        known.lock().unwrap().created.insert(id.clone());
        let claim = json!({"worker": {"id": "wrk_1"}, "queues": [queue], "lease_ms": 60000});
        let claimed = client.post("/v1/jobs/claim", &claim).expect(200);
        let token = claimed["jobs"][0]["lease"]["token"].clone();
        known.lock().unwrap().tokens.insert(token.as_str().unwrap().to_owned());
        let checkpoint = json!({"token": token, "name": "half", "value": n});
        client.post(&format!("/v1/jobs/{id}/checkpoints"), &checkpoint).expect(201);
        if n % 5 == 0 {
            continue;
        }
        let outcome = json!({"id": id, "token": token, "outcome": "completed", "result": n});
        client.post("/v1/jobs/finish", &json!({"outcomes": [outcome]})).expect(200);
        known.lock().unwrap().completed.insert(id, json!(n));
    }
}

/// Every job, by id.
fn all(client: &mut Client) -> BTreeMap<String, Value> {
    let mut jobs = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("/v1/jobs?limit=200{cursor}")).expect(200);
        for job in page["data"].as_array().unwrap() {
            jobs.insert(job["id"].as_str().unwrap().to_owned(), job.clone());
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return jobs,
        }
    }
}

#[test]
fn a_backup_under_load_is_restored_by_serving_it() {
    let server = Server::start();
    let data = server.directory();
    let outer = tempfile::tempdir().unwrap();
    let (known, over) = (Mutex::new(Known::default()), AtomicBool::new(false));
    let to = |round: usize| outer.path().join(format!("copy{round}")).display().to_string() + "/";
    let mut before = Vec::new();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (client, known, over) = (server.client(), &known, &over);
            scope.spawn(move || work(client, number, known, over));
        }
        for round in 0..5 {
            halyard_tests::until("some work", || {
                (known.lock().unwrap().completed.len() >= 100 * (round + 1)).then_some(())
            });
            let seen = known.lock().unwrap();
            before.push((seen.created.clone(), seen.completed.clone()));
            drop(seen);
            let done = backup(data.path(), &to(round)).json();
            assert_eq!(done["file"], format!("{}halyard.sqlite3", to(round)));
        }
        over.store(true, Ordering::SeqCst);
    });
    let known = known.into_inner().unwrap();
    assert!(known.created.len() > before.last().unwrap().0.len(), "work went on meanwhile");
    for (round, (created, completed)) in before.into_iter().enumerate() {
        let copy = to(round);
        let health = run(command(&["doctor", "--data-dir", &copy, "--full"]));
        assert_eq!(health.code, 0, "{health:?}");
        let (_process, mut client) = serve(Path::new(&copy));
        let jobs = all(&mut client);
        assert_restored(&mut client, &jobs, &created, &completed, &known);
    }
}

/// What was acknowledged before the copy is in it, and nothing is that was never asked for.
fn assert_restored(
    client: &mut Client,
    jobs: &BTreeMap<String, Value>,
    created: &BTreeSet<String>,
    completed: &BTreeMap<String, Value>,
    known: &Known,
) {
    for id in created {
        assert!(jobs.contains_key(id), "{id} was acknowledged and is not in the copy");
    }
    for (id, result) in completed.iter().take(20) {
        let job = client.get(&format!("/v1/jobs/{id}")).expect(200);
        assert_eq!((&job["state"], &job["result"]), (&json!("completed"), result));
        assert_eq!(job["checkpoints"][0]["value"], *result);
    }
    for (id, job) in jobs {
        assert!(known.created.contains(id), "{id} was made up");
        assert!(!completed.contains_key(id) || job["state"] == "completed", "{job}");
    }
    // A key that is known still stands for its job; one that is not makes a new one.
    let some = jobs.values().next().unwrap();
    let body = json!({
        "task": "t", "queue": "q9", "idempotency_key": some["idempotency_key"],
        "payload": "x".repeat(500),
    });
    assert_eq!(client.post("/v1/jobs", &body).expect(200)["id"], some["id"]);
    // What waits or was left runs, under tokens that nobody ever had.
    let body = json!({"task": "t", "queue": "new"});
    client.post("/v1/jobs", &body).expect(201);
    let queues = ["q0", "q1", "q2", "q3", "new"];
    let claim = json!({"worker": {"id": "wrk_2"}, "queues": queues, "max": 100});
    let claimed = client.post("/v1/jobs/claim", &claim).expect(200);
    let claimed = claimed["jobs"].as_array().unwrap();
    assert!(!claimed.is_empty());
    for job in claimed {
        let token = job["lease"]["token"].as_str().unwrap();
        assert!(!known.tokens.contains(token), "a token was given twice: {job}");
    }
}

/// What was claimed after the copy is unknown to it; what was running may still be reported.
#[test]
fn tokens_from_before_and_after_the_copy() {
    let server = Server::start();
    let mut client = server.client();
    let outer = tempfile::tempdir().unwrap();
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "lease_ms": 60000});
    let start = |client: &mut Client| {
        client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
        let job = client.post("/v1/jobs/claim", &claim).expect(200)["jobs"][0].take();
        json!({"id": job["id"], "token": job["lease"]["token"], "outcome": "completed"})
    };
    let held = start(&mut client);
    let waiting = client.post("/v1/jobs", &json!({"task": "t"})).expect(201);
    let copy = outer.path().join("copy");
    backup(server.directory().path(), &format!("{}/", copy.display())).json();
    let job = client.post("/v1/jobs/claim", &claim).expect(200)["jobs"][0].take();
    assert_eq!(job["id"], waiting["id"]);
    let later = json!({"id": job["id"], "token": job["lease"]["token"], "outcome": "completed"});
    let (_process, mut restored) = serve(&copy);
    let answer = restored.post("/v1/jobs/finish", &json!({"outcomes": [held, later]})).expect(200);
    assert_eq!(answer["results"][0]["status"], "ok", "{answer}");
    assert_eq!(answer["results"][1]["status"], "lease_lost", "{answer}");
    let again = restored.post("/v1/jobs/claim", &claim).expect(200)["jobs"][0].take();
    assert_eq!((&again["id"], &again["starts"]), (&waiting["id"], &json!(1)));
    assert_ne!(again["lease"]["token"], later["token"]);
    let path = format!("/v1/jobs/{}", waiting["id"].as_str().unwrap());
    let attempt = |client: &mut Client| client.get(&path).expect(200)["attempts"][0]["id"].clone();
    assert_ne!(attempt(&mut client), attempt(&mut restored));
}

#[test]
fn a_backup_never_overwrites() {
    let server = Server::start();
    let outer = tempfile::tempdir().unwrap();
    let file = outer.path().join("file").display().to_string();
    backup(server.directory().path(), &file).json();
    let first = std::fs::read(&file).unwrap();
    server.client().post("/v1/jobs", &json!({"task": "t"})).expect(201);
    backup(server.directory().path(), &file).failed(1, &["exists already", "never overwrites"]);
    assert_eq!(std::fs::read(&file).unwrap(), first);
    let data = server.directory().path().display().to_string();
    backup(server.directory().path(), &data).failed(1, &["exists already"]);
    let nowhere = outer.path().join("nowhere");
    backup(&nowhere, &file).failed(1, &["there is no", "nowhere"]);
    assert!(!nowhere.exists());
    assert_eq!(std::fs::read_dir(outer.path()).unwrap().count(), 1, "nothing is left behind");
}
