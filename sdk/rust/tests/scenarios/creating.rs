//! Scenarios of producers.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use halyard::{
    Backoff, CreatedJob, Error, Halyard, HandlerResult, IfFailed, Job, ListJobs, NewJob,
    NonRetryable, Retry, State, Timestamp,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::data;
use crate::proxy::{Fate, Proxy};
use crate::server::Server;
use crate::work::Work;

pub(crate) async fn create_and_read() {
    let server = Server::start();
    let halyard = server.client();
    let run_at = Timestamp::from_ms(in_days(300));
    let backoff =
        Backoff { initial_ms: Some(10), factor: Some(1.5), max_ms: Some(100), jitter: Some(0.0) };
    let job = NewJob::new("charge-subscription")
        .queue("billing")
        .payload(&RawValue::from_string(r#"{"b":1,"a":[null]}"#.to_owned()).expect("JSON"))
        .idempotency_key("charge:sub_1:2026-11")
        .idempotency_ttl(Duration::from_secs(3600))
        .run_at(run_at)
        .priority(-7)
        .max_attempts(3)
        .max_crashes(2)
        .timeout(Duration::from_millis(1500))
        .backoff(backoff)
        .tag("eu")
        .tag("monthly")
        .traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let created = halyard.jobs().create(job).await.expect("created");
    assert!(!created.replayed);
    assert!(created.id.starts_with("job_") && created.id.len() == 30, "{}", created.id);
    let read = halyard.jobs().get(&created.id).await.expect("read");
    assert_eq!((read.task.as_str(), read.queue.as_str()), ("charge-subscription", "billing"));
    assert_eq!(read.payload.as_deref().map(RawValue::get), Some(r#"{"b":1,"a":[null]}"#));
    assert_eq!(read.idempotency_key.as_deref(), Some("charge:sub_1:2026-11"));
    assert_eq!((read.state, read.run_at, read.priority), (State::Scheduled, run_at, -7));
    assert_eq!((read.max_attempts, read.max_crashes, read.timeout_ms), (3, 2, 1500));
    assert_eq!((read.backoff.initial_ms, read.backoff.max_ms), (10, 100));
    assert_eq!((read.backoff.factor, read.backoff.jitter), (1.5, 0.0));
    assert_eq!(read.tags, ["eu", "monthly"]);
    assert!(read.traceparent.is_some_and(|parent| parent.starts_with("00-0af7")));

    let plain = halyard.jobs().create(NewJob::new("plain")).await.expect("created");
    assert!(!plain.replayed);
    let read = halyard.jobs().get(&plain.id).await.expect("read");
    assert_eq!(
        (read.queue.as_str(), read.max_attempts, read.state),
        ("default", 20, State::Queued)
    );
    assert_eq!(read.payload.as_deref().map_or("null", RawValue::get), "null");
}

fn in_days(days: u64) -> i64 {
    let then = std::time::SystemTime::now() + Duration::from_secs(days * 86_400);
    let then = then.duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    i64::try_from(then.as_millis()).expect("before the end of time")
}

pub(crate) async fn replay() {
    let server = Server::start();
    let halyard = server.client();
    let job = |queue: &str, payload: Value| {
        NewJob::new("charge").queue(queue).payload(&payload).idempotency_key("k")
    };
    let first = halyard.jobs().create(job("billing", json!({"a": 1, "b": 2.0}))).await;
    let first = first.expect("created");
    let again = halyard.jobs().create(job("other", json!({"b": 2, "a": 1}))).await;
    let again = again.expect("replayed");
    assert_eq!((again.id.as_str(), again.queue.as_str()), (first.id.as_str(), "billing"));
    assert!(again.replayed && !first.replayed);

    let all = create_at_once(&halyard, 100, |_| NewJob::new("t").idempotency_key("one")).await;
    let all: Vec<CreatedJob> = all.into_iter().map(|job| job.expect("a job")).collect();
    assert_eq!(all.iter().map(|job| &job.id).collect::<HashSet<_>>().len(), 1);
    assert_eq!(all.iter().filter(|job| !job.replayed).count(), 1);
}

/// The results of callers who create at the same time, each in a task of its own.
async fn create_at_once(
    halyard: &Halyard,
    callers: usize,
    job: impl Fn(usize) -> NewJob,
) -> Vec<Result<CreatedJob, Error>> {
    let calls = (0..callers).map(|number| {
        let (halyard, job) = (halyard.clone(), job(number));
        tokio::spawn(async move { halyard.jobs().create(job).await })
    });
    let mut results = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        results.push(call.await.expect("no panic"));
    }
    results
}

fn is_conflict(result: &Result<CreatedJob, Error>, id: &str) -> bool {
    match result {
        Err(Error::IdempotencyConflict(conflict)) => {
            assert_eq!(conflict.existing_job_id, id);
            assert_eq!(conflict.changed.as_deref(), Some(&["/period".to_owned()][..]));
            true
        }
        _ => false,
    }
}

pub(crate) async fn mismatch() {
    let server = Server::start();
    let halyard = server.client();
    let job = |period: &str| {
        let payload = json!({"subscription_id": "sub_1", "period": period});
        NewJob::new("charge").payload(&payload).idempotency_key("k")
    };
    let first = halyard.jobs().create(job("2026-11")).await.expect("created");
    let alone = halyard.jobs().create(job("2026-12")).await;
    assert!(is_conflict(&alone, &first.id), "{alone:?}");

    let other = |number| if number == 5 { job("2026-12") } else { NewJob::new("other") };
    for (number, result) in create_at_once(&halyard, 20, other).await.iter().enumerate() {
        assert_eq!(is_conflict(result, &first.id), number == 5, "{number}: {result:?}");
        assert_eq!(result.is_ok(), number != 5, "{number}: {result:?}");
    }
    let batch = halyard.jobs().create_batch([NewJob::new("a"), job("2026-12")]).await;
    assert!(batch[0].is_ok() && is_conflict(&batch[1], &first.id), "{batch:?}");
}

pub(crate) async fn if_failed() {
    let server = Server::start();
    let proxy = Proxy::losing_first(&server.address, Fate::LoseAnswer).await;
    let halyard = crate::server::client(&proxy.url);
    async fn fail(_: Job) -> HandlerResult<()> {
        Err(NonRetryable::new("declined").into())
    }
    let work = Work::begin(&server, |worker| worker.task("t", fail)).await;
    let job = || NewJob::new("t").queue("q").idempotency_key("k");
    let first = halyard.jobs().create(job()).await.expect("created");
    work.ended(&first.id).await;

    let same = halyard.jobs().create(job()).await.expect("replayed");
    assert_eq!((&same.id, same.state, same.life), (&first.id, State::Failed, 1));
    let revived = halyard.jobs().create(job().if_failed(IfFailed::Retry)).await.expect("retried");
    assert_eq!((&revived.id, revived.life), (&first.id, 2));
    work.ended(&first.id).await;
    let new = halyard.jobs().create(job().if_failed(IfFailed::Replace)).await.expect("replaced");
    assert_ne!(new.id, first.id);
    assert!(!new.replayed);

    let old = halyard.jobs().get(&first.id).await.expect("read");
    assert_eq!((old.life, old.replaced_by.as_ref()), (2, Some(&new.id)));
    let mut all = halyard.jobs().list(ListJobs::default());
    let mut count = 0;
    while all.try_next().await.expect("a page").is_some() {
        count += 1;
    }
    assert_eq!(count, 2);
    work.ended(&new.id).await;
    let retried = halyard.jobs().retry(&new.id, Retry::default()).await.expect("retried");
    assert_eq!(retried.life, 2, "one life for one wish, whatever was lost");
    work.stop().await;
}

pub(crate) async fn joined_creates() {
    let server = Server::start();
    let proxy = Proxy::start(&server.address, |_| Fate::Pass).await;
    let halyard = crate::server::client(&proxy.url);
    halyard.jobs().create(NewJob::new("t")).await.expect("created");
    assert_eq!(proxy.take_calls(), ["POST /v1/jobs"]);

    let all = create_at_once(&halyard, 300, |number| NewJob::new("t").payload(&number)).await;
    let mut ids = BTreeMap::new();
    for (number, job) in all.into_iter().enumerate() {
        let job = job.expect("created");
        assert_eq!(job.payload.as_deref().map(RawValue::get), Some(number.to_string().as_str()));
        ids.insert(job.id, number);
    }
    assert_eq!(ids.len(), 300);
    let calls = proxy.take_calls();
    assert!(calls.len() <= 20, "{} calls", calls.len());
    assert_eq!(proxy.under_way_max(), 1);
}

/// Callers who give up take nothing with them, not even their own job.
#[tokio::test]
async fn a_dropped_create_leaves_the_others_alone() {
    let server = Server::start();
    let halyard = server.client();
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let halyard = halyard.clone();
            let job = NewJob::new("t").payload(&number);
            tokio::spawn(async move { halyard.jobs().create(job).await })
        })
        .collect();
    tokio::task::yield_now().await;
    for (number, call) in calls.into_iter().enumerate() {
        if number % 2 == 0 {
            call.abort();
        } else {
            call.await.expect("no panic").expect("created");
        }
    }
    let queued = halyard.queues().get("default").await.expect("the queue").counts.queued;
    assert_eq!(queued, 20);
}

pub(crate) async fn joined_create_refused() {
    let server = Server::start();
    let halyard = server.client();
    let first = NewJob::new("charge").payload(&1).idempotency_key("k");
    let first = halyard.jobs().create(first).await.expect("created");
    let large = "x".repeat(1024 * 1024);
    let job = |number| match number {
        7 => NewJob::new("t").priority(101),
        21 => NewJob::new("t").payload(&large),
        33 => NewJob::new("charge").payload(&2).idempotency_key("k"),
        _ => NewJob::new("t").payload(&number),
    };
    let mut ids = HashSet::new();
    for (number, result) in create_at_once(&halyard, 40, job).await.into_iter().enumerate() {
        match (number, result) {
            (7, Err(Error::Api(error))) => {
                assert_eq!((error.status, error.code.as_str()), (400, "invalid_field"));
                let pointers: Vec<_> = error.errors.iter().map(|fault| &fault.pointer).collect();
                assert_eq!(pointers, ["/priority"]);
            }
            (21, Err(Error::Api(error))) => {
                assert_eq!((error.status, error.code.as_str()), (413, "payload_too_large"));
            }
            (33, Err(Error::IdempotencyConflict(conflict))) => {
                assert_eq!(conflict.existing_job_id, first.id);
            }
            (_, Ok(job)) => assert!(ids.insert(job.id)),
            (_, Err(error)) => panic!("{number}: {error}"),
        }
    }
    assert_eq!(ids.len(), 37);
    let queue = halyard.queues().get("default").await.expect("the queue");
    assert_eq!(queue.counts.queued, 38);
}

pub(crate) async fn create_batch() {
    let server = Server::start();
    let proxy = Proxy::start(&server.address, |_| Fate::Pass).await;
    let halyard = crate::server::client(&proxy.url);
    let keyed = |payload: &Value| NewJob::new("t").payload(payload).idempotency_key("k");
    let jobs = [
        keyed(&json!({"n": 1})),
        keyed(&json!({"n": 1})),
        keyed(&json!({"n": 2})),
        NewJob::new("t").queue("no spaces please"),
        NewJob::new("t").payload(&f64::NAN),
        NewJob::new("t"),
    ];
    let results = halyard.jobs().create_batch(jobs).await;
    let [first, replayed, conflict, refused, no_json, last] = results.as_slice() else {
        panic!("six results: {results:?}");
    };
    let first = first.as_ref().expect("created");
    let replayed = replayed.as_ref().expect("replayed");
    assert_eq!((&replayed.id, replayed.replayed), (&first.id, true));
    assert!(matches!(conflict, Err(Error::IdempotencyConflict(_))), "{conflict:?}");
    assert_eq!(refused.as_ref().err().and_then(Error::status), Some(400));
    assert!(matches!(no_json, Err(Error::InvalidValue(_))), "{no_json:?}");
    assert!(last.as_ref().is_ok_and(|job| !job.replayed));
    proxy.take_calls();

    let many = (0..2_500).map(|number| NewJob::new("many").payload(&number));
    let created = halyard.jobs().create_batch(many).await;
    assert!(created.iter().all(Result::is_ok));
    assert_eq!(proxy.take_calls(), ["POST /v1/jobs/batch"; 3]);
    let large = "x".repeat(900 * 1024);
    let large = (0..20).map(|_| NewJob::new("large").payload(&large));
    let created = halyard.jobs().create_batch(large).await;
    assert!(created.iter().all(Result::is_ok), "{:?}", created.iter().find(|job| job.is_err()));
    let requests = proxy.seen();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.body.len() <= 8 * 1024 * 1024 + 1024));
}

pub(crate) async fn values() {
    let server = Server::start();
    let halyard = server.client();
    async fn echo(job: Job) -> HandlerResult<Box<RawValue>> {
        let value: Box<RawValue> = job.payload()?;
        job.checkpoint_with("value", &value).await?;
        Ok(value)
    }
    let work = Work::begin(&server, |worker| worker.task("t", echo)).await;
    for text in data::<Vec<String>>("values", "json") {
        let value = RawValue::from_string(text.clone()).expect("JSON");
        let job = halyard.jobs().create(NewJob::new("t").queue("q").payload(&value)).await;
        let job = work.ended(&job.expect("created").id).await;
        let of = |value: &Option<Box<RawValue>>| {
            value.as_deref().map_or("null", RawValue::get).to_owned()
        };
        assert_eq!(job.state, State::Completed, "{text}: {:?}", job.error);
        assert_eq!(of(&job.payload), text);
        assert_eq!(of(&job.result), text);
        assert_eq!(of(&job.checkpoints[0].value), text);
    }
    work.stop().await;
}

pub(crate) async fn no_json() {
    let halyard = crate::server::client("http://127.0.0.1:1");
    for (job, path) in [
        (NewJob::new("t").payload(&f64::NAN), "."),
        (NewJob::new("t").payload(&BTreeMap::from([("a", [1.0, f64::INFINITY])])), "a[1]"),
        (NewJob::new("t").payload(&BTreeMap::from([(vec![1], 1)])), "."),
    ] {
        match halyard.jobs().create(job).await {
            Err(Error::InvalidValue(invalid)) => assert_eq!(invalid.path, path, "{invalid}"),
            other => panic!("{other:?}"),
        }
    }
}
