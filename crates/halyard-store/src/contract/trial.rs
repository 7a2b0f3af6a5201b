//! An open store with its clock, and the words in which cases are written.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use halyard_core::admission::{Due, NewJob};
use halyard_core::backoff::Backoff;
use halyard_core::chance::Seed;
use halyard_core::checkpoint::Written;
use halyard_core::error::{ErrorKind, ErrorReport};
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::{JobId, KeyId, Token};
use halyard_core::job::{Details, JobView, Name, State};
use halyard_core::key::IfFailed;
use halyard_core::operate::Retry;
use halyard_core::outcome::{Finish, Report};
use halyard_core::retention::Retention;
use halyard_core::{TimeMs, limits};
use halyard_json::Text;

use super::{Maker, Opened};
use crate::Store;
use crate::access::By;
use crate::clock::{Clock, ManualClock};
use crate::options::Options;
use crate::verbs::{
    Acted, Beat, Change, CheckpointWrite, Claim, Claimed, Created, Filter, JobDetail, Keyed,
    Outcome, Renewed,
};

/// When every trial begins: 12.345 s into a minute.
pub const START: TimeMs = 1_800_000_012_345;
/// One minute in milliseconds.
pub const MINUTE: i64 = 60_000;
/// One hour in milliseconds.
pub const HOUR: i64 = 60 * MINUTE;

/// An open store, its clock, and what it said of changes.
pub struct Trial {
    /// The store.
    pub store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    heard: Arc<Mutex<Vec<Change>>>,
    seeds: AtomicU64,
    _keep: Box<dyn Any + Send + Sync>,
}

/// What a worker holds of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub id: JobId,
    /// The secret.
    pub token: Token,
}

impl Trial {
    pub(super) async fn open(maker: &impl Maker) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let options = Options {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            on_change: Arc::new(move |changes: &[Change]| {
                listener.lock().unwrap().extend_from_slice(changes);
            }),
            ..Options::default()
        };
        let Opened { store, keep } = maker.open(options).await;
        Self { store, clock, heard, seeds: AtomicU64::new(0), _keep: keep }
    }

    /// Fresh chance for one call, the same in every run.
    pub fn seed(&self) -> Seed {
        seed(self.seeds.fetch_add(1, Ordering::SeqCst))
    }

    /// Lets time pass while nobody serves the store.
    pub fn advance(&self, ms: i64) {
        self.clock.advance(ms);
    }

    /// Lets time pass while the store is served: stamped as often as there is no outage.
    pub async fn serve(&self, ms: i64) {
        let mut left = ms;
        self.store.stamp().await.unwrap();
        while left > 0 {
            let step = left.min(limits::OUTAGE_MS);
            self.clock.advance(step);
            self.store.stamp().await.unwrap();
            left -= step;
        }
    }

    /// The clock.
    pub fn now(&self) -> TimeMs {
        self.store.now()
    }

    /// What was heard since the last question.
    pub fn heard(&self) -> Vec<Change> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    /// Creates one job.
    pub async fn create(&self, job: NewJob) -> Created {
        match self.store.create(vec![job], None).await.unwrap() {
            Keyed::Fresh(mut created) if created.len() == 1 => created.remove(0),
            other => panic!("one create gave {other:?}"),
        }
    }

    /// Creates a job that must be new.
    pub async fn make(&self, job: NewJob) -> JobView {
        match self.create(job).await {
            Created::New(view) => *view,
            other => panic!("not a new job: {other:?}"),
        }
    }

    /// Claims up to `max` jobs of a queue for a minute.
    pub async fn claim(&self, queue: &str, max: usize) -> Vec<Claimed> {
        let claim = Claim { max, ..a_claim(&[queue], self.seed()) };
        self.store.claim(claim).await.unwrap().jobs
    }

    /// Claims the one job of a queue.
    pub async fn start(&self, queue: &str) -> Lease {
        let mut jobs = self.claim(queue, 2).await;
        assert_eq!(jobs.len(), 1, "claimable jobs in {queue}");
        lease_of(&jobs.remove(0))
    }

    /// Creates a job, alone in its queue, and claims it.
    pub async fn running(&self, job: NewJob) -> Lease {
        let queue = job.queue.clone();
        self.make(job).await;
        self.start(&queue).await
    }

    /// Creates a job, alone in its queue, and brings it to a state.
    pub async fn in_state(&self, job: NewJob, state: State) -> JobView {
        let (id, queue) = (job.id, job.queue.clone());
        let due = if state == State::Scheduled { Due::After(HOUR) } else { job.due };
        self.make(NewJob { due, ..job }).await;
        let report = match state {
            State::Retrying => Some(failed()),
            State::Completed => Some(completed("1")),
            State::Failed => Some(hopeless()),
            _ => None,
        };
        if report.is_some() || state == State::Running {
            let lease = self.start(&queue).await;
            if let Some(report) = report {
                self.finish(lease, report).await;
            }
        }
        if state == State::Cancelled {
            self.cancel(id).await;
        }
        let view = self.get(id).await.view;
        assert_eq!(view.job.state, state);
        view
    }

    /// Reports one start.
    pub async fn finish(&self, lease: Lease, report: Report) -> Finish {
        let outcome = Outcome { id: Some(lease.id), token: Some(lease.token), report };
        let answers = self.store.finish(vec![outcome], self.seed()).await.unwrap();
        assert_eq!(answers.len(), 1);
        answers[0]
    }

    /// Renews one lease for a minute.
    pub async fn beat(&self, lease: Lease) -> Option<Renewed> {
        let beat = Beat { id: Some(lease.id), token: Some(lease.token) };
        let beats = self.store.heartbeat(vec![beat], MINUTE).await.unwrap();
        assert_eq!((beats.now, beats.leases.len()), (self.now(), 1));
        beats.leases[0]
    }

    /// Saves a checkpoint.
    pub async fn save(&self, lease: Lease, name: &str, value: &str) -> Written {
        let write = CheckpointWrite {
            id: lease.id,
            token: Some(lease.token),
            name: name.into(),
            value: text(value),
        };
        self.store.checkpoint(write, self.seed()).await.unwrap()
    }

    /// Claims the one job of a queue, saves a checkpoint named after the start, and is never heard
    /// of again; the job is claimable then, unless that was its end.
    pub async fn save_and_crash(&self, queue: &str) {
        let lease = self.start(queue).await;
        let number = self.get(lease.id).await.view.job.starts;
        self.save(lease, &number.to_string(), "1").await;
        self.serve(MINUTE).await;
        assert_eq!(self.store.reap(9, self.seed()).await.unwrap(), 1);
        self.store.run_now(lease.id, self.seed(), None).await.unwrap();
    }

    /// Retries a job.
    pub async fn retry(&self, id: JobId, how: Retry) -> Acted {
        match self.store.retry(id, how, None, self.seed(), None).await.unwrap() {
            Keyed::Fresh(acted) => acted,
            other => panic!("a retry without a request key gave {other:?}"),
        }
    }

    /// Cancels a job.
    pub async fn cancel(&self, id: JobId) -> Acted {
        self.store.cancel(id, self.seed(), None).await.unwrap()
    }

    /// Deletes a job.
    pub async fn delete(&self, id: JobId, forget_key: bool) -> Acted {
        self.store.delete(id, forget_key, self.seed(), None).await.unwrap()
    }

    /// A job that must be there.
    pub async fn get(&self, id: JobId) -> JobDetail {
        self.store.get(id).await.unwrap().unwrap_or_else(|| panic!("{id} is not there"))
    }

    /// The state of a job that must be there.
    pub async fn state(&self, id: JobId) -> State {
        self.get(id).await.view.job.state
    }

    /// Purges every ended job.
    pub async fn purge_ended(&self) {
        let nothing = Retention { completed_ms: 0, failed_ms: 0, cancelled_ms: 0, max_jobs: None };
        self.store.prune(usize::MAX, nothing).await.unwrap();
    }

    /// What is stored agrees with itself.
    pub async fn assert_sound(&self) {
        assert_sound(&*self.store).await;
    }
}

/// What is stored agrees with itself: counts with rows, rows with core's invariants.
///
/// # Panics
/// When it does not.
pub async fn assert_sound(store: &dyn Store) {
    let mut counts = [0; 7];
    let mut filter = Filter { limit: 100, ascending: true, ..Filter::default() };
    loop {
        let page = store.list(filter.clone()).await.unwrap();
        for row in &page.jobs {
            row.job.assert_sound();
            counts[usize::from(row.job.state.number())] += 1;
        }
        filter.after = page.next;
        if page.next.is_none() {
            break;
        }
    }
    let stats = store.stats().await.unwrap();
    assert_eq!(stats.counts, counts, "counters against rows");
    let sum = |per: &mut dyn Iterator<Item = [u64; 7]>| {
        per.fold([0; 7], |sum: [u64; 7], each| std::array::from_fn(|i| sum[i] + each[i]))
    };
    let queues = store.queues().await.unwrap();
    assert_eq!(sum(&mut queues.iter().map(|queue| queue.counts)), counts, "by queue");
    let tasks = store.tasks().await.unwrap();
    assert_eq!(sum(&mut tasks.iter().map(|task| task.counts)), counts, "by task");
    let totals = stats.totals;
    let lives = totals.created + totals.retried;
    let ended = totals.completed + totals.failed + totals.cancelled;
    let waiting = counts[..4].iter().sum::<u64>();
    assert_eq!(lives, ended + waiting, "each life ends once: {totals:?}");
}

/// Chance that is the same in every run.
pub fn seed(number: u64) -> Seed {
    let mut bytes = [0x5e; 32];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Seed(bytes)
}

/// The id of the trial's `number`-th job.
pub fn id(number: u64) -> JobId {
    JobId::make(START, u128::from(number))
}

/// A job of task `t`, alone in its queue `q<number>`.
pub fn job(number: u64) -> NewJob {
    NewJob {
        id: id(number),
        task: "t".into(),
        queue: format!("q{number}").into(),
        details: Details::default(),
        payload: Text::null(),
        fingerprint: None,
        if_failed: IfFailed::Return,
        key_ttl_ms: limits::KEY_TTL_MS_DEFAULT,
        due: Due::Now,
        priority: 0,
        max_attempts: 3,
        max_crashes: 5,
        timeout_ms: 15 * MINUTE,
        backoff: Backoff::default(),
    }
}

/// The same with a key.
pub fn keyed(number: u64, key: &str) -> NewJob {
    with_payload(
        NewJob {
            details: Details { idempotency_key: Some(key.into()), ..Details::default() },
            ..job(number)
        },
        "null",
    )
}

/// The same with a payload.
pub fn with_payload(job: NewJob, payload: &str) -> NewJob {
    let payload = text(payload);
    let fingerprint = job.details.idempotency_key.as_ref().map(|_| Fingerprint::of(&payload));
    NewJob { payload, fingerprint, ..job }
}

/// A claim of up to 100 jobs of these queues, for a minute.
pub fn a_claim(queues: &[&str], seed: Seed) -> Claim {
    Claim {
        worker: "w".into(),
        queues: names(queues),
        tasks: None,
        max: 100,
        lease_ms: MINUTE,
        mark: None,
        repeat: false,
        invitation: None,
        seed,
    }
}

/// Words as names.
pub fn names(words: &[&str]) -> Vec<Name> {
    words.iter().map(|word| Name::from(*word)).collect()
}

/// What a worker holds of a claimed job.
pub fn lease_of(claimed: &Claimed) -> Lease {
    let job = &claimed.view.job;
    Lease { id: job.id, token: job.running().expect("claimed and not running").marks.token }
}

/// JSON that is known to be good.
pub fn text(json: &str) -> Text {
    Text::parse(json, limits::VALUE_DEPTH_MAX).expect("bad JSON in a case")
}

/// The work is done.
pub fn completed(result: &str) -> Report {
    Report::Completed(Ok(Some(text(result))))
}

/// The work failed; another attempt may help.
pub fn failed() -> Report {
    let error = ErrorReport::recorded("CardDeclined", "no".to_owned(), ErrorKind::Error);
    Report::Failed { error, retry_after_ms: None }
}

/// The work failed for good.
pub fn hopeless() -> Report {
    let error = ErrorReport::recorded("NoSuchCard", "no".to_owned(), ErrorKind::NonRetryable);
    Report::Failed { error, retry_after_ms: None }
}

/// An operator.
pub fn somebody() -> By {
    By { actor: "somebody".into(), key_id: Some(KeyId(7)), request_id: "req_1".into() }
}
