//! One client: producer, worker and operator in one, by chance.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use super::Run;
use crate::history::{Call, Entry, Lease, NewJob, Outcome, Reply, Report};
use crate::ids::job_id;
use crate::wire::{Client, Failure};

/// The shortest time between two calls of one client, so that the history stays of a size that a
/// person can read and the final check takes seconds.
const PACE: Duration = Duration::from_millis(7);

/// How long a client repeats a call: longer than any trouble lasts.
const PATIENCE: Duration = Duration::from_secs(120);

/// The length of most leases, in milliseconds, the shortest that there is; every heartbeat asks
/// for it.
pub const LEASE_MS: u64 = 5_000;

/// How soon after its end a lease that was given up is spoken for: before the server's next look
/// at lapsed ones, if it can be.
const LATE: Duration = Duration::from_millis(20);

/// With several servers, every so many steps of a client are the last at its server: what it holds
/// it reports elsewhere.
const MOVES_ONE_IN: u32 = 20;

/// How long a client waits after an answer that the database is away.
const REST: Duration = Duration::from_millis(100);

/// How many leases a client holds at most.
const HELD_MAX: usize = 12;

/// A job that this client works on.
struct Held {
    lease: Lease,
    life: u64,
    /// How many checkpoints it wrote.
    marks: usize,
}

struct Actor<'a, R> {
    run: &'a R,
    number: usize,
    /// Whom it speaks to.
    server: usize,
    client: Client,
    chance: StdRng,
    count: u64,
    held: Vec<Held>,
    /// Leases that were reported or given up: their tokens are tried again now and then.
    spent: Vec<Lease>,
    /// Leases that were given up, and when they lapse at the earliest.
    lapsing: Vec<(Instant, Lease)>,
    /// Retries that this client asked for, to ask for them again.
    retried: Vec<Call>,
    /// What this client asked for under a key, to ask for it again.
    keyed: Vec<NewJob>,
}

/// Makes calls as client `number` until the load is over, then reports what is still held. The
/// same seed makes the same choices.
///
/// # Panics
///
/// When a call stays without an answer for two minutes.
pub fn run(run: &impl Run, number: usize, seed: u64) {
    let (server, client) = run.client(number);
    let mut actor = Actor {
        run,
        number,
        server,
        client,
        chance: StdRng::seed_from_u64(seed.wrapping_add(1 + number as u64)),
        count: 0,
        held: Vec::new(),
        spent: Vec::new(),
        lapsing: Vec::new(),
        retried: Vec::new(),
        keyed: Vec::new(),
    };
    while !run.load().over.load(Ordering::SeqCst) {
        let next = Instant::now() + PACE;
        actor.step();
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    while !actor.held.is_empty() {
        actor.finish();
    }
}

impl<R: Run> Actor<'_, R> {
    fn step(&mut self) {
        if self.run.servers() > 1 && self.one_in(MOVES_ONE_IN) {
            self.move_on();
        }
        if self.lapsing.first().is_some_and(|(at, _)| *at + LATE <= Instant::now()) {
            return self.speak_at_lapse();
        }
        match self.chance.random_range(0..100) {
            0..20 => self.create(),
            20..25 => self.batch(),
            25..45 => self.claim(),
            45..58 => self.checkpoint(),
            58..64 => self.beat(),
            64..86 => self.finish(),
            86..92 => self.act(),
            92..95 => self.give_up(),
            _ => self.speak_late(),
        }
    }

    /// Makes a call, and repeats it until there is an answer, as a real client does.
    fn tell(&mut self, mut call: Call) -> Reply {
        let give_up = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < give_up, "no answer in {PATIENCE:?}: {call:?}");
            let reply = self.send(&call);
            if matches!(reply, Reply::Got { .. }) {
                return reply;
            }
            if let (Call::Claim { repeat, .. }, Reply::Unknown(_)) = (&mut call, &reply) {
                *repeat = true;
            }
            self.move_on();
            if matches!(reply, Reply::NotSent) {
                std::thread::sleep(PACE);
            }
        }
    }

    /// Speaks to the next server from now on, or anew to the only one.
    fn move_on(&mut self) {
        (self.server, self.client) = self.run.client(self.server + 1);
    }

    /// Makes a call once, and records it.
    fn send(&mut self, call: &Call) -> Reply {
        let (run, load) = (self.run, self.run.load());
        let (method, path, body) = call.request();
        let body = (!body.is_null()).then(|| body.to_string().into_bytes());
        let weight = usize::from(call.mutates());
        load.in_flight.fetch_add(weight, Ordering::SeqCst);
        let sent = load.recorder.now();
        // Now and then the network loses an answer, and always more of them when a server dies.
        let (lost, lost_at_kill) = (self.one_in(60), self.one_in(2));
        let server = self.server;
        let answer = self.client.try_call_with(method, &path, body.as_deref(), || {
            let killed = run.sent(call, server);
            !(lost || killed && lost_at_kill)
        });
        let done = load.recorder.now();
        load.in_flight.fetch_sub(weight, Ordering::SeqCst);
        let reply = match answer {
            Ok(answer) if answer.status >= 500 => {
                std::thread::sleep(REST);
                Reply::Unknown(answer.text())
            }
            Ok(answer) => Reply::Got { status: answer.status, body: answer.json() },
            Err(Failure::NoAnswer(error)) => Reply::Unknown(error.to_string()),
            Err(Failure::NotSent(_)) => Reply::NotSent,
        };
        let entry = Entry { client: self.number, sent, done, call: call.clone(), reply };
        load.recorder.add(entry.clone());
        entry.reply
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.chance.random_ratio(1, count)
    }

    fn new_job(&mut self) -> NewJob {
        self.count += 1;
        let payload = json!({
            "client": self.number, "count": self.count, "big": 9_007_199_254_740_993_u64,
            "text": "é\u{1f600}\n", "list": [null, true, 0.5],
        });
        let mut options = Map::new();
        let mut set = |name: &str, value: Value| options.insert(name.to_owned(), value);
        set("max_attempts", json!(self.chance.random_range(1..7)));
        set("max_crashes", json!(self.chance.random_range(1..5)));
        set("priority", json!(self.chance.random_range(-2..3)));
        let initial_ms = self.chance.random_range(0..300);
        set(
            "backoff",
            json!({"initial_ms": initial_ms, "factor": 1.5, "max_ms": 500, "jitter": 0.2}),
        );
        if self.chance.random_ratio(1, 10) {
            set("timeout_ms", json!(self.chance.random_range(200..600)));
        }
        if self.chance.random_ratio(1, 10) {
            set("delay_ms", json!(self.chance.random_range(1..1000)));
        }
        let mut job = NewJob { task: "trial".into(), id: None, key: None, payload, options };
        if self.one_in(2) {
            job.key = Some(format!("{}:{}", self.number, self.count));
            self.keyed.push(job.clone());
        }
        if job.key.is_none() || self.one_in(2) {
            job.id = Some(job_id());
        }
        job
    }

    /// A new job, or one whose key was used before, now and then with another payload.
    fn wish(&mut self) -> NewJob {
        if !self.one_in(4) {
            return self.new_job();
        }
        let Some(mut job) = self.keyed.choose(&mut self.chance).cloned() else {
            return self.new_job();
        };
        job.id = None;
        if self.one_in(8) {
            job.payload["count"] = json!(0);
        }
        job
    }

    fn create(&mut self) {
        let job = self.wish();
        if let Reply::Got { body, .. } = self.tell(Call::Create(job)) {
            self.learn(&body);
        }
    }

    fn batch(&mut self) {
        let jobs = (0..self.chance.random_range(2..10)).map(|_| self.wish()).collect();
        if let Reply::Got { body, .. } = self.tell(Call::Batch(jobs)) {
            for result in body["results"].as_array().into_iter().flatten() {
                self.learn(&result["job"]);
            }
        }
    }

    fn learn(&mut self, job: &Value) {
        if let Some(id) = job["id"].as_str() {
            self.run.load().known.lock().unwrap().push(id.to_owned());
        }
    }

    fn worker(&self) -> String {
        format!("wrk_{}", self.number)
    }

    fn claim(&mut self) {
        if self.held.len() >= HELD_MAX {
            return self.finish();
        }
        let claim_id = format!("{}-{}", self.number, self.chance.random::<u64>());
        let (worker, max) = (self.worker(), self.chance.random_range(1..7));
        let lease_ms = if self.one_in(8) { self.run.load().long_lease_ms } else { LEASE_MS };
        let call = Call::Claim { worker, claim_id, repeat: false, max, lease_ms };
        let Reply::Got { body, .. } = self.tell(call) else { return };
        for job in body["jobs"].as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let lease = Lease { job: text(&job["id"]), token: text(&job["lease"]["token"]) };
            let life = job["life"].as_u64().unwrap_or_default();
            let marks = job["checkpoints"].as_array().map_or(0, Vec::len);
            self.held.push(Held { lease, life, marks });
        }
    }

    fn checkpoint(&mut self) {
        if self.held.is_empty() {
            return self.claim();
        }
        let index = self.chance.random_range(0..self.held.len());
        let held = &mut self.held[index];
        // Now and then a name that is there already, with another value: the first one stays.
        let clash = held.marks > 0 && self.chance.random_ratio(1, 8);
        let step = if clash { held.marks - 1 } else { held.marks };
        let name = format!("step {}.{step}", held.life);
        let value = if clash { json!("late") } else { json!({"step": step, "by": self.number}) };
        let lease = held.lease.clone();
        if let Reply::Got { status: 200 | 201, .. } =
            self.tell(Call::Checkpoint { lease, name, value })
            && !clash
        {
            self.held[index].marks += 1;
        }
    }

    fn beat(&mut self) {
        let leases: Vec<Lease> = self.held.iter().map(|held| held.lease.clone()).collect();
        if !leases.is_empty() {
            self.tell(Call::Heartbeat { worker: self.worker(), leases, lease_ms: LEASE_MS });
        }
    }

    fn outcome(&mut self) -> Outcome {
        match self.chance.random_range(0..20) {
            0..11 => {
                let exact = 9_007_199_254_740_993_u64 + self.chance.random_range(0..2);
                Outcome::Completed(json!({"by": self.number, "exact": exact}))
            }
            11..14 => Outcome::Failed { retryable: true },
            14..16 => Outcome::Failed { retryable: false },
            16..18 => Outcome::Released,
            18 => Outcome::Snoozed(1000),
            _ => Outcome::Cancelled,
        }
    }

    fn finish(&mut self) {
        if self.held.is_empty() {
            return self.claim();
        }
        let count = self.chance.random_range(1..=self.held.len().min(5));
        let mut reports = Vec::new();
        for _ in 0..count {
            let held = self.held.swap_remove(self.chance.random_range(0..self.held.len()));
            self.spent.push(held.lease.clone());
            reports.push(Report { lease: held.lease, outcome: self.outcome() });
        }
        self.tell(Call::Finish(reports.clone()));
        if self.one_in(10) {
            // The answer is taken for lost: the same reports again.
            self.tell(Call::Finish(reports));
        }
    }

    /// An operator's call, about a job of anybody.
    fn act(&mut self) {
        let job = self.run.load().known.lock().unwrap().choose(&mut self.chance).cloned();
        let Some(job) = job else { return };
        match self.chance.random_range(0..14) {
            12.. => {
                if let Some(retry) = self.retried.choose(&mut self.chance).cloned() {
                    self.tell(retry);
                }
            }
            0..4 => {
                let Reply::Got { status: 200, body } = self.tell(Call::Get { job: job.clone() })
                else {
                    return;
                };
                let life = body["life"].as_u64().unwrap_or_default();
                let fresh = self.one_in(6);
                let retry = Call::Retry { job, life, fresh };
                self.tell(retry.clone());
                if self.one_in(3) {
                    self.tell(retry.clone());
                }
                self.retried.push(retry);
            }
            4..8 => {
                self.tell(Call::Cancel { job });
            }
            8 => {
                self.tell(Call::Delete { job });
            }
            _ => {
                self.tell(Call::Get { job });
            }
        }
    }

    /// The worker forgets a job: its lease will lapse.
    fn give_up(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let lease = self.held.swap_remove(self.chance.random_range(0..self.held.len())).lease;
        self.spent.push(lease.clone());
        // Renewed now, it lapses at a time that is known.
        let (worker, leases) = (self.worker(), vec![lease.clone()]);
        let call = Call::Heartbeat { worker, leases, lease_ms: LEASE_MS };
        let Reply::Got { body, .. } = self.tell(call) else { return };
        if let Some(ms) = body["results"][0]["expires_in_ms"].as_u64() {
            self.lapsing.push((Instant::now() + Duration::from_millis(ms), lease));
            self.lapsing.sort_by_key(|(at, _)| *at);
        }
    }

    /// Renews a lease that lapsed just now: too late.
    fn speak_at_lapse(&mut self) {
        let (_, lease) = self.lapsing.remove(0);
        let (worker, leases) = (self.worker(), vec![lease]);
        self.tell(Call::Heartbeat { worker, leases, lease_ms: LEASE_MS });
    }

    /// Speaks with a token that was used or given up before.
    fn speak_late(&mut self) {
        let Some(lease) = self.spent.choose(&mut self.chance).cloned() else { return };
        let call = match self.chance.random_range(0..3) {
            0 => Call::Finish(vec![Report { lease, outcome: self.outcome() }]),
            1 => Call::Checkpoint { lease, name: "too late".into(), value: json!(self.count) },
            _ => Call::Heartbeat { worker: self.worker(), leases: vec![lease], lease_ms: LEASE_MS },
        };
        self.tell(call);
    }
}
