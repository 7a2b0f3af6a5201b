//! Makes a sequence of commands from a seed.
//!
//! Few ids, keys, queues and tasks, so that commands meet; each seed draws its own share of every
//! kind of command and of time ("swarm", Groce et al., "Swarm testing", 2012), so that rare kinds
//! come in numbers somewhere.

use std::sync::Arc;

use halyard_core::TimeMs;
use halyard_core::admission::{Due, NewJob};
use halyard_core::backoff::Backoff;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Details, Name, State};
use halyard_core::key::IfFailed;
use halyard_core::limits::DAY;
use halyard_core::operate::Retry;
use halyard_core::outcome::Report;
use halyard_core::retention::Retention;
use halyard_json::Text;

use super::command::{Command, Pick, Said};
use super::dice::Dice;
use super::kinds::{Kind, SHARES};
use crate::contract::trial::{HOUR, MINUTE, START, text};
use crate::verbs::{Bulk, BulkAction, Claim, Filter, RequestKey};

/// Sequences that run one after the other on one pair of stores: opening one takes longer than a
/// sequence.
pub(super) const BATCH: u64 = 25;

/// Commands of one sequence.
const LENGTH: usize = 40;

/// A sequence, and the names that it uses.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub(super) seed: u64,
    /// Later than everything that the sequences before it in its batch can reach.
    pub(super) begins_at: TimeMs,
    pub(super) commands: Vec<Command>,
    pub(super) ids: Vec<JobId>,
    pub(super) queues: Vec<Name>,
    pub(super) tasks: Vec<Name>,
    pub(super) keys: Vec<Name>,
}

struct Generator {
    dice: Dice,
    begins_at: TimeMs,
    shares: Vec<(Kind, u64)>,
    passes: Vec<i64>,
    ids: Vec<JobId>,
    queues: Vec<Name>,
    tasks: Vec<Name>,
    keys: Vec<Name>,
    keyed: u64,
    with_request: u64,
    payloads: Vec<Text>,
}

/// The sequence of a seed.
pub(super) fn sequence(seed: u64) -> Sequence {
    let mut generator = Generator::of(seed);
    let mut commands: Vec<Command> = Vec::new();
    while commands.len() < LENGTH {
        let command = generator.command(&commands);
        commands.push(command);
    }
    let Generator { begins_at, ids, queues, tasks, keys, .. } = generator;
    Sequence { seed, begins_at, commands, ids, queues, tasks, keys }
}

impl Generator {
    fn of(seed: u64) -> Self {
        let mut dice = Dice::of(seed);
        let shares = SHARES
            .iter()
            .map(|(kind, share)| match kind {
                Kind::Create | Kind::Claim | Kind::Finish => (*kind, *share),
                _ => (*kind, share * dice.pick(&[0, 1, 1, 1, 3])),
            })
            .collect();
        let names = |prefix: &str, many: usize| {
            (0..many).map(|number| Name::from(format!("{prefix}{number}"))).collect::<Vec<_>>()
        };
        let (queues, tasks) = (names("q", 1 + dice.below(4)), names("t", 1 + dice.below(3)));
        let keys = ["k", "é", "e\u{301}", "🔑"].map(Name::from);
        let short = vec![0, 1, 999, 1_000, 4_000, 5_000, 5_001];
        let long = vec![1_000, 5_000, 5_001, MINUTE, HOUR, DAY - 1, DAY, 8 * DAY, 31 * DAY];
        let passes = dice.pick(&[short.clone(), short, long]);
        let (keyed, with_request) = (dice.pick(&[0, 50, 90]), dice.pick(&[0, 0, 40]));
        let some = 1 + dice.below(keys.len());
        // No sequence takes 2,000 days: forty times 31, twice 31, and 400.
        let begins_at = START + 2_000 * DAY * (seed % BATCH).cast_signed();
        Self {
            begins_at,
            shares,
            passes,
            ids: Vec::new(),
            queues,
            tasks,
            keys: keys.into_iter().take(some).collect(),
            keyed,
            with_request,
            payloads: ["null", "1", "1.0", r#"{"a":[1]}"#].map(text).to_vec(),
            dice,
        }
    }

    fn command(&mut self, earlier: &[Command]) -> Command {
        match self.kind() {
            Kind::Create => {
                let many = self.dice.pick(&[1, 1, 1, 2, 4]);
                let jobs = (0..many).map(|_| self.job()).collect();
                Command::Create(jobs, self.request("create"))
            }
            Kind::Claim => self.claim(),
            Kind::Finish => {
                let many = self.dice.pick(&[1, 1, 2, 3]);
                let outcomes = (0..many).map(|_| (self.lease(), self.report())).collect();
                Command::Finish(outcomes, self.dice.seed())
            }
            Kind::Heartbeat => {
                let many = 1 + self.dice.below(3);
                let picks = (0..many).map(|_| self.lease()).collect();
                Command::Heartbeat(picks, self.dice.pick(&[5_000, 10_000, MINUTE]))
            }
            Kind::Checkpoint => {
                let name = self.dice.pick(&["a", "b", "c", "шаг"]).into();
                let value = self.dice.pick(&self.payloads);
                Command::Checkpoint(self.lease(), name, value, self.dice.seed())
            }
            Kind::Again => match earlier.len() {
                0 => Command::Overview,
                many => {
                    let mut again = earlier[many - 1 - self.dice.small(many)].clone();
                    again.reseed(self.dice.seed());
                    again
                }
            },
            kind @ (Kind::Retry
            | Kind::Cancel
            | Kind::RunNow
            | Kind::RunAsNew
            | Kind::Delete
            | Kind::Bulk
            | Kind::ForgetKey
            | Kind::SetPaused) => self.operation(kind),
            kind => self.watch_or_read(kind),
        }
    }

    fn operation(&mut self, kind: Kind) -> Command {
        let id = self.id();
        match kind {
            Kind::Retry => {
                let (how, request) = (self.how(), self.request("retry"));
                Command::Retry(id, how, request, self.dice.seed())
            }
            Kind::Cancel => Command::Cancel(id, self.dice.seed()),
            Kind::RunNow => Command::RunNow(id, self.dice.seed()),
            Kind::RunAsNew => {
                let new_id = if self.dice.percent(90) { self.new_id() } else { self.id() };
                let payload = self.dice.percent(50).then(|| self.dice.pick(&self.payloads));
                Command::RunAsNew(id, new_id, payload, self.request("again"))
            }
            Kind::Delete => Command::Delete(id, self.dice.percent(30), self.dice.seed()),
            Kind::Bulk => {
                let actions =
                    [BulkAction::Retry, BulkAction::Cancel, BulkAction::Delete, BulkAction::RunNow];
                let action = self.dice.pick(&actions);
                let target = |it: &mut Self| {
                    let id = it.dice.percent(95).then(|| it.id());
                    (id, it.dice.pick(&[None, None, Some(1), Some(2)]))
                };
                let many = 1 + self.dice.below(4);
                let targets = (0..many).map(|_| target(self)).collect();
                let filter = (many > 2).then(|| format!("limit={many}"));
                let bulk = Bulk { action, targets, filter };
                Command::Bulk(bulk, self.request("bulk"), self.dice.seed())
            }
            Kind::ForgetKey => Command::ForgetKey(id),
            _ => Command::SetPaused(self.dice.pick(&self.queues), self.dice.percent(50)),
        }
    }

    fn watch_or_read(&mut self, kind: Kind) -> Command {
        match kind {
            Kind::Promote => Command::Promote(self.dice.pick(&[1, 2, 100])),
            Kind::Reap => Command::Reap(self.dice.pick(&[1, 2, 100]), self.dice.seed()),
            Kind::Prune => {
                let kept = [0, MINUTE, 7 * DAY, i64::MAX];
                let how = Retention {
                    completed_ms: self.dice.pick(&kept),
                    failed_ms: self.dice.pick(&kept),
                    cancelled_ms: self.dice.pick(&kept),
                    max_jobs: self.dice.pick(&[None, None, Some(0), Some(1), Some(3)]),
                };
                Command::Prune(self.dice.pick(&[1, 2, 5, 100]), how)
            }
            Kind::Pass => Command::Pass(self.dice.pick(&self.passes)),
            Kind::Serve => Command::Serve(self.dice.pick(&[1_000, 5_000, 5_001, 10_000, 60_000])),
            Kind::Get => Command::Get(self.id()),
            Kind::List => Command::List(self.filter()),
            Kind::Holder => {
                Command::Holder(self.dice.pick(&self.tasks), self.dice.pick(&self.keys))
            }
            Kind::Queue => Command::Queue(self.dice.pick(&self.queues)),
            _ => Command::Overview,
        }
    }

    fn kind(&mut self) -> Kind {
        let sum: u64 = self.shares.iter().map(|(_, share)| share).sum();
        let mut drawn = self.dice.next() % sum;
        for (kind, share) in &self.shares {
            match drawn.checked_sub(*share) {
                Some(rest) => drawn = rest,
                None => return *kind,
            }
        }
        unreachable!("drew beyond the sum of all shares")
    }

    fn new_id(&mut self) -> JobId {
        let id = JobId::make(self.begins_at, self.dice.next().into());
        self.ids.push(id);
        id
    }

    /// One that was used before, later ones more often.
    fn id(&mut self) -> JobId {
        match self.ids.len() {
            0 => self.new_id(),
            many => self.ids[many - 1 - self.dice.small(many)],
        }
    }

    fn lease(&mut self) -> Pick {
        let ago = self.dice.small(8);
        match self.dice.below(20) {
            0 => Pick::Mixed(ago, self.dice.small(8)),
            1 if self.dice.percent(50) => Pick::NoToken(ago),
            1 => Pick::NoJob(ago),
            _ => Pick::Lease(ago),
        }
    }

    fn job(&mut self) -> NewJob {
        let dice = &mut self.dice;
        let payload = dice.pick(&self.payloads);
        let key = dice.percent(self.keyed).then(|| dice.pick(&self.keys));
        let due = [Due::Now, Due::Now, Due::Now, Due::After(0), Due::After(3_000), Due::At(0)];
        let due = if dice.percent(5) { Due::At(self.begins_at + HOUR) } else { dice.pick(&due) };
        let backoff = Backoff {
            initial_ms: dice.pick(&[0, 1_000, 5_000]),
            factor: dice.pick(&[1.0, 2.0]),
            max_ms: dice.pick(&[3_000, HOUR]),
            jitter: dice.pick(&[0.0, 0.2, 1.0]),
        };
        let tags = ["x", "y"].into_iter().filter(|_| dice.percent(30)).map(Name::from).collect();
        let job = NewJob {
            id: JobId(0),
            task: dice.pick(&self.tasks),
            queue: dice.pick(&self.queues),
            fingerprint: key.as_ref().map(|_| Fingerprint::of(&payload)),
            details: Details { tags, traceparent: None, idempotency_key: key, rerun_of: None },
            payload,
            if_failed: dice.pick(&[IfFailed::Return, IfFailed::Retry, IfFailed::Replace]),
            key_ttl_ms: dice.pick(&[1_000, MINUTE, 30 * DAY]),
            due,
            priority: dice.pick(&[0, 0, 0, 1, -1]),
            max_attempts: dice.pick(&[1, 2, 3]),
            max_crashes: dice.pick(&[1, 2, 5]),
            timeout_ms: dice.pick(&[1_000, 5_000, 7_000, 15 * MINUTE]),
            backoff,
        };
        let id = if self.dice.percent(90) { self.new_id() } else { self.id() };
        NewJob { id, ..job }
    }

    fn claim(&mut self) -> Command {
        let dice = &mut self.dice;
        let some = |dice: &mut Dice, names: &[Name]| {
            let named = names.iter().filter(|_| dice.percent(70)).cloned().collect::<Vec<_>>();
            if named.is_empty() { names.to_vec() } else { named }
        };
        Command::Claim(Claim {
            worker: dice.pick(&["v", "w"]).into(),
            queues: some(dice, &self.queues),
            tasks: dice.percent(30).then(|| some(dice, &self.tasks)),
            max: dice.pick(&[1, 1, 2, 5]),
            lease_ms: dice.pick(&[5_000, 5_000, 10_000, MINUTE]),
            mark: dice.percent(50).then(|| [dice.pick(&[1, 2]); 16]),
            repeat: dice.percent(30),
            invitation: None,
            seed: dice.seed(),
        })
    }

    fn report(&mut self) -> Said {
        let dice = &mut self.dice;
        Said::Report(match dice.below(12) {
            0..=2 => Report::Completed(Ok(Some(dice.pick(&self.payloads)))),
            3 => Report::Completed(Ok(None)),
            4 => Report::Completed(Err("too deep".to_owned())),
            kind @ 5..=8 => {
                let retry_after_ms = (kind == 7).then(|| dice.pick(&[0, 1_000, i64::MAX]));
                let message = dice.pick(&["why", "a NUL: \0"]);
                return Said::Failure { message, retryable: kind < 8, retry_after_ms };
            }
            9 => Report::Released,
            10 => Report::Snoozed { delay_ms: dice.pick(&[1_000, 30 * DAY]) },
            _ => Report::Cancelled,
        })
    }

    fn how(&mut self) -> Retry {
        let dice = &mut self.dice;
        Retry {
            life: dice.pick(&[None, None, Some(1), Some(1), Some(2), Some(3)]),
            from: dice.percent(20).then(|| dice.pick(&["a", "b"]).to_owned()),
            fresh: dice.percent(20),
            allow_completed: dice.percent(50),
        }
    }

    fn filter(&mut self) -> Filter {
        let dice = &mut self.dice;
        let task = dice.percent(40).then(|| dice.pick(&self.tasks));
        Filter {
            states: State::ALL.into_iter().filter(|_| dice.percent(25)).collect(),
            queue: dice.percent(30).then(|| dice.pick(&self.queues)),
            key: task.as_ref().and_then(|_| dice.percent(30).then(|| dice.pick(&self.keys))),
            task,
            tag: dice.percent(15).then(|| dice.pick(&["x", "y"]).into()),
            created_from: dice
                .percent(15)
                .then(|| self.begins_at + dice.pick(&[0, 1_000, MINUTE, DAY])),
            created_before: dice
                .percent(15)
                .then(|| self.begins_at + dice.pick(&[1, 1_000, MINUTE, DAY])),
            ascending: dice.percent(50),
            limit: dice.pick(&[1, 2, 5, 50]),
            after: dice.percent(30).then(|| dice.pick(&[0, 1, 2, 5, 10])),
        }
    }

    /// With a body that is another one now and then.
    fn request(&mut self, scope: &str) -> Option<RequestKey> {
        let share = self.with_request;
        self.dice.percent(share).then(|| RequestKey {
            scope: scope.to_owned(),
            value: self.dice.pick(&["v", "w", "x"]).to_owned(),
            body: Fingerprint([self.dice.pick(&[1, 1, 1, 1, 2]); 32]),
        })
    }
}

/// Every row, in small pages.
pub(super) fn all_pages(after: Option<i64>) -> Filter {
    Filter { ascending: true, limit: 7, after, ..Filter::default() }
}

/// Everything claimable.
pub(super) fn claim_all(queues: &[Name], dice: &mut Dice) -> Command {
    Command::Claim(Claim {
        worker: Arc::from("healer"),
        queues: queues.to_vec(),
        tasks: None,
        max: 1_000,
        lease_ms: MINUTE,
        mark: None,
        repeat: false,
        invitation: None,
        seed: dice.seed(),
    })
}
