//! The loops, step by step, on the model store and a clock that the test moves.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use std::time::Duration;

use halyard_core::admission::{Application, BackoffWish, NewJob, admit};
use halyard_core::chance::Seed;
use halyard_core::job::{Name, State};
use halyard_core::key::IfFailed;
use halyard_core::retention::Retention;
use halyard_json::Text;
use halyard_server::access::keyring::Keyring;
use halyard_server::engine::loops::{LOOPS, Left};
use halyard_server::engine::{Engine, Hints, chance, poll, promote, prune, reap, stamp, tidy};
use halyard_store::Store;
use halyard_store::clock::{Clock, ManualClock};
use halyard_store::memory::Memory;
use halyard_store::options::Options;
use halyard_store::verbs::Claim;

const START: i64 = 1_800_000_000_000;

struct Watch {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
}

impl Watch {
    /// `deaf`: nobody tells who waits of what was committed.
    fn new(deaf: bool) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let hints = Hints::default();
        let clock_of_store: Arc<dyn Clock> = Arc::<ManualClock>::clone(&clock);
        let mut options = Options { clock: clock_of_store, ..Options::default() };
        if !deaf {
            options.on_change = hints.listener();
            options.on_claimable = hints.waker();
        }
        let store = Memory::open(options);
        let retention = Retention { completed_ms: 1_000, ..Retention::default() };
        let keyring = Keyring::new(None, [127, 0, 0, 1].into());
        let engine = Arc::new(Engine::new(Arc::new(store), hints, keyring, retention));
        Self { engine, clock }
    }

    fn store(&self) -> &dyn Store {
        &*self.engine.store
    }

    async fn create(&self, count: usize, delay_ms: Option<i64>) {
        let jobs = (0..count).map(|_| job(self.clock.now(), delay_ms)).collect();
        self.store().create(jobs, None).await.unwrap();
    }

    async fn count(&self, state: State) -> u64 {
        self.store().stats().await.unwrap().counts[usize::from(state.number())]
    }
}

fn job(now: i64, delay_ms: Option<i64>) -> NewJob {
    let application = Application {
        task: "t",
        queue: None,
        payload: Text::null(),
        idempotency_key: None,
        if_failed: IfFailed::Return,
        idempotency_ttl_ms: None,
        id: None,
        run_at: None,
        delay_ms,
        priority: None,
        max_attempts: None,
        max_crashes: None,
        timeout_ms: None,
        backoff: BackoffWish::default(),
        tags: Vec::new(),
        traceparent: None,
    };
    admit(application, chance::job_id(now), 60_000, now).unwrap()
}

fn claim(max: usize) -> Claim {
    Claim {
        worker: Name::from("w"),
        queues: vec![Name::from("default")],
        tasks: None,
        max,
        lease_ms: 10_000,
        mark: None,
        repeat: false,
        invitation: None,
        seed: Seed([7; 32]),
    }
}

#[tokio::test]
async fn due_jobs_become_claimable_in_batches() {
    let watch = Watch::new(false);
    watch.create(700, Some(1_000)).await;
    assert_eq!(promote::tick(&watch.engine).await, Ok(Left::Nothing), "not due yet");
    watch.clock.advance(1_000);
    assert_eq!(promote::tick(&watch.engine).await, Ok(Left::More));
    assert_eq!(promote::tick(&watch.engine).await, Ok(Left::Nothing));
    assert_eq!(watch.count(State::Queued).await, 700);
}

#[tokio::test]
async fn lapsed_leases_are_ended() {
    let watch = Watch::new(false);
    watch.create(300, None).await;
    watch.store().claim(claim(300)).await.unwrap();
    for _ in 0..10 {
        watch.clock.advance(999);
        stamp::tick(&watch.engine).await.unwrap();
    }
    assert_eq!(reap::tick(&watch.engine).await, Ok(Left::Nothing), "10 ms are left");
    watch.clock.advance(10);
    assert_eq!(reap::tick(&watch.engine).await, Ok(Left::More));
    assert_eq!(reap::tick(&watch.engine).await, Ok(Left::Nothing));
    assert_eq!((watch.count(State::Running).await, watch.count(State::Retrying).await), (0, 300));
}

#[tokio::test]
async fn leases_outlive_an_outage() {
    let watch = Watch::new(false);
    watch.create(1, None).await;
    watch.store().claim(claim(1)).await.unwrap();
    watch.clock.advance(60_000);
    stamp::tick(&watch.engine).await.unwrap();
    reap::tick(&watch.engine).await.unwrap();
    assert_eq!(watch.count(State::Running).await, 1, "nobody could have renewed it");
}

#[tokio::test]
async fn what_was_kept_long_enough_is_removed() {
    let watch = Watch::new(false);
    watch.create(1, None).await;
    let claims = watch.store().claim(claim(1)).await.unwrap();
    let done = &claims.jobs[0].view.job;
    let outcome = halyard_store::verbs::Outcome {
        id: Some(done.id),
        token: done.start.as_ref().map(|start| start.marks.token),
        report: halyard_core::outcome::Report::Completed(Ok(None)),
    };
    watch.store().finish(vec![outcome], Seed([1; 32])).await.unwrap();
    assert_eq!(prune::tick(&watch.engine).await, Ok(Left::Nothing));
    assert_eq!(watch.count(State::Completed).await, 1);
    watch.clock.advance(1_000);
    prune::tick(&watch.engine).await.unwrap();
    assert_eq!(watch.count(State::Completed).await, 0);
}

#[tokio::test]
async fn with_every_hint_lost_the_base_poll_finds_jobs_and_ended_lives() {
    let watch = Watch::new(true);
    let engine = Arc::clone(&watch.engine);
    let waiting =
        tokio::spawn(async move { engine.claim(claim(1), Duration::from_secs(50)).await });
    while watch.engine.hints.claims.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    watch.create(1, None).await;
    poll::tick(&watch.engine).await.unwrap();
    let (claims, leased) = waiting.await.unwrap().unwrap();
    let id = claims.jobs[0].view.job.id;
    leased.hand_over();

    let engine = Arc::clone(&watch.engine);
    let reading = tokio::spawn(async move { engine.read(id, Duration::from_secs(50)).await });
    while watch.engine.hints.reads.jobs().is_empty() {
        tokio::task::yield_now().await;
    }
    poll::tick_reads(&watch.engine).await.unwrap();
    assert!(!reading.is_finished());
    let token = claims.jobs[0].view.job.start.as_ref().map(|start| start.marks.token);
    let report = halyard_core::outcome::Report::Completed(Ok(None));
    let outcome = halyard_store::verbs::Outcome { id: Some(id), token, report };
    watch.store().finish(vec![outcome], Seed([1; 32])).await.unwrap();
    poll::tick_reads(&watch.engine).await.unwrap();
    let detail = reading.await.unwrap().unwrap().unwrap();
    assert_eq!(detail.view.job.state, State::Completed);
}

#[tokio::test]
async fn who_was_silent_is_forgotten() {
    let watch = Watch::new(false);
    let who =
        halyard_server::engine::workers::Identity { id: Name::from("w"), name: None, sdk: None };
    let alive = || watch.engine.workers.alive(watch.clock.now(), |_| false).len();
    let holding = || watch.engine.workers.alive(watch.clock.now(), |_| true).len();
    watch.engine.workers.beat(&who, false, watch.clock.now());
    assert_eq!(alive(), 1);
    watch.clock.advance(4 * 60_000);
    assert_eq!((alive(), holding()), (0, 1), "who holds a lease is not gone");
    watch.clock.advance(60 * 60_000);
    tidy::tick(&watch.engine).await.unwrap();
    assert_eq!(holding(), 0);
}

#[test]
fn every_step_has_its_loop() {
    let names: Vec<&str> = LOOPS.iter().map(|each| each.name).collect();
    let expected =
        ["stamp", "promote", "reap", "poll", "poll_reads", "prune", "tidy", "access", "audit"];
    assert_eq!(names, expected);
}
