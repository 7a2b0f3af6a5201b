//! Reports that meet the end of their leases.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use halyard_tests::server::Server;
use halyard_tests::until;
use halyard_tests::wire::Client;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use crate::acting::{claim, claim_body, id, job};

const JOBS: usize = 10_000;
const WORKERS: usize = 8;
/// Jobs that are claimed together, and so have one deadline.
const CLAIM: usize = 125;
/// Reports of them that are sent together.
const REPORTS: usize = 10;
/// Reports come from so long before the deadline to so long after it, in milliseconds.
const AROUND_MS: i64 = 50;

/// Case 18 · Reaper meets the ack
#[test]
fn case_18_reaper_meets_the_ack() {
    let mut server = Server::start();
    let mut client = server.client();
    let new = json!({
        "task": "t", "timeout_ms": 500, "max_attempts": 2, "backoff": {"initial_ms": 3_600_000},
    });
    for _ in 0..JOBS / 1000 {
        client.post("/v1/jobs/batch", &json!({"jobs": vec![new.clone(); 1000]})).expect(200);
    }
    let told: BTreeMap<String, bool> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let client = server.client();
                scope.spawn(move || Worker::new(client, worker).run())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(told.len(), JOBS);
    let taken = told.values().filter(|taken| **taken).count();
    assert!((JOBS / 20..JOBS - JOBS / 20).contains(&taken), "{taken} of {JOBS} were in time");

    until("the last lease to be ended", || {
        let counts = client.get("/v1/queues/default").expect(200)["counts"].clone();
        (counts["running"] == 0).then_some(())
    });
    let check = |client: &mut Client| {
        let found = states(client);
        assert_eq!(found.len(), JOBS);
        for (id, taken) in &told {
            let expected = if *taken { "completed" } else { "retrying" };
            assert_eq!(found.get(id).map(String::as_str), Some(expected), "{id}");
        }
        let counts = client.get("/v1/queues/default").expect(200)["counts"].clone();
        let counted = [&counts["completed"], &counts["retrying"], &counts["running"]];
        assert_eq!(counted, [&json!(taken), &json!(JOBS - taken), &json!(0)]);
    };
    check(&mut client);
    for (id, taken) in told.iter().step_by(50) {
        let now = job(&mut client, id);
        let expected = if *taken { "completed" } else { "timed_out" };
        assert_eq!(now["attempts"][0]["state"], expected, "{now}");
        assert_eq!(now["attempts_total"], 1);
    }
    assert_eq!(claim(&mut client, &json!({"max": 1000})).len(), 0, "an ended job was given out");
    server.kill();
    server.restart();
    check(&mut server.client());
}

/// The state of every job, each of which started once and is listed once.
fn states(client: &mut Client) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("/v1/jobs?limit=200{cursor}")).expect(200);
        for job in page["data"].as_array().unwrap() {
            assert_eq!(job["starts"], 1, "{job}");
            let state = job["state"].as_str().unwrap().to_owned();
            assert_eq!(found.insert(id(job), state), None, "listed twice: {job}");
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

/// Claims jobs and reports them around their deadline.
struct Worker {
    client: Client,
    chance: StdRng,
    /// How much earlier than planned a report is sent, in milliseconds, so that it arrives as
    /// planned: learnt from the answers, since a busy machine is late by itself.
    lead_ms: i64,
    /// What became of each job: whether its report was taken.
    told: BTreeMap<String, bool>,
}

impl Worker {
    fn new(client: Client, number: usize) -> Self {
        let chance = StdRng::seed_from_u64(number as u64);
        Self { client, chance, lead_ms: 0, told: BTreeMap::new() }
    }

    fn run(mut self) -> BTreeMap<String, bool> {
        while self.told.len() < JOBS / WORKERS {
            let before = Instant::now();
            let answer = self.client.post("/v1/jobs/claim", &claim_body(&json!({"max": CLAIM})));
            // The server's clock stood somewhere between sending and receiving.
            let at = before + before.elapsed() / 2;
            let jobs = answer.expect(200)["jobs"].as_array().unwrap().clone();
            assert_eq!(jobs.len(), CLAIM, "there is work for all");
            let left = jobs[0]["lease"]["deadline_in_ms"].as_u64().unwrap();
            self.report(&jobs, at + Duration::from_millis(left));
        }
        self.told
    }

    fn report(&mut self, jobs: &[Value], deadline: Instant) {
        let mut plan: Vec<(i64, &[Value])> = jobs
            .chunks(REPORTS)
            .map(|part| (self.chance.random_range(-AROUND_MS..=AROUND_MS), part))
            .collect();
        plan.sort_by_key(|(offset, _)| *offset);
        for (offset_ms, part) in plan {
            self.sleep_until(deadline, offset_ms);
            let outcomes: Vec<Value> = part.iter().map(completed).collect();
            let body = json!({ "outcomes": outcomes });
            let results = self.client.post("/v1/jobs/finish", &body).expect(200);
            let mut taken = false;
            for result in results["results"].as_array().unwrap() {
                taken = match result["status"].as_str() {
                    Some("ok") => true,
                    Some("lease_lost") => false,
                    _ => panic!("{result}"),
                };
                self.told.insert(id(result), taken);
            }
            // Refused though it was to come before the deadline, or taken though after it.
            if taken != (offset_ms <= 0) {
                self.lead_ms += if taken { -2 } else { 2 };
            }
        }
    }

    /// Until the report is to leave.
    fn sleep_until(&self, deadline: Instant, offset_ms: i64) {
        let by_ms = offset_ms - self.lead_ms;
        let by = Duration::from_millis(by_ms.unsigned_abs());
        let at = if by_ms < 0 { deadline.checked_sub(by) } else { deadline.checked_add(by) };
        let at = at.unwrap_or(deadline);
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
    }
}

fn completed(job: &Value) -> Value {
    json!({"id": job["id"], "token": job["lease"]["token"], "outcome": "completed"})
}
