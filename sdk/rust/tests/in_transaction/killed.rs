//! The example, killed around everything that it asks, and put to sleep past its lease.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;

use halyard::{Backoff, Job, NewJob, State, Worker};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::task::JoinSet;

use crate::doomed::Fate;
use crate::outbox::confirm_order;
use crate::program::{Program, Role, until};
use crate::services::{Running, Services, built, connect};

/// Begin, the row, which is prepared and written, the job or its completion, commit.
const WRITES: u64 = 5;

/// Every end that a program can meet which asks something so often.
fn fates(writes: u64) -> impl Iterator<Item = Fate> {
    (1..=writes).flat_map(|write| [Fate::KilledBefore(write), Fate::KilledAfter(write)])
}

impl Fate {
    /// Whether it is a killing one, and how many rows are committed then.
    fn outcome(self, writes: u64) -> (bool, i64) {
        let is_killed = matches!(self, Self::KilledBefore(_) | Self::KilledAfter(_));
        (is_killed, i64::from(!is_killed || self == Self::KilledAfter(writes)))
    }
}

/// Lets a program end, and answers whether it was killed. It says how often it asked something.
async fn run(program: Program, writes: &mut u64) -> bool {
    let (status, said) = program.ended().await;
    let killed = status.signal() == Some(Signal::KILL.as_raw());
    assert!(killed || status.success(), "{status:?} {said:?}");
    if let Some(told) = said.last().filter(|_| !killed) {
        *writes = told.parse().expect("a number");
    }
    killed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_and_its_job_are_both_there_or_none() {
    let services = Arc::new(Services::start().await);
    let mut writes = 0;
    let program = Program::start(&services, Role::Order("unharmed"), Fate::Lives);
    assert!(!run(program, &mut writes).await);
    assert_eq!(writes, WRITES);
    let mut runs = JoinSet::new();
    for fate in fates(writes).chain([Fate::Lives]) {
        let services = Arc::clone(&services);
        runs.spawn(async move {
            let order = format!("order-{}", fate.write());
            let program = Program::start(&services, Role::Order(&order), fate);
            let killed = run(program, &mut 0).await;
            services.is_gone(&order).await;
            let orders = services.orders(&order).await;
            let key = format!("confirm:{order}");
            let job = services.halyard.jobs().by_key("confirm-order", &key).await.expect("a key");
            assert_eq!((killed, orders), fate.outcome(writes), "{order}");
            assert_eq!(job.is_some(), orders == 1, "{order}: both or none");
        });
    }
    runs.join_all().await;
}

/// A job of its own queue that confirms an order of that name.
async fn create(services: &Services, order: &str) -> String {
    let backoff = Backoff { initial_ms: Some(1_000), jitter: Some(0.0), ..Backoff::default() };
    let job = NewJob::new("confirm-order")
        .queue(order)
        .payload(&json!({"order_id": order}))
        .max_crashes(10)
        .backoff(backoff);
    services.halyard.jobs().create(job).await.expect("a job").id
}

/// Runs what is left.
fn worker(services: &Services, queues: impl IntoIterator<Item = String>) -> Worker {
    let database = services.database.clone();
    let worker = services.halyard.worker().queues(queues).concurrency(10);
    let handler = move |job: Job| {
        let database = database.clone();
        async move { confirm_order(job, &mut connect(&database).await).await }
    };
    worker.task("confirm-order", handler).build().expect("a worker")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_effect_takes_place_once_wherever_its_worker_is_killed() {
    let services = Arc::new(Services::start().await);
    let mut writes = 0;
    create(&services, "unharmed").await;
    let program = Program::start(&services, Role::Work("unharmed"), Fate::Lives);
    assert!(!run(program, &mut writes).await);
    assert_eq!(writes, WRITES);
    let mut runs = JoinSet::new();
    for fate in fates(writes) {
        let services = Arc::clone(&services);
        runs.spawn(async move {
            let order = format!("worked-{}", fate.write());
            let id = create(&services, &order).await;
            let program = Program::start(&services, Role::Work(&order), fate);
            let killed = run(program, &mut 0).await;
            services.is_gone(&order).await;
            let mails = services.mails(&order).await;
            let job = services.halyard.jobs().get(&id).await.expect("the job");
            assert_eq!((killed, mails), fate.outcome(writes), "{order}");
            assert_eq!(job.state == State::Completed, mails == 1, "{order}: both or none");
            (order, id, mails)
        });
    }
    let runs = runs.join_all().await;
    let worker = worker(&services, runs.iter().map(|(order, ..)| order.clone()));
    worker.start().await.expect("it works");
    for (order, id, mails) in &runs {
        let expected = format!(r#"{{"confirmed":"{order}"}}"#);
        let attempt = if *mails == 1 { 1 } else { 2 };
        assert_eq!(services.ended(id).await, (State::Completed, expected, attempt), "{order}");
        assert_eq!(services.mails(order).await, 1, "{order}");
    }
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_slept_past_its_lease_writes_nothing() {
    let services = Services::start().await;
    let id = create(&services, "sleepy").await;
    let mut sleeper = Program::start(&services, Role::Work("sleepy"), Fate::Sleeps);
    sleeper.sleeps().await;
    // Its row is written, its transaction open.
    let other = worker(&services, ["sleepy".to_owned()]);
    other.start().await.expect("it works");
    let expected = r#"{"confirmed":"sleepy"}"#.to_owned();
    assert_eq!(services.ended(&id).await, (State::Completed, expected, 2));
    other.stop().await;
    sleeper.wake();
    let (status, said) = sleeper.ended().await;
    assert!(status.success(), "{status:?}");
    assert_eq!(said.first().map(String::as_str), Some("the job was aborted: its lease is lost"));
    assert_eq!(services.mails("sleepy").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_runs_as_a_program() {
    let services = Services::start().await;
    let example = |words: &[&str]| {
        let mut command = Command::new(built("examples/outbox"));
        command.args(words).env("DATABASE_URL", &services.database);
        command.env("HALYARD_URL", &services.url).env_remove("HALYARD_API_KEY");
        command
    };
    let mut worker = Running(example(&["work"]).spawn().expect("the worker starts"));
    let output = example(&["order", "ord_1", "ada@example.com"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.starts_with("ord_1 is placed, and job_"), "{output:?}");
    let id = said.split_whitespace().find(|word| word.starts_with("job_")).expect("an id");
    let expected = r#"{"confirmed":"ord_1"}"#.to_owned();
    assert_eq!(services.ended(id).await, (State::Completed, expected, 1));
    assert_eq!((services.orders("ord_1").await, services.mails("ord_1").await), (1, 1));
    // Twice is refused, and leaves the job as it is.
    let again = example(&["order", "ord_1", "ada@example.com"]).output().expect("it runs");
    assert!(!again.status.success(), "{again:?}");
    kill_process(Pid::from_child(&worker.0), Signal::TERM).expect("the worker is there");
    let status = until("it ends", || worker.0.try_wait().expect("a child")).await;
    assert!(status.success(), "{status:?}");
}
