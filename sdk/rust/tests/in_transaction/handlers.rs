//! What becomes of a job whose handler uses transactions.

use std::sync::Arc;
use std::time::Duration;

use halyard::in_transaction::InSchema;
use halyard::{AbortReason, Error, FailedJob, Handler, HandlerResult, Job, NewJob, State};
use serde_json::json;
use tokio::sync::mpsc;

use crate::PATIENCE;
use crate::services::{Services, connect, write_mail};

/// Runs one job with this handler until the job has ended, and answers with its id. No report of
/// the worker's may be refused.
async fn run<A: 'static>(services: &Services, handler: impl Handler<A>) -> String {
    let job = NewJob::new("own").queue("own").max_attempts(2);
    let id = services.halyard.jobs().create(job).await.expect("a job").id;
    let worker = services.halyard.worker().queues(["own"]).task("own", handler);
    let (tell, mut lost) = mpsc::unbounded_channel();
    let worker = worker.on_lost(move |job| tell.send(job.reason).expect("the test is there"));
    let worker = worker.build().expect("a worker");
    worker.start().await.expect("it works");
    services.halyard.jobs().wait(&id, PATIENCE).await.expect("it ends");
    worker.stop().await;
    assert!(lost.try_recv().is_err(), "what it reports is what the server knows");
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_completed_its_job_reports_nothing_else() {
    let services = Services::start().await;
    let (keep, mut kept) = mpsc::unbounded_channel();
    let database = services.database.clone();
    let id = run(&services, move |job: Job| {
        let (database, keep) = (database.clone(), keep.clone());
        async move {
            let mut client = connect(&database).await;
            let undone = client.transaction().await?;
            job.checkpoint_in(&undone, "undone", &1).await?;
            undone.rollback().await?;
            let mut transaction = client.transaction().await?;
            job.checkpoint_in(&transaction, "one", &json!({"a": 1})).await?;
            let savepoint = transaction.savepoint("here").await?;
            let conflict = job.checkpoint_in(&savepoint, "one", &2).await;
            savepoint.rollback().await?;
            job.checkpoint_in(&transaction, "marker", &()).await?;
            job.complete_in(&transaction, &json!({"done": true})).await?;
            transaction.commit().await?;
            let _ = keep.send((job, conflict));
            HandlerResult::Ok("something else")
        }
    })
    .await;
    let job = services.halyard.jobs().get(&id).await.expect("the job");
    let result = job.result.map(|result| result.to_string());
    assert_eq!((job.state, result.as_deref()), (State::Completed, Some(r#"{"done":true}"#)));
    let told: Vec<_> = job
        .checkpoints
        .iter()
        .map(|point| (point.name.as_str(), point.value.as_deref().map(|value| value.get())))
        .collect();
    assert_eq!(told, [("one", Some(r#"{"a":1}"#)), ("marker", None)]);

    let (stale, conflict) = kept.recv().await.expect("a job");
    let Err(Error::CheckpointConflict(conflict)) = conflict else { panic!("{conflict:?}") };
    let value = conflict.value.as_deref().map(|value| value.get());
    assert_eq!((conflict.name.as_str(), value), ("one", Some(r#"{"a":1}"#)));
    // The same again is a repeat. Another result is refused, and what was written goes with it.
    let mut client = services.client().await;
    let transaction = client.transaction().await.expect("a transaction");
    stale.complete_in(&transaction, &json!({"done": true})).await.expect("a repeat");
    write_mail(&transaction, &stale).await.expect("a row");
    let lost = stale.complete_in(&transaction, &7).await;
    assert!(matches!(lost, Err(Error::Aborted(AbortReason::LeaseLost))), "{lost:?}");
    drop(transaction);
    assert_eq!(services.mails(&id).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_rolls_back_is_called_again() {
    let services = Services::start().await;
    let database = services.database.clone();
    let id = run(&services, move |job: Job| {
        let database = database.clone();
        async move {
            let mut client = connect(&database).await;
            let transaction = client.transaction().await?;
            write_mail(&transaction, &job).await?;
            job.complete_in(&transaction, &job.attempt()).await?;
            if job.attempt() == 1 {
                transaction.rollback().await?;
                return Err("the first attempt fails".into());
            }
            transaction.commit().await?;
            HandlerResult::Ok(())
        }
    })
    .await;
    assert_eq!(services.ended(&id).await, (State::Completed, "2".to_owned(), 2));
    assert_eq!(services.mails(&id).await, 1);
}

/// What it fails with is told, and not that the job has failed; a rollback makes it fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_fails_after_its_commit_leaves_its_job_completed() {
    let services = Services::start().await;
    for (committed, state) in [(true, State::Completed), (false, State::Failed)] {
        let job = NewJob::new("late").queue("late").max_attempts(1);
        let id = services.halyard.jobs().create(job).await.expect("a job").id;
        let (tell, mut told) = mpsc::unbounded_channel();
        let (tell_lost, mut lost) = mpsc::unbounded_channel();
        let database = services.database.clone();
        let worker = services.halyard.worker().queues(["late"]).task("late", move |job: Job| {
            let database = database.clone();
            async move {
                let mut client = connect(&database).await;
                let transaction = client.transaction().await?;
                job.complete_in(&transaction, &1).await?;
                if committed {
                    transaction.commit().await?;
                } else {
                    transaction.rollback().await?;
                }
                HandlerResult::<()>::Err("too late".into())
            }
        });
        let worker = worker.on_failed(move |failed| tell.send(failed.clone()).expect("a test"));
        let worker = worker.on_lost(move |job| tell_lost.send(job.reason).expect("a test"));
        let worker = worker.build().expect("a worker");
        worker.start().await.expect("it works");
        let job = services.halyard.jobs().wait(&id, PATIENCE).await.expect("it ends");
        let failed = told.recv().await.expect("a failure");
        worker.stop().await;
        assert_eq!(job.state, state);
        let FailedJob { message, retry_in, completed, .. } = failed;
        assert_eq!((message.as_str(), retry_in, completed), ("too late", None, committed));
        assert!(told.try_recv().is_err() && lost.try_recv().is_err(), "it is told once");
    }
}

/// An error was swallowed: the commit is a rollback then, and no error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_returns_without_a_commit_runs_again() {
    let services = Services::start().await;
    let database = services.database.clone();
    let id = run(&services, move |job: Job| {
        let database = database.clone();
        async move {
            let mut client = connect(&database).await;
            let transaction = client.transaction().await?;
            job.complete_in(&transaction, &job.attempt()).await?;
            if job.attempt() == 1 {
                let _ = transaction.execute("insert into nowhere values (1)", &[]).await;
            }
            transaction.commit().await?;
            HandlerResult::Ok(())
        }
    })
    .await;
    assert_eq!(services.ended(&id).await, (State::Completed, "2".to_owned(), 2));
    assert_eq!(services.halyard.jobs().get(&id).await.expect("the job").rejected, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_saves_learns_of_a_cancel() {
    let services = Arc::new(Services::start().await);
    let others = Arc::clone(&services);
    let (tell, mut told) = mpsc::unbounded_channel();
    let worker = services.halyard.worker().queues(["own"]);
    let worker = worker.task("own", move |job: Job| {
        let (services, tell) = (Arc::clone(&others), tell.clone());
        async move {
            services.halyard.jobs().cancel(job.id()).await?;
            let mut client = services.client().await;
            let transaction = client.transaction().await?;
            job.checkpoint_in(&transaction, "saved", &()).await?;
            // No heartbeat can say it too: the row is locked until the commit.
            let reason = tokio::time::timeout(Duration::from_secs(30), job.signal().aborted());
            let _ = tell.send(reason.await.ok());
            transaction.commit().await?;
            let transaction = client.transaction().await?;
            job.complete_in(&transaction, &1).await?;
            HandlerResult::Ok(())
        }
    });
    let worker = worker.build().expect("a worker");
    let job = NewJob::new("own").queue("own");
    let id = services.halyard.jobs().create(job).await.expect("a job").id;
    worker.start().await.expect("it works");
    assert_eq!(told.recv().await.flatten(), Some(AbortReason::Cancelled));
    let job = services.halyard.jobs().wait(&id, PATIENCE).await.expect("it ends");
    worker.stop().await;
    assert_eq!((job.state, job.checkpoints.len()), (State::Cancelled, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_another_schema() {
    let services = Services::start_in("Jobs_2").await;
    let database = services.database.clone();
    let worker = services.halyard.worker().queues(["own"]).task("own", move |job: Job| {
        let database = database.clone();
        async move {
            let mut client = connect(&database).await;
            let transaction = client.transaction().await?;
            let there = || InSchema::new("Jobs_2", &transaction);
            job.checkpoint_in(there(), "saved", &1).await?;
            job.complete_in(there(), &"there").await?;
            transaction.commit().await?;
            HandlerResult::Ok(())
        }
    });
    let worker = worker.build().expect("a worker");
    worker.start().await.expect("it works");
    let mut client = services.client().await;
    let transaction = client.transaction().await.expect("a transaction");
    let job = NewJob::new("own").queue("own");
    let there = InSchema::new("Jobs_2", &transaction);
    let id = services.halyard.jobs().create_in(there, job).await.expect("a job").id;
    transaction.commit().await.expect("a commit");
    assert_eq!(services.ended(&id).await, (State::Completed, r#""there""#.to_owned(), 1));
    worker.stop().await;
}
