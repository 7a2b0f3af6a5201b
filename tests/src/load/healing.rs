//! After the last trouble: all work is done, and the final state is read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{LEASE_MS, Run};
use crate::checker::Ending;
use crate::history::{Call, Entry, Lease, Outcome, Reply, Report};
use crate::until;
use crate::wire::Client;

/// The load has this queue to itself.
const ALIVE: &str = "/v1/jobs?state=scheduled,queued,running,retrying&limit=1&queue=default";
const STATES: [&str; 7] =
    ["scheduled", "queued", "running", "retrying", "completed", "failed", "cancelled"];

fn client(run: &impl Run) -> Client {
    run.client(0).1
}

/// Works as a worker without faults until no job is left that could run.
pub fn finish_everything(run: &impl Run) {
    let mut client = client(run);
    let mut round = 0;
    let mut last = None;
    until("the end of all jobs", || {
        round += 1;
        let claim = Call::Claim {
            worker: "wrk_healer".into(),
            claim_id: format!("heal-{round}"),
            repeat: false,
            max: 100,
            lease_ms: LEASE_MS,
        };
        let claimed = record(run, &mut client, claim);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let jobs = claimed["jobs"].as_array().into_iter().flatten();
        let reports: Vec<Report> = jobs
            .map(|job| Report {
                lease: Lease { job: text(&job["id"]), token: text(&job["lease"]["token"]) },
                outcome: Outcome::Completed(json!("healed")),
            })
            .collect();
        if !reports.is_empty() {
            let leases = reports.iter().map(|report| report.lease.clone()).collect();
            last = reports.first().map(|report| report.lease.clone());
            record(run, &mut client, Call::Finish(reports));
            // Too late, and counted so.
            let worker = "wrk_healer".into();
            record(run, &mut client, Call::Heartbeat { worker, leases, lease_ms: LEASE_MS });
            return None;
        }
        let alive = client.get(ALIVE).expect(200);
        alive["data"].as_array().is_some_and(Vec::is_empty).then_some(())
    });
    // What is refused is counted in memory and stored within a second, all of a server's at once.
    let Some(lease) = last else { return };
    let path = format!("/v1/jobs/{}", lease.job);
    for server in 0..run.servers() {
        let (_, mut client) = run.client(server);
        let before = client.get(&path).expect(200)["rejected"].as_u64();
        let (worker, leases) = ("wrk_healer".into(), vec![lease.clone()]);
        record(run, &mut client, Call::Heartbeat { worker, leases, lease_ms: LEASE_MS });
        until("the refusals to be stored", || {
            (client.get(&path).expect(200)["rejected"].as_u64() > before).then_some(())
        });
    }
}

fn record(run: &impl Run, client: &mut Client, call: Call) -> Value {
    let (method, path, body) = call.request();
    let sent = run.load().recorder.now();
    let answer = client.call(method, &path, &body);
    let (done, status, body) = (run.load().recorder.now(), answer.status, answer.expect(200));
    let reply = Reply::Got { status, body: body.clone() };
    run.load().recorder.add(Entry { client: usize::MAX, sent, done, call, reply });
    body
}

/// Every job that a list or an answer names, as GET shows it.
pub fn ending(run: &impl Run) -> Ending {
    let mut client = client(run);
    let mut ids: BTreeSet<String> = run.load().known().into_iter().collect();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("/v1/jobs?queue=default&limit=200{cursor}")).expect(200);
        let data = page["data"].as_array().expect("a list");
        ids.extend(data.iter().filter_map(|job| job["id"].as_str()).map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let mut ending = Ending::default();
    for id in ids {
        let answer = client.get(&format!("/v1/jobs/{id}"));
        if answer.status != 404 {
            ending.jobs.insert(id, answer.expect(200));
        }
    }
    ending
}

/// I34: the counters of the queue are the counts of its jobs.
pub fn counters_agree(run: &impl Run, ending: &Ending) {
    let queue = client(run).get("/v1/queues/default").expect(200);
    for state in STATES {
        let counted = ending.jobs.values().filter(|job| job["state"] == state).count();
        assert_eq!(queue["counts"][state], counted, "{state}: {queue}");
    }
}
