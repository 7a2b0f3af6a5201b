//! What becomes of the record when work ends, and when an earlier end is unknown.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use halyard::processed::{
    AlreadyInProgress, KeyReused, OnUnknown, Options, Store, idempotent, idempotent_with,
};
use halyard::testing::{FakeJob, fake_job};
use halyard::{AbortReason, HandlerError, HandlerResult, Job, NonRetryable, OutcomeUnknown};
use tokio::net::TcpListener;

use crate::{key, table};

/// Longer than any answer takes that comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs work that returns `again`, and says what that came to in the words of the list.
pub(crate) async fn again(store: &impl Store, job: &Job) -> &'static str {
    let once = store.once(job.id()).job(job).on_unknown(OnUnknown::Fail);
    match once.run(|| async { Ok::<_, HandlerError>("again".to_owned()) }).await {
        Ok(response) if response == "again" => "runs",
        Ok(_) => "stored",
        Err(error) if error.find::<AlreadyInProgress>().is_some() => "in progress",
        Err(error) if error.find::<NonRetryable>().is_some() => "unknown",
        Err(error) => panic!("{error:?}"),
    }
}

pub(crate) async fn endings(store: &impl Store) {
    let endings = table("endings");
    assert!(endings.len() >= 11);
    for ending in endings {
        let work = ending["work"].as_str().expect("the work");
        let fake = fake_job("charge").id(key("ending"));
        let job = fake.job();
        let running = store.once(job.id()).job(&job).run(|| end(work, &fake));
        if work == "never ends" {
            assert_eq!(beside(store, &fake, running).await, ending["again"], "{work}");
            continue;
        }
        let returned = running.await;
        assert_eq!(returned.is_ok(), work.ends_with("returns"), "{work}: {returned:?}");
        assert_eq!(again(store, &fake.next_attempt().job()).await, ending["again"], "{work}");
    }
}

/// Runs work that never ends, and the work again beside it.
async fn beside(
    store: &impl Store,
    fake: &FakeJob,
    running: impl Future<Output = HandlerResult<String>>,
) -> &'static str {
    let other = async {
        // Once the work has begun, its record is there.
        while fake.job().checkpoints().is_empty() {
            tokio::task::yield_now().await;
        }
        again(store, &fake.next_attempt().job()).await
    };
    tokio::select! {
        said = other => said,
        ended = running => panic!("it ended: {ended:?}"),
    }
}

/// Work that ends as the list says.
async fn end(work: &str, fake: &FakeJob) -> HandlerResult<String> {
    match work {
        "returns" => Ok("first".to_owned()),
        "throws an error that nobody knows" => Err("declined".into()),
        "throws NonRetryableError" => Err(NonRetryable::new("declined").into()),
        "throws OutcomeUnknownError" => Err(OutcomeUnknown::new("no answer").into()),
        "throws an error caused by OutcomeUnknownError" => {
            Err(std::io::Error::other(OutcomeUnknown::new("no answer")).into())
        }
        "sends a request whose connection is refused" => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("http://{}/", listener.local_addr()?);
            drop(listener);
            send(&url, PATIENCE).await
        }
        "sends a request whose answer does not come in time" => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            send(&format!("http://{}/", listener.local_addr()?), Duration::from_millis(200)).await
        }
        "sends a request whose connection breaks before the answer" => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let url = format!("http://{}/", listener.local_addr()?);
            let hang_up = async {
                let (connection, _) = listener.accept().await?;
                connection.readable().await?;
                let _ = connection.try_read(&mut [0; 1024]);
                Ok::<_, HandlerError>(())
            };
            tokio::join!(hang_up, send(&url, PATIENCE)).1
        }
        "is aborted because the lease is lost, and throws" => {
            fake.abort(AbortReason::LeaseLost);
            Err("stopped".into())
        }
        "is aborted because the lease is lost, and returns" => {
            fake.abort(AbortReason::LeaseLost);
            Ok("first".to_owned())
        }
        "never ends" => {
            fake.job().checkpoint("begun").await?;
            std::future::pending().await
        }
        other => panic!("no such work: {other}"),
    }
}

async fn send(url: &str, timeout: Duration) -> HandlerResult<String> {
    // Another test may have chosen a provider before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(timeout);
    Ok(client.build()?.post(url).send().await?.text().await?)
}

pub(crate) async fn on_unknown(store: &impl Store) {
    let rows = table("on_unknown");
    assert_eq!(rows.len(), 5);
    for row in rows {
        let what = row["on_unknown"].as_str().expect("what to do");
        let fake = fake_job("charge").id(key("unknown"));
        let job = fake.job();
        let lost = || async { Err::<String, _>(OutcomeUnknown::new("no answer")) };
        store.once(job.id()).job(&job).run(lost).await.expect_err("the outcome is unknown");

        let on_unknown = match what {
            "run" => OnUnknown::Run,
            "fail" => OnUnknown::Fail,
            "a function that answers with a response" => OnUnknown::ask(|unknown| async move {
                Ok::<_, HandlerError>(unknown.job.map(|_| "told".to_owned()))
            }),
            "a function that answers that nothing was done" => {
                OnUnknown::ask(|_| async { Ok::<_, HandlerError>(None::<String>) })
            }
            "a function that throws" => {
                OnUnknown::ask(|_| async { Err::<Option<()>, _>("nobody answers") })
            }
            other => panic!("no such choice: {other}"),
        };
        let job = fake.next_attempt().job();
        let once = store.once(job.id()).job(&job).on_unknown(on_unknown);
        let got = once.run(|| async { Ok::<_, HandlerError>("ran".to_owned()) }).await;
        let got = match got.as_deref() {
            Ok("ran") => "runs",
            Ok(response) => {
                assert_eq!(response, "told");
                "that response, and the work does not run"
            }
            Err(error) if error.find::<NonRetryable>().is_some() => "NonRetryableError",
            Err(error) => {
                assert_eq!(error.to_string(), "nobody answers");
                "its error, and the work does not run"
            }
        };
        assert_eq!(got, row["gets"], "{what}");
        assert_eq!(again(store, &fake.next_attempt().job()).await, row["then"], "{what}");
    }
}

pub(crate) async fn a_panic_leaves_nothing<S: Store>(store: &S) {
    let fake = fake_job("charge").id(key("panic"));
    let (job, copy) = (fake.job(), store.clone());
    let work = async || -> HandlerResult<String> { panic!("a bug") };
    let running = tokio::spawn(async move { copy.once(job.id()).job(&job).run(work).await });
    assert!(running.await.expect_err("it panics").is_panic());
    assert_eq!(again(store, &fake.next_attempt().job()).await, "runs");
}

pub(crate) async fn a_dropped_run_is_over<S: Store>(store: &S) {
    let fake = fake_job("charge").id(key("dropped"));
    let job = fake.job();
    let running = store.once(job.id()).job(&job).run(|| end("never ends", &fake));
    let begun = async {
        while fake.job().checkpoints().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = begun => {}
        ended = running => panic!("it ended: {ended:?}"),
    }
    let over = async {
        let next = fake.next_attempt().job();
        loop {
            match again(store, &next).await {
                "in progress" => tokio::time::sleep(Duration::from_millis(10)).await,
                said => return said,
            }
        }
    };
    let said = tokio::time::timeout(PATIENCE, over).await.expect("it does not stay in progress");
    assert_eq!(said, "unknown");
}

pub(crate) async fn whole_handlers<S: Store>(store: &S) {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    async fn charge(job: Job, amount: u64) -> HandlerResult<String> {
        CALLS.fetch_add(1, Ordering::SeqCst);
        Ok(format!("{} for {}", amount, job.id()))
    }
    CALLS.store(0, Ordering::SeqCst);
    let charge_once = idempotent(charge, store.clone());
    let fake = fake_job("charge").id(key("job_1")).payload(&4_800);
    let first = charge_once(fake.job()).await.expect("a charge");
    let second = charge_once(fake.next_attempt().job()).await.expect("the same charge");
    assert_eq!(first.get(), format!(r#""4800 for {}""#, fake.job().id()));
    assert_eq!(first.get(), second.get());
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);

    let prefix = key("");
    let options = Options::new().key(move |job| format!("{prefix}{}", job.tags()[0]));
    let charge_once = idempotent_with(charge, store.clone(), options);
    let job = |amount: u64| fake_job("charge").payload(&amount).tag("sub_1").job();
    let first = charge_once(job(1)).await.expect("a charge");
    let second = charge_once(job(1)).await.expect("the charge of the other job");
    assert_eq!(first.get(), second.get());
    let error = charge_once(job(2)).await.expect_err("another payload");
    assert!(error.find::<KeyReused>().is_some(), "{error}");
    let error = charge_once(fake_job("charge").payload("x").tag("sub_2").job()).await;
    error.expect_err("a text is no amount");

    // The time in progress is that of the options, not the deadline of the job.
    let (hour, second) = (Duration::from_secs(3_600), store.clone());
    let lasting = move |job: Job| {
        let second = idempotent(charge, second.clone());
        async move {
            let error = second(job).await.expect_err("it is in progress");
            let left = error.find::<AlreadyInProgress>().expect("such an error").left();
            assert!(left > Duration::from_secs(3_000), "{left:?}");
            HandlerResult::Ok(())
        }
    };
    // Longer than its record is kept after it.
    let options = Options::new().in_progress(hour).expires_in(Duration::ZERO);
    let lasting = idempotent_with(lasting, store.clone(), options);
    let fake = fake_job("charge").id(key("lasting")).payload(&1);
    lasting(fake.job()).await.expect("its end");
}
