//! The budget of the hot path: what a job that succeeds at once may cost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use halyard_core::admission::{Due, NewJob};
use halyard_core::backoff::Backoff;
use halyard_core::chance::Seed;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Details, Name};
use halyard_core::key::IfFailed;
use halyard_core::outcome::Report;
use halyard_json::Text;
use rusqlite::hooks::Action;

use super::fresh;
use crate::sqlite::statements::Statements;
use crate::sqlite::transaction::{RUNNING_REMEMBERED_MAX, Tx};
use crate::sqlite::{Options, claim, create, finish, heartbeat};
use crate::verbs::{Beat, Claim, Outcome};

const JOBS: u64 = 100;
const NOW: i64 = 1_764_000_000_000;

/// Rows written, by table and kind of write.
type Writes = BTreeMap<(String, &'static str), u64>;

pub(super) fn job(number: u64, keyed: bool) -> NewJob {
    let payload = Text::parse(r#"{"subscription_id":"sub_1","period":"2026-11"}"#, 64).unwrap();
    NewJob {
        id: JobId::make(NOW, u128::from(number)),
        task: Name::from("charge-subscription"),
        queue: Name::from("billing"),
        fingerprint: keyed.then(|| Fingerprint::of(&payload)),
        details: Details {
            idempotency_key: keyed.then(|| Name::from(format!("charge:{number}"))),
            ..Details::default()
        },
        payload,
        if_failed: IfFailed::Return,
        key_ttl_ms: 60_000,
        due: Due::Now,
        priority: 0,
        max_attempts: 20,
        max_crashes: 5,
        timeout_ms: 60_000,
        backoff: Backoff::default(),
    }
}

/// Creates, claims and completes [`JOBS`] jobs, each verb in one group. What was written, and how
/// many rows the other tables have then.
fn run(keyed: bool) -> (Writes, [(&'static str, u64); 4]) {
    let mut connection = fresh();
    let seen = Arc::new(Mutex::new(Writes::new()));
    let writes = Arc::clone(&seen);
    let hook = move |action: Action, _: &str, table: &str, _: i64| {
        let kind = match action {
            Action::SQLITE_INSERT => "insert",
            Action::SQLITE_UPDATE => "update",
            _ => "delete",
        };
        *writes.lock().unwrap().entry((table.to_owned(), kind)).or_default() += 1;
    };
    connection.update_hook(Some(hook)).unwrap();
    let sql = Statements::prepare(&connection).unwrap();
    let mut tx = Tx::load(&connection, sql, &Options::default()).unwrap();
    let jobs: Vec<NewJob> = (1..=JOBS).map(|number| job(number, keyed)).collect();
    in_one_group(&mut tx, |tx| {
        create::create(tx, &jobs, None).unwrap();
    });
    let mut outcomes = Vec::new();
    in_one_group(&mut tx, |tx| {
        for claimed in claim::claim(tx, &one_claim(1_000)).unwrap().jobs {
            let job = claimed.view.job;
            let token = job.start.map(|start| start.marks.token);
            outcomes.push(Outcome { id: Some(job.id), token, report: Report::Completed(Ok(None)) });
        }
    });
    assert_eq!(outcomes.len() as u64, JOBS);
    in_one_group(&mut tx, |tx| {
        finish::finish(tx, &outcomes, Seed([2; 32])).unwrap();
    });
    drop(tx);
    let rows = ["attempts", "results", "keys", "counters"].map(|table| {
        let count = format!("SELECT count(*) FROM {table}");
        (
            table,
            connection.query_one(&count, [], |row| row.get::<_, i64>(0)).unwrap().unsigned_abs(),
        )
    });
    let seen = seen.lock().unwrap().clone();
    (seen, rows)
}

fn one_claim(max: usize) -> Claim {
    Claim {
        worker: Name::from("wrk_1"),
        queues: vec![Name::from("billing")],
        tasks: None,
        max,
        lease_ms: 30_000,
        mark: None,
        repeat: false,
        invitation: None,
        seed: Seed([1; 32]),
    }
}

pub(super) fn in_one_group(tx: &mut Tx<'_>, work: impl FnOnce(&mut Tx<'_>)) {
    tx.begin().unwrap();
    tx.enter().unwrap();
    work(tx);
    tx.commit().unwrap();
    tx.publish();
}

fn expected() -> Writes {
    let jobs = |table: &str, kind, count: u64| ((table.to_owned(), kind), count);
    Writes::from([
        jobs("jobs", "insert", JOBS),
        jobs("jobs", "update", 2 * JOBS),
        jobs("bodies", "insert", JOBS),
        // Once a group, however many jobs are in it.
        jobs("totals", "update", 2),
    ])
}

/// SQLite's hook does not tell of tables without a rowid: keys and counters are counted by rows.
#[test]
fn a_job_costs_one_insert_two_updates_and_a_body() {
    for keyed in [false, true] {
        let (mut seen, rows) = run(keyed);
        // Opening a new store stamps it, and a run that crosses a minute writes one more.
        seen.retain(|(table, _), _| table != "minutes" && table != "stamp");
        assert_eq!(seen, expected());
        let keys = if keyed { JOBS } else { 0 };
        // One counter is left: completed.
        assert_eq!(rows, [("attempts", 0), ("results", 0), ("keys", keys), ("counters", 1)]);
    }
}

/// A job that runs on while no more are remembered must not stay in memory as it was.
#[test]
fn what_finds_no_room_in_memory_is_read_from_its_row() {
    let connection = fresh();
    let sql = Statements::prepare(&connection).unwrap();
    let mut tx = Tx::load(&connection, sql, &Options::default()).unwrap();
    in_one_group(&mut tx, |tx| {
        create::create(tx, &[job(1, false)], None).unwrap();
        let running = claim::claim(tx, &one_claim(1)).unwrap().jobs.remove(0).view.job;
        for number in 0..RUNNING_REMEMBERED_MAX {
            tx.running.insert(JobId(number as u128), running.clone());
        }
        let token = running.start.map(|start| start.marks.token);
        let beat = Beat { id: Some(running.id), token };
        let renewed = heartbeat::heartbeat(tx, &[beat], 600_000).unwrap().leases.remove(0).unwrap();
        let start = tx.job_by_id(running.id).unwrap().unwrap().start.unwrap();
        assert_eq!(start.lease_ms, 600_000);
        assert_eq!(start.expires_at, renewed.expires_at);
    });
}
