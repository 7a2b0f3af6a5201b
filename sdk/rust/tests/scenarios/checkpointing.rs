//! Scenarios of checkpoints and steps.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use halyard::{Error, HandlerError, HandlerResult, Job, NewJob, State};
use rustix::process::Signal;
use serde_json::value::RawValue;

use crate::process::Process;
use crate::server::Server;
use crate::work::Work;

pub(crate) async fn checkpoints() {
    let server = Server::start();
    let halyard = server.client();
    let first = Process::start(&server, "month", Path::new(""));
    let backoff = halyard::Backoff { initial_ms: Some(0), max_ms: Some(0), ..Default::default() };
    let job = NewJob::new("t").queue("q").backoff(backoff);
    let id = halyard.jobs().create(job).await.expect("created").id;
    first.says("work c", 1).await;
    first.signal(Signal::KILL);
    assert_eq!(first.said(), ["saw ", "work a", "work b", "work c"]);
    let stored = halyard.jobs().get(&id).await.expect("the job");
    let stored = stored.checkpoints[1].value.as_deref().map(|value| value.get().to_owned());

    let second = Process::start(&server, "month", Path::new(""));
    let job = halyard.jobs().wait(&id, crate::PATIENCE).await.expect("the job");
    assert_eq!(second.said(), ["saw a b", "work c"]);
    assert_eq!((job.state, job.attempt, job.starts), (State::Completed, 2, 2));
    let result = job.result.as_deref().map(RawValue::get);
    assert_eq!(result.map(|text| text.trim_matches('"').to_owned()), stored);
    let names: Vec<_> = job.checkpoints.iter().map(|point| (&*point.name, point.start)).collect();
    assert_eq!(names, [("a", 1), ("b", 1), ("c", 2)]);
    assert_eq!(job.attempts[1].state.as_str(), "lost");
}

/// Runs of the work of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Runs {
    begun: usize,
    under_way: usize,
    /// How many were under way at once at most.
    most: usize,
}

impl Runs {
    fn begin(&mut self) -> usize {
        self.begun += 1;
        self.under_way += 1;
        self.most = self.most.max(self.under_way);
        self.begun
    }
}

/// Calls one step three times at once; its work fails the first time.
async fn one_step(job: Job, runs: Arc<Mutex<Runs>>) -> HandlerResult<[Option<usize>; 3]> {
    let step = async || {
        let work = async || {
            let run = runs.lock().expect("not poisoned").begin();
            tokio::task::yield_now().await;
            runs.lock().expect("not poisoned").under_way -= 1;
            if run == 1 { Err(HandlerError::from("declined")) } else { Ok(run) }
        };
        job.step("send", work).await.ok()
    };
    let (a, b, c) = tokio::join!(step(), step(), step());
    Ok([a, b, c])
}

pub(crate) async fn checkpoint_rules() {
    let server = Server::start();
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let three = move |job: Job| {
        let counted = Arc::clone(&counted);
        async move {
            let step = async |name: &str| -> HandlerResult<String> {
                let work = async || {
                    counted.fetch_add(1, Ordering::SeqCst);
                    HandlerResult::Ok(name.to_owned())
                };
                job.step(name, work).await
            };
            let (a, b, c) = tokio::join!(step("a"), step("b"), step("c"));
            HandlerResult::Ok([a?, b?, c?])
        }
    };
    let runs = Arc::new(Mutex::new(Runs::default()));
    let seen = Arc::clone(&runs);
    let one = move |job: Job| one_step(job, Arc::clone(&runs));
    async fn twice(job: Job) -> HandlerResult<String> {
        job.checkpoint_with("n", &1).await?;
        job.checkpoint_with("n", &RawValue::from_string("1.0".to_owned())?).await?;
        match job.checkpoint_with("n", &2).await {
            Err(Error::CheckpointConflict(conflict)) => {
                let value = conflict.value.as_deref().map_or("none", RawValue::get);
                Ok(format!("{} is {value}", conflict.name))
            }
            other => Ok(format!("{other:?}")),
        }
    }
    async fn other_type(job: Job) -> HandlerResult<()> {
        job.checkpoint_with("n", &["x"]).await?;
        let _: Vec<u8> = job.step("n", async || HandlerResult::Ok(Vec::new())).await?;
        Ok(())
    }
    let set = |worker: halyard::WorkerBuilder| {
        let worker = worker.task("three", three).task("one", one);
        worker.task("twice", twice).task("other_type", other_type)
    };
    let work = Work::begin(&server, set).await;
    let run = async |task: &str| {
        let job = NewJob::new(task).queue("q");
        let job = work.halyard.jobs().create(job).await.expect("created");
        work.ended(&job.id).await
    };
    let three = run("three").await;
    assert_eq!(three.result.as_deref().map(RawValue::get), Some(r#"["a","b","c"]"#));
    assert_eq!((three.checkpoints.len(), steps.load(Ordering::SeqCst)), (3, 3));
    let one = run("one").await;
    assert_eq!(one.result.as_deref().map(RawValue::get), Some("[null,2,2]"));
    let seen = *seen.lock().expect("not poisoned");
    assert_eq!(seen, Runs { begun: 2, under_way: 0, most: 1 });
    let twice = run("twice").await;
    assert_eq!(twice.result.as_deref().map(RawValue::get), Some(r#""n is 1""#));
    let other = run("other_type").await;
    let error = other.error.expect("a report");
    assert_eq!((other.state, error.kind.as_str()), (State::Failed, "non_retryable"));
    assert!(error.message.contains("`n`") && error.message.contains("[0]"), "{error:?}");
    work.stop().await;
}
