//! Scenarios of a network and a server that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halyard::{
    Bulk, BulkAction, Error, Halyard, HandlerResult, Job, ListJobs, NewJob, Retry, State,
};

use crate::data;
use crate::proxy::{Fate, Proxy};
use crate::script::{Player, Scripted};
use crate::server::Server;
use crate::work::Work;

pub(crate) async fn lost_answers() {
    losing(Fate::LoseAnswer).await;
}

pub(crate) async fn lost_requests() {
    losing(Fate::LoseRequest).await;
}

/// Every request, or every answer, is lost the first time: all the same everything happens once.
async fn losing(fate: Fate) {
    let server = Server::start();
    let proxy = Proxy::losing_first(&server.address, fate).await;
    let lossy = crate::server::client(&proxy.url);
    let sure = server.client();

    let keyed = lossy.jobs().create(NewJob::new("keyed").idempotency_key("k")).await;
    assert!(!keyed.expect("created").replayed);
    let plain = lossy.jobs().create(NewJob::new("plain")).await.expect("created");
    assert!(!plain.replayed);
    let calls = (0..10).map(|_| {
        let lossy = lossy.clone();
        tokio::spawn(async move { lossy.jobs().create(NewJob::new("joined")).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert!(!call.await.expect("no panic").expect("created").replayed);
    }
    let batch = lossy.jobs().create_batch([NewJob::new("batch"), NewJob::new("batch")]).await;
    assert!(batch.iter().all(|job| job.as_ref().is_ok_and(|job| !job.replayed)), "{batch:?}");
    for (task, expected) in [("keyed", 1), ("plain", 1), ("joined", 10), ("batch", 2)] {
        assert_eq!(count(&sure, task).await, expected, "{task}");
    }

    let id = plain.id.as_str();
    lossy.jobs().cancel(id).await.expect("cancelled");
    lossy.jobs().retry(id, Retry::default()).await.expect("retried");
    assert_eq!(sure.jobs().get(id).await.expect("the job").life, 2);
    lossy.jobs().cancel(id).await.expect("cancelled");
    let bulk =
        Bulk { action: BulkAction::Retry, ids: vec![plain.id.clone()], lives: None, filter: None };
    assert_eq!(lossy.jobs().bulk(bulk).await.expect("done")[0].status, 200);
    assert_eq!(sure.jobs().get(id).await.expect("the job").life, 3);
    lossy.jobs().run_as_new(id).await.expect("a new run");
    assert_eq!(count(&sure, "plain").await, 2);
    lossy.jobs().delete(id).await.expect("deleted");
    assert_eq!(count(&sure, "plain").await, 1);

    work_through(&server, &lossy).await;
    let lost = proxy.seen().len();
    assert!(lost > 20, "only {lost} requests came by");
}

/// A worker whose every call is lost once.
async fn work_through(server: &Server, lossy: &Halyard) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let handler = move |job: Job| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            job.checkpoint("a").await?;
            let value: u64 = job.step("b", async || HandlerResult::Ok(7)).await?;
            HandlerResult::Ok(value)
        }
    };
    let work = Work::begin_at(lossy.clone(), |worker| worker.task("work", handler)).await;
    let sure = server.client();
    let job = sure.jobs().create(NewJob::new("work").queue("q")).await.expect("created");
    let job = sure.jobs().wait(&job.id, crate::PATIENCE).await.expect("the job");
    assert_eq!((job.state, job.starts, job.crashes), (State::Completed, 1, 0));
    assert_eq!(job.checkpoints.len(), 2);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    work.stop().await;
}

async fn count(halyard: &Halyard, task: &str) -> usize {
    let filter = ListJobs { task: Some(task.to_owned()), ..ListJobs::default() };
    let page = halyard.jobs().list(filter).next_page().await.expect("a page");
    page.map_or(0, |page| page.data.len())
}

#[derive(serde::Deserialize)]
struct Script {
    answers: Vec<Scripted>,
    ends: u16,
}

pub(crate) async fn temporary_refusals() {
    let server = Server::start();
    let created = server.client().jobs().create(NewJob::new("t")).await.expect("created");
    let good = server.client().jobs().get(&created.id).await.expect("the job");
    let good = serde_json::to_string(&good).expect("JSON");
    for mut script in data::<Vec<Script>>("temporary_refusals", "scripts") {
        for answer in &mut script.answers {
            if answer.status == 200 {
                answer.body.clone_from(&good);
            }
        }
        let player = Player::start(script.answers.clone()).await;
        let result = crate::server::client(&player.url).jobs().get(&created.id).await;
        match result {
            Ok(job) => assert_eq!((script.ends, job.id), (200, created.id.clone())),
            Err(error) => assert_eq!(error.status(), Some(script.ends), "{error}"),
        }
        let times = player.times();
        assert_eq!(times.len(), script.answers.len());
        for (answer, times) in script.answers.iter().zip(times.windows(2)) {
            let asked = answer.retry_after.as_deref().and_then(|text| text.parse().ok());
            let asked = Duration::from_secs(asked.unwrap_or(0));
            assert!(times[1] - times[0] >= asked, "{answer:?}");
        }
    }
}

#[derive(serde::Deserialize)]
struct Silence {
    answers: Vec<Scripted>,
    retry_for_ms: u64,
    requests: usize,
    ends: Option<u16>,
}

pub(crate) async fn silence() {
    let server = Server::start();
    let created = server.client().jobs().create(NewJob::new("t")).await.expect("created");
    let good = server.client().jobs().get(&created.id).await.expect("the job");
    let good = serde_json::to_string(&good).expect("JSON");
    for mut script in data::<Vec<Silence>>("silence", "scripts") {
        for answer in &mut script.answers {
            answer.body.clone_from(&good);
        }
        let player = Player::start(script.answers.clone()).await;
        let client = Halyard::builder()
            .url(&player.url)
            .timeout(Duration::from_secs(2))
            .retry_for(Duration::from_millis(script.retry_for_ms));
        let result = client.build().expect("a client").jobs().get(&created.id).await;
        match (script.ends, result) {
            (Some(200), Ok(job)) => assert_eq!(job.id, created.id),
            (None, Err(Error::Connection(_))) => {}
            (ends, result) => panic!("{result:?} instead of {ends:?}"),
        }
        assert_eq!(player.times().len(), script.requests);
    }
}

#[derive(Debug, serde::Deserialize)]
struct NotThere {
    call: String,
    answers: Vec<Scripted>,
    ends: Option<u16>,
}

pub(crate) async fn not_there() {
    for script in data::<Vec<NotThere>>("not_there", "scripts") {
        let player = Player::start(script.answers.clone()).await;
        let halyard = crate::server::client(&player.url);
        let jobs = halyard.jobs();
        let result = match script.call.as_str() {
            "by_key" => jobs.by_key("t", "k").await.map(|holder| assert!(holder.is_none())),
            "delete" => jobs.delete("job_1").await,
            "forget_key" => jobs.forget_key("job_1").await,
            other => panic!("no call {other}"),
        };
        assert_eq!(result.err().and_then(|error| error.status()), script.ends, "{script:?}");
        assert_eq!(player.times().len(), script.answers.len(), "{script:?}");
    }
}

pub(crate) async fn odd_answers() {
    for answer in data::<Vec<Scripted>>("odd_answers", "answers") {
        let player = Player::start(vec![answer.clone()]).await;
        let error = crate::server::client(&player.url).jobs().get("job_1").await;
        let error = error.expect_err("an error");
        assert_eq!(error.status(), Some(answer.status), "{answer:?}: {error}");
        if let Some(code) = &answer.code {
            assert_eq!(error.code(), Some(code.as_str()), "{answer:?}");
        }
        let text = error.to_string();
        assert!(text.contains(&answer.status.to_string()), "{answer:?}: {error}");
        assert!(text.contains(&answer.message) && !text.contains("secret"), "{answer:?}: {error}");
        assert_eq!(player.times().len(), 1, "{answer:?}");
    }
}

pub(crate) async fn not_running() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let halyard = Halyard::builder().url(&url).retry_for(Duration::ZERO).build();
    let error = halyard.expect("a client").jobs().get("job_1").await.expect_err("no server");
    assert!(matches!(error, Error::Connection(_)), "{error:?}");
    assert_eq!(error.to_string(), format!("cannot reach {url}: is `halyard serve` running?"));
}
