//! Every server promotes, reaps and prunes, and nothing is done twice.

use halyard_tests::until;
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::Many;
use crate::acting::{Claimed, claim};

const JOBS: usize = 150;

/// Claims with short leases until it has all jobs, at one server after the other.
fn claim_all(many: &Many) -> Vec<Claimed> {
    let mut clients: Vec<Client> = (0..many.servers.len()).map(|it| many.client(it)).collect();
    let mut claimed = Vec::new();
    until("all jobs to be claimed", || {
        for client in &mut clients {
            claimed.extend(claim(client, &json!({"max": 20, "lease_ms": 5000, "wait_ms": 100})));
        }
        (claimed.len() >= JOBS).then_some(())
    });
    assert_eq!(claimed.len(), JOBS);
    claimed
}

#[test]
fn nothing_is_promoted_reaped_or_pruned_twice() {
    let many = Many::with(3, |setup| setup.arg("--retention-failed-ms").arg("1000"));
    let mut client = many.client(0);
    let job = |number: usize| {
        json!({
            "task": "t", "delay_ms": 500, "max_crashes": 2, "max_attempts": 5,
            "idempotency_key": format!("k{number}"),
            "backoff": {"initial_ms": 0, "factor": 1, "max_ms": 0, "jitter": 0},
        })
    };
    let jobs: Vec<Value> = (0..JOBS).map(job).collect();
    client.post("/v1/jobs/batch", &json!({ "jobs": jobs })).expect(200);
    let first = claim_all(&many);
    assert!(first.iter().all(|it| it.job["attempt"] == 1 && it.job["crashes"] == 0));
    // Nobody reports: the leases lapse, and the jobs come back once each.
    let second = claim_all(&many);
    for claimed in &second {
        let job = &claimed.job;
        assert_eq!((&job["attempt"], &job["crashes"]), (&json!(2), &json!(1)), "{job}");
        assert_eq!(job["starts"], 2);
    }
    // The second crash is the last one, and what has failed is kept for a second.
    let left = || many.number("SELECT count(*) FROM halyard.jobs");
    until("the last job to be pruned", || (left() == 0).then_some(()));
    let sums = "SELECT sum(created) || ' ' || sum(leases_lost) || ' ' || sum(failed)
        FROM halyard.totals";
    let told = halyard_tests::postgres::value(&many.database.url(), sums);
    assert_eq!(told, format!("{JOBS} {} {JOBS}", 2 * JOBS));
    let graves = "SELECT count(*) FROM halyard.keys WHERE seq IS NULL";
    assert_eq!(many.number(graves), JOBS, "each key outlives its job");
    let counters = || many.number("SELECT count(*) FROM halyard.counters");
    until("the counters of what is gone to go", || (counters() == 0).then_some(()));
    let queue = client.get("/v1/queues").expect(200);
    assert_eq!(queue["data"].as_array().map(Vec::len), Some(0), "{queue}");
    many.end();
}
