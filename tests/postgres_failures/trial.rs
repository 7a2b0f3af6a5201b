//! A server under load at a database, what goes wrong meanwhile, and the verdict.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use halyard_tests::checker::{Ending, check, explain};
use halyard_tests::history::{Call, Entry, History, Lease, Outcome, Recorder, Reply, Report};
use halyard_tests::postgres::Url;
use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::load::{self, LEASE_MS};

const CLIENTS: usize = 6;
const ALIVE: &str = "/v1/jobs?state=scheduled,queued,running,retrying&limit=1&queue=default";
/// In a queue of its own: nobody is to work on it.
const OTHER: &str = r#"{"task": "other", "queue": "health"}"#;
const STATES: [&str; 7] =
    ["scheduled", "queued", "running", "retrying", "completed", "failed", "cancelled"];
/// So many creates in a row say that the trouble is over.
const HEALTHY: usize = 50;

/// What all threads of a run share.
pub(crate) struct Trial {
    pub(crate) server: Server,
    pub(crate) recorder: Recorder,
    pub(crate) over: AtomicBool,
}

/// A server on this database.
pub(crate) fn server_on(url: &Url) -> Server {
    Setup::new().env("HALYARD_DATABASE_URL", &url.to_string()).start()
}

impl Trial {
    /// Runs a server on this database under load while `trouble` is made and ended, and judges.
    /// Returns what the clients saw.
    pub(crate) fn run(url: &Url, trouble: impl FnOnce(&Self)) -> History {
        let trial = Self {
            server: server_on(url),
            recorder: Recorder::default(),
            over: AtomicBool::new(false),
        };
        let seed = std::env::var("HALYARD_SEED").ok().and_then(|text| text.parse().ok());
        let seed: u64 = seed.unwrap_or_else(rand::random);
        println!("HALYARD_SEED={seed}");
        std::thread::scope(|scope| {
            let trial = &trial;
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| scope.spawn(move || load::run(trial, number, seed)))
                .collect();
            trial.until_more(100);
            // The clients end with the test, also when that fails.
            let end = EndOf(&trial.over);
            trouble(trial);
            trial.until_healthy();
            trial.until_more(200);
            drop(end);
            for client in clients {
                client.join().expect("a client that got its answers");
            }
        });
        trial.judge()
    }

    pub(crate) fn client(&self) -> Client {
        self.server.client()
    }

    /// Waits until clients have had so many more changes acknowledged.
    pub(crate) fn until_more(&self, count: usize) {
        let acknowledged = || {
            let history = self.recorder.history();
            history.entries.iter().filter(|it| it.call.mutates() && it.success().is_some()).count()
        };
        let before = acknowledged();
        until("more work to be done", || (acknowledged() >= before + count).then_some(()));
    }

    /// Notes that the database was away, from `from` until a call is answered.
    pub(crate) fn outage_since(&self, from: u64) {
        self.until_healthy();
        self.recorder.outage(from, self.recorder.now());
    }

    /// Notes an outage from `from` on if there was one: stamps can fail for as long as that while
    /// other calls succeed between them. The server's log knows.
    pub(crate) fn outage_if_any_since(&self, from: u64) {
        if self.server.process().log().contains("live leases began anew") {
            self.outage_since(from);
        }
    }

    /// Waits until calls succeed in a row.
    pub(crate) fn until_healthy(&self) {
        let mut client = self.client();
        until("creates that succeed", || {
            let made = || {
                let answer = client.try_call("POST", "/v1/jobs", Some(OTHER.as_bytes()));
                answer.is_ok_and(|answer| answer.status == 201)
            };
            std::iter::repeat_with(made).take(HEALTHY).all(|made| made).then_some(())
        });
    }

    fn judge(self) -> History {
        self.finish_everything();
        let ending = self.ending();
        self.counters_agree();
        let history = self.recorder.history();
        let count =
            |is: &dyn Fn(&Entry) -> bool| history.entries.iter().filter(|it| is(it)).count();
        println!(
            "{} calls, {} succeeded, {} without a known outcome",
            history.entries.len(),
            count(&|entry| entry.success().is_some()),
            count(&Entry::unknown),
        );
        let log = self.server.process().log();
        for line in log.lines().filter(|line| line.contains("refused a group")).take(5) {
            println!("{line}");
        }
        let violations = check(&history, &ending);
        assert!(violations.is_empty(), "{}", explain(&history, &ending, &violations, 5));
        assert!(!log.contains("panicked"), "{log}");
        assert_eq!(self.server.process().kill(), None, "it had ended by itself:\n{log}");
        history
    }

    /// Works as a worker without faults until no job is left that could run.
    fn finish_everything(&self) {
        let mut client = self.client();
        let mut round = 0;
        until("the end of all jobs", || {
            round += 1;
            let claim = Call::Claim {
                worker: "wrk_healer".into(),
                claim_id: format!("heal-{round}"),
                repeat: false,
                max: 100,
                lease_ms: LEASE_MS,
            };
            let claimed = self.record(&mut client, claim);
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let jobs = claimed["jobs"].as_array().into_iter().flatten();
            let reports: Vec<Report> = jobs
                .map(|job| Report {
                    lease: Lease { job: text(&job["id"]), token: text(&job["lease"]["token"]) },
                    outcome: Outcome::Completed(json!("healed")),
                })
                .collect();
            if !reports.is_empty() {
                self.record(&mut client, Call::Finish(reports));
                return None;
            }
            let alive = client.get(ALIVE).expect(200);
            alive["data"].as_array().is_some_and(Vec::is_empty).then_some(())
        });
    }

    fn record(&self, client: &mut Client, call: Call) -> Value {
        let (method, path, body) = call.request();
        let sent = self.recorder.now();
        let answer = client.call(method, &path, &body);
        let (done, status, body) = (self.recorder.now(), answer.status, answer.expect(200));
        let reply = Reply::Got { status, body: body.clone() };
        self.recorder.add(Entry { client: usize::MAX, sent, done, call, reply });
        body
    }

    /// Every job of the load, as GET shows it.
    fn ending(&self) -> Ending {
        let mut client = self.client();
        let mut ids: BTreeSet<String> = BTreeSet::new();
        let mut cursor = String::new();
        loop {
            let page = client.get(&format!("/v1/jobs?task=trial&limit=200{cursor}")).expect(200);
            let data = page["data"].as_array().expect("a list");
            ids.extend(data.iter().filter_map(|job| job["id"].as_str()).map(str::to_owned));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let jobs = ids.into_iter().map(|id| {
            let job = client.get(&format!("/v1/jobs/{id}")).expect(200);
            (id, job)
        });
        Ending { jobs: jobs.collect() }
    }

    /// I34: the counters of the queue are the counts of its jobs.
    fn counters_agree(&self) {
        let mut client = self.client();
        let queue = client.get("/v1/queues/default").expect(200);
        for state in STATES {
            let mut counted = 0;
            let mut cursor = String::new();
            loop {
                let path = format!("/v1/jobs?state={state}&queue=default&limit=200{cursor}");
                let page = client.get(&path).expect(200);
                counted += page["data"].as_array().map_or(0, Vec::len);
                match page["next_cursor"].as_str() {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
            assert_eq!(queue["counts"][state], counted, "{state}: {queue}");
        }
    }
}

/// Ends the load when it is dropped.
struct EndOf<'a>(&'a AtomicBool);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Calls that the server answered with an error of its own.
pub(crate) fn refused(history: &History) -> Vec<&Entry> {
    let own =
        |entry: &&Entry| matches!(&entry.reply, Reply::Unknown(told) if told.starts_with('{'));
    history.entries.iter().filter(own).collect()
}
