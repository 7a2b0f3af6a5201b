//! What the clients of a run asked, when, and what they were told.
//!
//! Every call is recorded once per time it was sent: a repeat is an entry of its own. All times
//! come from one monotonic clock of the test process.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;
use std::time::Instant;

use serde_json::{Map, Value, json};

/// Microseconds since the start of the run, cut off: `a < b` proves that `a` was earlier.
pub type Moment = u64;

/// A job as a producer asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// The task's name.
    pub task: String,
    /// The id the client made.
    pub id: Option<String>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The payload.
    pub payload: Value,
    /// The other members of the request.
    pub options: Map<String, Value>,
}

impl NewJob {
    /// The job's JSON as create and batch take it.
    pub fn body(&self) -> Value {
        let mut body = self.options.clone();
        body.insert("task".into(), json!(self.task));
        body.insert("payload".into(), self.payload.clone());
        if let Some(id) = &self.id {
            body.insert("id".into(), json!(id));
        }
        if let Some(key) = &self.key {
            body.insert("idempotency_key".into(), json!(key));
        }
        Value::Object(body)
    }
}

/// A lease as a worker names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lease {
    /// The job's id.
    pub job: String,
    /// The token of one claim.
    pub token: String,
}

/// How a worker says that a start ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// With a result.
    Completed(Value),
    /// With an error that may or may not be tried again.
    Failed {
        /// Whether another attempt may follow.
        retryable: bool,
    },
    /// Given back untouched.
    Released,
    /// To be run later, in so many milliseconds.
    Snoozed(u64),
    /// Stopped because a cancel was asked for.
    Cancelled,
}

impl Outcome {
    /// The outcome's name on the wire, which is also the state of a start that ended so.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::Failed { .. } => "failed",
            Self::Released => "released",
            Self::Snoozed(_) => "snoozed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The members it adds to an outcome of `finish`.
    fn body(&self) -> Value {
        match self {
            Self::Completed(result) => json!({"outcome": "completed", "result": result}),
            Self::Failed { retryable } => json!({
                "outcome": "failed", "retryable": retryable,
                "error": {"type": "Trial", "message": "meant to fail", "stack": null},
            }),
            Self::Released => json!({"outcome": "released"}),
            Self::Snoozed(delay_ms) => json!({"outcome": "snoozed", "delay_ms": delay_ms}),
            Self::Cancelled => json!({"outcome": "cancelled"}),
        }
    }
}

/// One report of one start.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The lease it speaks for.
    pub lease: Lease,
    /// What happened.
    pub outcome: Outcome,
}

/// What a client asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `POST /v1/jobs`
    Create(NewJob),
    /// `POST /v1/jobs/batch`
    Batch(Vec<NewJob>),
    /// `POST /v1/jobs/claim`
    Claim {
        /// Who claims.
        worker: String,
        /// Names the claim over its repeats.
        claim_id: String,
        /// Whether an earlier sending may have had its effect.
        repeat: bool,
        /// At most so many jobs.
        max: usize,
        /// The lease's length.
        lease_ms: u64,
    },
    /// `POST /v1/jobs/heartbeat`
    Heartbeat {
        /// Who beats.
        worker: String,
        /// The leases to be renewed.
        leases: Vec<Lease>,
        /// Their new length.
        lease_ms: u64,
    },
    /// `POST /v1/jobs/{id}/checkpoints`
    Checkpoint {
        /// The lease it is written under.
        lease: Lease,
        /// Its name.
        name: String,
        /// Its value.
        value: Value,
    },
    /// `POST /v1/jobs/finish`
    Finish(Vec<Report>),
    /// `POST /v1/jobs/{id}/retry`
    Retry {
        /// The job's id.
        job: String,
        /// The life the caller saw.
        life: u64,
        /// Whether checkpoints are dropped.
        fresh: bool,
    },
    /// `POST /v1/jobs/{id}/cancel`
    Cancel {
        /// The job's id.
        job: String,
    },
    /// `DELETE /v1/jobs/{id}`
    Delete {
        /// The job's id.
        job: String,
    },
    /// `GET /v1/jobs/{id}`
    Get {
        /// The job's id.
        job: String,
    },
}

impl Call {
    /// Method, path and body of the request.
    pub fn request(&self) -> (&'static str, String, Value) {
        let worker = |id: &str| json!({"id": id, "name": "trial", "sdk": "tests"});
        match self {
            Self::Create(job) => ("POST", "/v1/jobs".into(), job.body()),
            Self::Batch(jobs) => {
                let jobs: Vec<Value> = jobs.iter().map(NewJob::body).collect();
                ("POST", "/v1/jobs/batch".into(), json!({ "jobs": jobs }))
            }
            Self::Claim { worker: id, claim_id, repeat, max, lease_ms } => {
                let mut body = json!({
                    "worker": worker(id), "queues": ["default"], "max": max, "wait_ms": 0,
                    "lease_ms": lease_ms, "claim_id": claim_id,
                });
                if *repeat {
                    body["repeat"] = json!(true);
                }
                ("POST", "/v1/jobs/claim".into(), body)
            }
            Self::Heartbeat { worker: id, leases, lease_ms } => {
                let leases: Vec<Value> = leases.iter().map(lease_body).collect();
                let body = json!({"worker": worker(id), "leases": leases, "lease_ms": lease_ms});
                ("POST", "/v1/jobs/heartbeat".into(), body)
            }
            Self::Checkpoint { lease, name, value } => {
                let body = json!({"token": lease.token, "name": name, "value": value});
                ("POST", format!("/v1/jobs/{}/checkpoints", lease.job), body)
            }
            Self::Finish(reports) => {
                let outcomes = reports.iter().map(|report| {
                    let mut body = report.outcome.body();
                    body["id"] = json!(report.lease.job);
                    body["token"] = json!(report.lease.token);
                    body
                });
                let outcomes: Vec<Value> = outcomes.collect();
                ("POST", "/v1/jobs/finish".into(), json!({ "outcomes": outcomes }))
            }
            Self::Retry { job, life, fresh } => {
                let mut body = json!({ "life": life });
                if *fresh {
                    body["fresh"] = json!(true);
                }
                ("POST", format!("/v1/jobs/{job}/retry"), body)
            }
            Self::Cancel { job } => ("POST", format!("/v1/jobs/{job}/cancel"), Value::Null),
            Self::Delete { job } => ("DELETE", format!("/v1/jobs/{job}"), Value::Null),
            Self::Get { job } => ("GET", format!("/v1/jobs/{job}"), Value::Null),
        }
    }

    /// Whether it may change anything.
    pub fn mutates(&self) -> bool {
        !matches!(self, Self::Get { .. })
    }

    /// The claim that this is a sending of.
    fn claim(&self) -> Option<&str> {
        match self {
            Self::Claim { claim_id, .. } => Some(claim_id),
            _ => None,
        }
    }

    /// Whether it names this job, for the history that a failure prints.
    fn names(&self, job: &str) -> bool {
        match self {
            Self::Create(new) => new.id.as_deref() == Some(job),
            Self::Batch(all) => all.iter().any(|new| new.id.as_deref() == Some(job)),
            Self::Claim { .. } => false,
            Self::Heartbeat { leases, .. } => leases.iter().any(|lease| lease.job == job),
            Self::Checkpoint { lease, .. } => lease.job == job,
            Self::Finish(reports) => reports.iter().any(|report| report.lease.job == job),
            Self::Retry { job: own, .. }
            | Self::Cancel { job: own }
            | Self::Delete { job: own }
            | Self::Get { job: own } => own == job,
        }
    }
}

fn lease_body(lease: &Lease) -> Value {
    json!({"id": lease.job, "token": lease.token})
}

/// What came back.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A whole answer.
    Got {
        /// The HTTP status.
        status: u16,
        /// The JSON body.
        body: Value,
    },
    /// Sent, and no whole answer came, or one that says "storage failed" (5xx): the effect may
    /// have happened or may still happen.
    Unknown(String),
    /// Never sent: no effect.
    NotSent,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The number of the client thread.
    pub client: usize,
    /// Before the first byte was sent.
    pub sent: Moment,
    /// After the last byte was read, or when the client gave up.
    pub done: Moment,
    /// What was asked.
    pub call: Call,
    /// What came back.
    pub reply: Reply,
}

impl Entry {
    /// The body of an answer with a 2xx status.
    pub fn success(&self) -> Option<&Value> {
        match &self.reply {
            Reply::Got { status, body } if (200..300).contains(status) => Some(body),
            _ => None,
        }
    }

    /// Whether the call may have had an effect that its client does not know of.
    pub fn unknown(&self) -> bool {
        matches!(self.reply, Reply::Unknown(_))
    }

    /// Whether the answer was a refusal (a whole answer below 500 that is no success).
    pub fn refused(&self) -> bool {
        matches!(self.reply, Reply::Got { status, .. } if !(200..300).contains(&status))
    }

    fn concerns(&self, job: &str) -> bool {
        if self.call.names(job) {
            return true;
        }
        match (&self.call, &self.reply) {
            (Call::Create(_) | Call::Batch(_) | Call::Claim { .. }, Reply::Got { body, .. }) => {
                body.to_string().contains(job)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, path, body) = self.call.request();
        let (sent, done) = (self.sent / 1000, self.done / 1000);
        write!(out, "{sent:>7}..{done:<7} ms #{} {method} {path}", self.client)?;
        if !body.is_null() {
            write!(out, " {body}")?;
        }
        match &self.reply {
            Reply::Got { status, body } => write!(out, "\n{:>19}{status} {body}", "-> "),
            Reply::Unknown(why) => write!(out, "\n{:>19}unknown ({why})", "-> "),
            Reply::NotSent => write!(out, "\n{:>19}not sent", "-> "),
        }
    }
}

/// A finished run.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// All calls, in the order in which they ended.
    pub entries: Vec<Entry>,
    /// When the server was away, as (from, to).
    pub outages: Vec<(Moment, Moment)>,
}

impl History {
    /// Everything that was asked and said about a job, in the order of sending; of the claims that
    /// gave it, those without an answer too.
    pub fn of_job(&self, job: &str) -> String {
        let concerned = self.entries.iter().filter(|entry| entry.concerns(job));
        let claims: BTreeSet<&str> = concerned.filter_map(|entry| entry.call.claim()).collect();
        let same_claim =
            |entry: &Entry| entry.call.claim().is_some_and(|claim| claims.contains(claim));
        let entries = self.entries.iter();
        let mut entries: Vec<&Entry> =
            entries.filter(|entry| same_claim(entry) || entry.concerns(job)).collect();
        entries.sort_by_key(|entry| entry.sent);
        entries.iter().map(|entry| format!("{entry}\n")).collect()
    }
}

/// Collects the entries of all clients.
#[derive(Debug)]
pub struct Recorder {
    start: Instant,
    history: Mutex<History>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { start: Instant::now(), history: Mutex::default() }
    }
}

impl Recorder {
    /// The run's clock.
    pub fn now(&self) -> Moment {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Adds a call.
    pub fn add(&self, entry: Entry) {
        self.history.lock().unwrap().entries.push(entry);
    }

    /// Notes that the server was away.
    pub fn outage(&self, from: Moment, to: Moment) {
        self.history.lock().unwrap().outages.push((from, to));
    }

    /// The history so far.
    pub fn history(&self) -> History {
        self.history.lock().unwrap().clone()
    }
}
