//! Steps over crashes, side by side, and over a change of the code.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halyard::{Backoff, HandlerError, HandlerResult, Job, JobDetail, State};
use halyard_tests::server::Server;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::NO_BACKOFF;
use crate::process::{Process, note, notes, say};
use crate::work::{begin, client, create, ended, ends, new_job, result, url};

/// The payment service: a call with a key that it has seen is answered and charges nothing.
const PAYMENTS: &str = "payments";

/// Charges once. Its payload says where the first start stops: before the step is stored, or
/// behind it.
pub(crate) async fn charge(job: Job) -> HandlerResult<String> {
    let first = job.start() == 1;
    let stops_before: bool = job.payload()?;
    let key: String = job
        .step("charge", async || {
            let key = job.key_for("charge");
            note(PAYMENTS, &key);
            say("charged");
            if first && stops_before {
                std::future::pending::<()>().await;
            }
            HandlerResult::Ok(key)
        })
        .await?;
    if first {
        say("stored");
        std::future::pending::<()>().await;
    }
    Ok(key)
}

/// Case 37 · Crash between a step's effect and its memo
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_37_crash_between_a_steps_effect_and_its_memo() {
    for (stops_before, words, calls) in [(true, "charged", 2), (false, "stored", 1)] {
        let server = Server::start();
        let halyard = client(&url(&server));
        let folder = TempDir::new().unwrap();
        let id = create(&halyard, new_job("t").payload(&stops_before)).await;
        let first = Process::start(&server, "charger", &folder);
        first.says(words, 1).await;
        first.signal(Signal::KILL);
        let _second = Process::start(&server, "charger", &folder);
        let job = ended(&halyard, &id).await;
        assert_eq!((job.state, ends(&job)), (State::Completed, vec!["completed", "lost"]));
        let payments = notes(folder.path(), PAYMENTS);
        assert_eq!(payments.len(), calls, "killed when it said: {words}");
        let charges: BTreeSet<&String> = payments.iter().collect();
        assert_eq!(charges.len(), 1, "charged twice: {payments:?}");
        assert_eq!(result(&job).trim_matches('"'), payments[0]);
    }
}

const BODIES: &str = "bodies";

/// Three steps side by side; the first one to end is followed by a fourth while the third one goes
/// on, which in the first start it does for ever.
pub(crate) async fn parallel(job: Job) -> HandlerResult<String> {
    let body = async |name: &str, takes: Duration| -> HandlerResult<String> {
        let work = async || {
            note(BODIES, name);
            tokio::time::sleep(takes).await;
            HandlerResult::Ok(name.to_owned())
        };
        job.step(name, work).await
    };
    let moment = Duration::from_millis(1);
    let long = if job.start() == 1 { 3600 } else { 0 };
    let first = async {
        let a = body("a", moment).await?;
        let d = body("d", moment).await?;
        say("followed");
        HandlerResult::Ok(a + &d)
    };
    let (first, b, c) =
        tokio::join!(first, body("b", moment), body("c", Duration::from_secs(long)));
    Ok([first?, b?, c?].concat())
}

/// Case 39 · Parallel steps
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_39_parallel_steps() {
    const RUNS: usize = 50;
    let server = Server::start();
    let halyard = client(&url(&server));
    let bodies = Arc::new([const { AtomicUsize::new(0) }; 4]);
    let counted = Arc::clone(&bodies);
    let handler = move |job: Job| {
        let counted = Arc::clone(&counted);
        async move {
            let body = async |number: usize, takes_ms: u64| -> HandlerResult<usize> {
                let work = async || {
                    counted[number].fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(takes_ms)).await;
                    HandlerResult::Ok(number)
                };
                job.step(&format!("step {number}"), work).await
            };
            let first = async {
                let a = body(0, 0).await?;
                Ok(a + body(3, 0).await?)
            };
            let (ad, b, c): (HandlerResult<usize>, _, _) =
                tokio::join!(first, body(1, 10), body(2, 50));
            HandlerResult::Ok([ad?, b?, c?])
        }
    };
    let worker = begin(&halyard, |worker| worker.task("u", handler)).await;
    let mut ids = Vec::new();
    for _ in 0..RUNS {
        ids.push(create(&halyard, new_job("u")).await);
    }
    for id in &ids {
        let job = ended(&halyard, id).await;
        assert_eq!((job.state, job.starts, result(&job)), (State::Completed, 1, "[3,1,2]"));
        let names: BTreeSet<&str> = job.checkpoints.iter().map(|point| &*point.name).collect();
        assert_eq!(names, BTreeSet::from(["step 0", "step 1", "step 2", "step 3"]));
    }
    for count in bodies.iter() {
        assert_eq!(count.load(Ordering::SeqCst), RUNS);
    }
    worker.stop().await;

    // Killed while the third one goes on: what was stored is not done again.
    let folder = TempDir::new().unwrap();
    let id = create(&halyard, new_job("t")).await;
    let first = Process::start(&server, "parallel", &folder);
    first.says("followed", 1).await;
    crate::until("three steps to be stored", async || {
        (halyard.jobs().get(&id).await.unwrap().checkpoints.len() == 3).then_some(())
    })
    .await;
    first.signal(Signal::KILL);
    let _second = Process::start(&server, "parallel", &folder);
    let job = ended(&halyard, &id).await;
    assert_eq!((job.state, job.starts, result(&job)), (State::Completed, 2, r#""adbc""#));
    let mut done = notes(folder.path(), BODIES);
    done.sort();
    assert_eq!(done, ["a", "b", "c", "c", "d"]);
}

/// Runs steps in this order, and fails with the names of those whose bodies ran.
async fn in_order(job: Job, order: &[&'static str]) -> HandlerResult<()> {
    let mut bodies = Vec::new();
    for name in order {
        let work = async || {
            bodies.push(*name);
            HandlerResult::Ok(name.to_uppercase())
        };
        let value = job.step(name, work).await?;
        assert_eq!(value, name.to_uppercase());
    }
    Err(HandlerError::from(format!("ran {bodies:?}")))
}

/// Case 42 · Handler code changes between attempts
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_42_handler_code_changes_between_attempts() {
    let server = Server::start();
    let halyard = client(&url(&server));
    // Long enough for a worker to be stopped and the next one to be started.
    let second = Backoff { initial_ms: Some(1000), max_ms: Some(1000), ..NO_BACKOFF };
    let id = create(&halyard, new_job("t").backoff(second)).await;
    let names = |job: &JobDetail| -> Vec<String> {
        job.checkpoints.iter().map(|point| point.name.clone()).collect()
    };
    // Each version of the code is a worker of its own. A version that is not to be the last fails
    // at its end.
    let attempt = async |order: &'static [&'static str], start: u64| {
        let worker = begin(&halyard, |worker| {
            worker.task("t", move |job: Job| in_order(job, order)).concurrency(1)
        })
        .await;
        crate::until("the attempt's end", async || {
            let job = halyard.jobs().get(&id).await.unwrap();
            job.attempts.iter().any(|one| one.start == start && one.error.is_some()).then_some(())
        })
        .await;
        worker.stop().await;
        halyard.jobs().get(&id).await.unwrap()
    };
    // A worker that is not stopped at once may start again: what counts is which bodies ran.
    let ran = |job: &JobDetail, start: u64| -> String {
        let attempt = job.attempts.iter().find(|one| one.start == start).unwrap();
        attempt.error.as_ref().unwrap().message.clone()
    };
    let job = attempt(&["a", "b"], 1).await;
    assert_eq!(ran(&job, 1), r#"ran ["a", "b"]"#);
    let next = job.starts + 1;
    let job = attempt(&["a", "c", "b"], next).await;
    assert_eq!(ran(&job, next), r#"ran ["c"]"#);
    let next = job.starts + 1;
    // Without `a`: its value stays, and is to be seen.
    let job = attempt(&["b", "c"], next).await;
    assert_eq!(ran(&job, next), "ran []");
    assert_eq!(names(&job), ["a", "b", "c"]);
    // With another type of `b`: no attempt will help.
    let typed = async |job: Job| {
        let number: u64 = job.step("b", async || HandlerResult::Ok(1)).await?;
        HandlerResult::Ok(number)
    };
    let worker = begin(&halyard, |worker| worker.task("t", typed)).await;
    let job = ended(&halyard, &id).await;
    worker.stop().await;
    let error = job.error.as_ref().unwrap();
    assert_eq!((job.state, error.kind.as_str()), (State::Failed, "non_retryable"));
    assert!(error.message.contains("`b`"), "{error:?}");
    assert_eq!(names(&job), ["a", "b", "c"]);
}
