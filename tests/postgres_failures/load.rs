//! One client: producer, worker and operator in one, by chance.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use halyard_tests::history::{Call, Entry, Lease, NewJob, Outcome, Reply, Report};
use halyard_tests::ids::job_id;
use halyard_tests::wire::{Client, Failure};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, json};

use crate::trial::Trial;

/// The shortest time between two calls of one client.
const PACE: Duration = Duration::from_millis(5);

/// How long a client repeats a call: longer than any trouble here lasts.
const PATIENCE: Duration = Duration::from_secs(120);

/// The shortest lease that there is.
pub(crate) const LEASE_MS: u64 = 5_000;

/// How many leases a client holds at most.
const HELD_MAX: usize = 10;

struct Actor<'a> {
    trial: &'a Trial,
    number: usize,
    client: Client,
    chance: StdRng,
    count: u64,
    /// Leases with the number of checkpoints written under them.
    held: Vec<(Lease, usize)>,
    /// Leases that were reported: their tokens are tried again now and then.
    spent: Vec<Lease>,
    /// What was asked for under a key, to be asked for again.
    keyed: Vec<NewJob>,
    /// Jobs that were made.
    known: Vec<String>,
}

/// Makes calls until the trial is over, then reports what is still held.
pub(crate) fn run(trial: &Trial, number: usize, seed: u64) {
    let mut actor = Actor {
        trial,
        number,
        client: trial.client(),
        chance: StdRng::seed_from_u64(seed.wrapping_add(1 + number as u64)),
        count: 0,
        held: Vec::new(),
        spent: Vec::new(),
        keyed: Vec::new(),
        known: Vec::new(),
    };
    while !trial.over.load(Ordering::SeqCst) {
        let next = Instant::now() + PACE;
        actor.step();
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    while !actor.held.is_empty() {
        actor.finish();
    }
}

impl Actor<'_> {
    fn step(&mut self) {
        match self.chance.random_range(0..100) {
            0..22 => self.create(),
            22..28 => self.batch(),
            28..46 => self.claim(),
            46..60 => self.checkpoint(),
            60..66 => self.beat(),
            66..88 => self.finish(),
            88..96 => self.act(),
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
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes a call once, and records it.
    fn send(&mut self, call: &Call) -> Reply {
        let (method, path, body) = call.request();
        let body = (!body.is_null()).then(|| body.to_string().into_bytes());
        let sent = self.trial.recorder.now();
        let answer = self.client.try_call(method, &path, body.as_deref());
        let done = self.trial.recorder.now();
        let reply = match answer {
            Ok(answer) if answer.status >= 500 => Reply::Unknown(answer.text()),
            Ok(answer) => Reply::Got { status: answer.status, body: answer.json() },
            Err(Failure::NoAnswer(error)) => Reply::Unknown(error.to_string()),
            Err(Failure::NotSent(_)) => Reply::NotSent,
        };
        let entry = Entry { client: self.number, sent, done, call: call.clone(), reply };
        self.trial.recorder.add(entry.clone());
        entry.reply
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.chance.random_ratio(1, count)
    }

    fn wish(&mut self) -> NewJob {
        if self.one_in(4)
            && let Some(job) = self.keyed.choose(&mut self.chance).cloned()
        {
            return NewJob { id: None, ..job };
        }
        self.count += 1;
        let mut options = Map::new();
        options.insert("max_attempts".into(), json!(self.chance.random_range(1..7)));
        options.insert("max_crashes".into(), json!(self.chance.random_range(2..5)));
        options.insert("priority".into(), json!(self.chance.random_range(-1..2)));
        let backoff = json!({"initial_ms": 50, "factor": 1.5, "max_ms": 300, "jitter": 0.2});
        options.insert("backoff".into(), backoff);
        if self.one_in(10) {
            options.insert("delay_ms".into(), json!(self.chance.random_range(1..500)));
        }
        let payload = json!({"client": self.number, "count": self.count, "text": "é\u{1f600}\n"});
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

    fn create(&mut self) {
        let job = self.wish();
        if let Reply::Got { body, .. } = self.tell(Call::Create(job))
            && let Some(id) = body["id"].as_str()
        {
            self.known.push(id.to_owned());
        }
    }

    fn batch(&mut self) {
        let jobs = (0..self.chance.random_range(2..8)).map(|_| self.wish()).collect();
        self.tell(Call::Batch(jobs));
    }

    fn worker(&self) -> String {
        format!("wrk_{}", self.number)
    }

    fn claim(&mut self) {
        if self.held.len() >= HELD_MAX {
            return self.finish();
        }
        let claim_id = format!("{}-{}", self.number, self.chance.random::<u64>());
        let (worker, max) = (self.worker(), self.chance.random_range(1..6));
        let call = Call::Claim { worker, claim_id, repeat: false, max, lease_ms: LEASE_MS };
        let Reply::Got { body, .. } = self.tell(call) else { return };
        for job in body["jobs"].as_array().into_iter().flatten() {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let lease = Lease { job: text(&job["id"]), token: text(&job["lease"]["token"]) };
            let marks = job["checkpoints"].as_array().map_or(0, Vec::len);
            self.held.push((lease, marks));
        }
    }

    fn checkpoint(&mut self) {
        if self.held.is_empty() {
            return self.claim();
        }
        let at = self.chance.random_range(0..self.held.len());
        let (lease, marks) = &mut self.held[at];
        let (lease, name) = (lease.clone(), format!("step-{marks}"));
        *marks += 1;
        self.count += 1;
        let call = Call::Checkpoint { lease, name, value: json!({"n": self.count}) };
        self.tell(call);
    }

    fn beat(&mut self) {
        let leases: Vec<Lease> = self.held.iter().map(|(lease, _)| lease.clone()).collect();
        if !leases.is_empty() {
            self.tell(Call::Heartbeat { worker: self.worker(), leases, lease_ms: LEASE_MS });
        }
    }

    fn outcome(&mut self) -> Outcome {
        self.count += 1;
        match self.chance.random_range(0..20) {
            0..14 => Outcome::Completed(json!({"by": self.number, "count": self.count})),
            14..16 => Outcome::Failed { retryable: true },
            16 => Outcome::Failed { retryable: false },
            17 => Outcome::Released,
            18 => Outcome::Snoozed(1000),
            _ => Outcome::Cancelled,
        }
    }

    fn finish(&mut self) {
        if self.held.is_empty() {
            return self.claim();
        }
        let mut reports = Vec::new();
        for _ in 0..self.chance.random_range(1..=self.held.len().min(4)) {
            let (lease, _) = self.held.swap_remove(self.chance.random_range(0..self.held.len()));
            self.spent.push(lease.clone());
            reports.push(Report { lease, outcome: self.outcome() });
        }
        self.tell(Call::Finish(reports.clone()));
        if self.one_in(10) {
            self.tell(Call::Finish(reports));
        }
    }

    /// An operator's call.
    fn act(&mut self) {
        let Some(job) = self.known.choose(&mut self.chance).cloned() else { return };
        let Reply::Got { status: 200, body } = self.tell(Call::Get { job: job.clone() }) else {
            return;
        };
        match self.chance.random_range(0..4) {
            0 => {
                self.tell(Call::Cancel { job });
            }
            1 | 2 => {
                let life = body["life"].as_u64().unwrap_or_default();
                let fresh = self.one_in(4);
                self.tell(Call::Retry { job, life, fresh });
            }
            _ => {}
        }
    }

    /// Speaks with a token that was used before.
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
