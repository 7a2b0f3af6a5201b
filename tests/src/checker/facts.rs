//! The history sorted by job and by token, so that each rule reads like its sentence.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Ending, Violation};
use crate::history::{Call, Entry, History, Lease, Moment, NewJob, Outcome, Reply};

/// How far the clocks of client and server may disagree about the length of a lease.
pub(super) const SLACK: Moment = 500_000;

/// A gap of the server from which on the outage rule may have moved leases (5 s, less a margin).
pub(super) const OUTAGE: Moment = 4_000_000;

/// What became of one job that was asked for, alone or in a batch.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) entry: &'a Entry,
    pub(super) job: &'a NewJob,
    pub(super) verdict: Verdict<'a>,
}

/// The answer about one item.
#[derive(Debug)]
pub(super) enum Verdict<'a> {
    /// 201 with this job.
    Made(&'a Value),
    /// 200 with this job.
    Same(&'a Value),
    /// A refusal of this status.
    Refused(u16),
    /// No answer.
    Unknown,
}

impl<'a> Item<'a> {
    /// The job of an acknowledged create.
    pub(super) fn acked(&self) -> Option<&'a Value> {
        match self.verdict {
            Verdict::Made(job) | Verdict::Same(job) => Some(job),
            Verdict::Refused(_) | Verdict::Unknown => None,
        }
    }
}

/// One start of a job, as the answers of its claim tell it.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) job: &'a str,
    pub(super) number: u64,
    pub(super) life: u64,
    pub(super) attempt: u64,
    /// The job as the claim gave it.
    pub(super) given: &'a Value,
    /// The answers that gave it: one, or more when the claim was repeated.
    pub(super) claims: Vec<&'a Entry>,
}

impl Start<'_> {
    /// When it is certain to have begun.
    pub(super) fn known(&self) -> Moment {
        self.claims.iter().map(|claim| claim.done).min().unwrap_or_default()
    }
}

/// One report of a start and what was said to it.
#[derive(Debug)]
pub(super) struct Told<'a> {
    pub(super) entry: &'a Entry,
    pub(super) outcome: &'a Outcome,
    /// The item of the answer; `None`: unknown.
    pub(super) result: Option<&'a Value>,
}

impl Told<'_> {
    /// Whether this report took effect.
    pub(super) fn accepted(&self) -> bool {
        self.result.is_some_and(|one| one["status"] == "ok" && one["repeated"] != true)
    }

    /// Whether the answer says that it took effect before.
    pub(super) fn repeated(&self) -> bool {
        self.result.is_some_and(|one| one["status"] == "ok" && one["repeated"] == true)
    }
}

/// One renewal of a lease.
#[derive(Debug)]
pub(super) struct Beat<'a> {
    pub(super) entry: &'a Entry,
    pub(super) lease_ms: u64,
    /// The item of the answer; `None`: unknown.
    pub(super) result: Option<&'a Value>,
}

/// One checkpoint that was sent.
#[derive(Debug)]
pub(super) struct Mark<'a> {
    pub(super) entry: &'a Entry,
    pub(super) lease: &'a Lease,
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
}

/// A job's state as some answer showed it.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) sent: Moment,
    pub(super) done: Moment,
    pub(super) life: u64,
    pub(super) state: &'a str,
}

impl View<'_> {
    pub(super) fn terminal(&self) -> bool {
        terminal(self.state)
    }
}

/// Whether a state ends a life.
pub(super) fn terminal(state: &str) -> bool {
    matches!(state, "completed" | "failed" | "cancelled")
}

/// Everything, sorted.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) history: &'a History,
    pub(super) ending: &'a Ending,
    pub(super) items: Vec<Item<'a>>,
    /// By token.
    pub(super) starts: BTreeMap<&'a str, Start<'a>>,
    /// By job; tokens in the order of their start numbers.
    pub(super) tokens: BTreeMap<&'a str, Vec<&'a str>>,
    /// By token.
    pub(super) reports: BTreeMap<&'a str, Vec<Told<'a>>>,
    /// By token.
    pub(super) beats: BTreeMap<&'a str, Vec<Beat<'a>>>,
    /// By job.
    pub(super) marks: BTreeMap<&'a str, Vec<Mark<'a>>>,
    /// By job: retry, cancel and delete.
    pub(super) acts: BTreeMap<&'a str, Vec<&'a Entry>>,
    /// By job.
    pub(super) views: BTreeMap<&'a str, Vec<View<'a>>>,
    /// Answers that do not have the form of the contract.
    pub(super) malformed: Vec<Violation>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(history: &'a History, ending: &'a Ending) -> Self {
        let mut facts = Self {
            history,
            ending,
            items: Vec::new(),
            starts: BTreeMap::new(),
            tokens: BTreeMap::new(),
            reports: BTreeMap::new(),
            beats: BTreeMap::new(),
            marks: BTreeMap::new(),
            acts: BTreeMap::new(),
            views: BTreeMap::new(),
            malformed: Vec::new(),
        };
        for entry in &history.entries {
            if entry.reply != Reply::NotSent {
                facts.sort(entry);
            }
        }
        for job in ending.jobs.values() {
            facts.view(job, Moment::MAX, Moment::MAX);
        }
        for (token, start) in &facts.starts {
            facts.tokens.entry(start.job).or_default().push(token);
        }
        for tokens in facts.tokens.values_mut() {
            tokens.sort_by_key(|token| facts.starts[token].number);
        }
        facts
    }

    /// Whether the job may have been deleted by a call that was sent before `by`.
    pub(super) fn perhaps_deleted(&self, job: &str, by: Moment) -> bool {
        self.acts_on(job)
            .any(|act| matches!(act.call, Call::Delete { .. }) && !act.refused() && act.sent < by)
    }

    /// Whether a retry that drops checkpoints may have had its effect between two instants.
    pub(super) fn perhaps_dropped(&self, job: &str, from: Moment, to: Moment) -> bool {
        self.acts_on(job).any(|act| {
            let late = if act.unknown() { Moment::MAX } else { act.done };
            let drops = matches!(act.call, Call::Retry { fresh: true, .. });
            drops && !act.refused() && act.sent <= to && late >= from
        })
    }

    /// Retry, cancel and delete of a job.
    pub(super) fn acts_on(&self, job: &str) -> impl Iterator<Item = &'a Entry> {
        self.acts.get(job).into_iter().flatten().copied()
    }

    /// The starts of a job in the order of their numbers.
    pub(super) fn starts_of(&self, job: &str) -> impl Iterator<Item = &Start<'a>> {
        self.tokens.get(job).into_iter().flatten().filter_map(|token| self.starts.get(token))
    }

    /// Whether the server was away, between two instants, so long that leases may have moved.
    pub(super) fn outage_between(&self, from: Moment, to: Moment) -> bool {
        let mut outages = self.history.outages.iter();
        outages.any(|(start, end)| end - start >= OUTAGE && *start < to && *end > from)
    }

    fn sort(&mut self, entry: &'a Entry) {
        match &entry.call {
            Call::Create(job) => self.item(entry, job, None),
            Call::Batch(jobs) => {
                let results = entry.success().map(|body| &body["results"]);
                let told = results.and_then(Value::as_array).map(Vec::len);
                if results.is_some() && told != Some(jobs.len()) {
                    let text = format!("a batch of {} got {told:?} results", jobs.len());
                    self.malformed.push(Violation { rule: "I7", job: None, text });
                    return;
                }
                for (index, job) in jobs.iter().enumerate() {
                    self.item(entry, job, results.and_then(|all| all.get(index)));
                }
            }
            Call::Claim { .. } => self.claim(entry),
            Call::Heartbeat { leases, lease_ms, .. } => {
                for (index, lease) in leases.iter().enumerate() {
                    let result = self.result(entry, index, leases.len(), &lease.job);
                    let beat = Beat { entry, lease_ms: *lease_ms, result };
                    self.beats.entry(&lease.token).or_default().push(beat);
                }
            }
            Call::Checkpoint { lease, name, value } => {
                let mark = Mark { entry, lease, name, value };
                self.marks.entry(&lease.job).or_default().push(mark);
            }
            Call::Finish(reports) => {
                for (index, report) in reports.iter().enumerate() {
                    let result = self.result(entry, index, reports.len(), &report.lease.job);
                    let told = Told { entry, outcome: &report.outcome, result };
                    self.reports.entry(&report.lease.token).or_default().push(told);
                }
            }
            Call::Retry { job, .. } | Call::Cancel { job } | Call::Delete { job } => {
                self.acts.entry(job).or_default().push(entry);
                if let Some(body) = entry.success() {
                    self.view(body, entry.sent, entry.done);
                }
            }
            Call::Get { .. } => {
                if let Some(body) = entry.success() {
                    self.view(body, entry.sent, entry.done);
                }
            }
        }
    }

    /// One job that was asked for; `result` is its item in a batch's answer.
    fn item(&mut self, entry: &'a Entry, job: &'a NewJob, result: Option<&'a Value>) {
        let (status, body) = match (&entry.reply, result) {
            (Reply::Got { status: 200..300, .. }, Some(result)) => {
                (result["status"].as_u64().unwrap_or_default() as u16, &result["job"])
            }
            (Reply::Got { status, body }, _) => (*status, body),
            _ => (0, &Value::Null),
        };
        let verdict = match status {
            201 => Verdict::Made(body),
            200 => Verdict::Same(body),
            0 => Verdict::Unknown,
            _ => Verdict::Refused(status),
        };
        if status == 200 || status == 201 {
            self.view(body, entry.sent, entry.done);
        }
        self.items.push(Item { entry, job, verdict });
    }

    fn claim(&mut self, entry: &'a Entry) {
        let given = entry.success().and_then(|body| body["jobs"].as_array());
        for given in given.into_iter().flatten() {
            let (Some(job), Some(token)) = (given["id"].as_str(), given["lease"]["token"].as_str())
            else {
                let text = format!("a claim gave a job without id or token: {given}");
                self.malformed.push(Violation { rule: "I15", job: None, text });
                continue;
            };
            let number = |name: &str| given[name].as_u64().unwrap_or_default();
            let start = self.starts.entry(token).or_insert_with(|| Start {
                job,
                number: number("starts"),
                life: number("life"),
                attempt: number("attempt"),
                given,
                claims: Vec::new(),
            });
            if (start.job, start.number) != (job, number("starts")) {
                let text = format!(
                    "token {token} is start {} of {} and start {} of this job",
                    start.number,
                    start.job,
                    number("starts")
                );
                self.malformed.push(Violation { rule: "I11", job: Some(job.to_owned()), text });
                continue;
            }
            start.claims.push(entry);
            self.view(given, entry.sent, entry.done);
        }
    }

    /// The item of an answer that lists one result for each lease.
    fn result(
        &mut self,
        entry: &'a Entry,
        index: usize,
        count: usize,
        job: &str,
    ) -> Option<&'a Value> {
        let results = entry.success()?["results"].as_array();
        let result = results.filter(|all| all.len() == count).and_then(|all| all.get(index));
        if result.is_none_or(|one| one["id"] != job) {
            let text = format!("result {index} of {count} is not about it: {results:?}");
            self.malformed.push(Violation { rule: "form", job: Some(job.to_owned()), text });
        }
        result
    }

    fn view(&mut self, job: &'a Value, sent: Moment, done: Moment) {
        if job["purged"] == true {
            // What is left of a deleted job knows nothing of its lives.
            return;
        }
        if let (Some(id), Some(life), Some(state)) =
            (job["id"].as_str(), job["life"].as_u64(), job["state"].as_str())
        {
            self.views.entry(id).or_default().push(View { sent, done, life, state });
        }
    }
}
