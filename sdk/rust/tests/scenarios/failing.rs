//! Scenarios of handlers that fail.

use std::time::Duration;

use halyard::{
    Backoff, HandlerError, HandlerResult, HttpStatus, Job, NewJob, NonRetryable, OutcomeUnknown,
    State,
};

use crate::data;
use crate::script::{Player, Scripted};
use crate::server::Server;
use crate::work::Work;

#[derive(serde::Deserialize)]
struct Way {
    way: String,
    retried: bool,
}

/// What a payload of the wrong kind is read as.
#[derive(serde::Deserialize)]
struct Invoice {
    #[expect(dead_code, reason = "it is never reached")]
    lines: Vec<u8>,
}

/// A result in each of the ways of which JSON or the server has none.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Odd {
    Text(String),
    Number(f64),
}

async fn fails(job: Job) -> HandlerResult<Odd> {
    if job.attempt() > 1 {
        return Ok(Odd::Number(1.0));
    }
    let way: String = job.payload()?;
    match way.as_str() {
        "error" => Err(HandlerError::from("no luck")),
        "non_retryable" => Err(NonRetryable::new("no luck").into()),
        "outcome_unknown" => Err(OutcomeUnknown::new("no luck").into()),
        "panic" => panic!("no luck"),
        "invalid_result" => Ok(Odd::Number(f64::NAN)),
        "huge_result" => Ok(Odd::Text("x".repeat(5 * 1024 * 1024))),
        "result_over_the_limit" => Ok(Odd::Text("x".repeat(1024 * 1024))),
        other => panic!("a way that this runner does not know: {other}"),
    }
}

async fn reads(_: Job, _: Invoice) -> HandlerResult<()> {
    Ok(())
}

fn job(task: &str) -> NewJob {
    let backoff = Backoff { initial_ms: Some(0), factor: None, max_ms: Some(0), jitter: None };
    NewJob::new(task).queue("q").backoff(backoff).max_attempts(2)
}

pub(crate) async fn failures() {
    let server = Server::start();
    let set = |worker: halyard::WorkerBuilder| worker.task("fails", fails).task("reads", reads);
    let work = Work::begin(&server, set).await;
    for Way { way, retried } in data::<Vec<Way>>("failures", "ways") {
        let new = match way.as_str() {
            "payload_mismatch" => job("reads").payload(&serde_json::json!({"lines": [1, "x"]})),
            way => job("fails").payload(way),
        };
        let created = work.halyard.jobs().create(new).await.expect("created");
        let job = work.ended(&created.id).await;
        let expected = if retried { (State::Completed, 2) } else { (State::Failed, 1) };
        assert_eq!((job.state, job.starts), expected, "{way}: {:?}", job.error);
        let first = job.attempts.last().and_then(|attempt| attempt.error.clone());
        let first = first.unwrap_or_else(|| panic!("{way}: no report"));
        let kind = if retried { "error" } else { "non_retryable" };
        assert_eq!(first.kind.as_str(), kind, "{way}");
        match way.as_str() {
            "payload_mismatch" => assert!(first.message.contains("lines[1]"), "{first:?}"),
            "invalid_result" | "huge_result" | "result_over_the_limit" => {
                assert_eq!(first.r#type, "InvalidResult", "{way}: {first:?}");
            }
            _ => assert!(first.message.contains("no luck"), "{way}: {first:?}"),
        }
    }
    work.stop().await;
}

pub(crate) async fn retry_classes() {
    for (name, retried) in [("retried", true), ("not_retried", false)] {
        for status in data::<Vec<u16>>("retry_classes", name) {
            let own = HttpStatus::check(status, None).expect_err("a refusal");
            assert_eq!(halyard::retryable(&own), retried, "{status}");
            let reqwest = refusal(status).await;
            assert_eq!(halyard::retryable(&reqwest), retried, "{status}");
        }
    }
    let nobody = reqwest::Client::builder().timeout(Duration::from_millis(1)).build();
    let error = nobody.expect("a client").get("http://127.0.0.1:1").send().await;
    assert!(halyard::retryable(&error.expect_err("nothing listens there")));
    assert!(halyard::retryable(&std::io::Error::other("anything")));
}

/// The error that `reqwest` makes of an answer with this status.
async fn refusal(status: u16) -> reqwest::Error {
    let player = Player::start(vec![Scripted { status, ..Scripted::default() }]).await;
    let answer = reqwest::get(&player.url).await.expect("an answer");
    answer.error_for_status().expect_err("a refusal")
}

/// An error whose causes never end.
#[derive(Debug)]
struct Circle;

impl std::fmt::Display for Circle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("round and round")
    }
}

impl std::error::Error for Circle {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&Circle)
    }
}

pub(crate) async fn odd_errors() {
    let server = Server::start();
    async fn handler(job: Job) -> HandlerResult<()> {
        let error = match job.payload::<u8>()? {
            0 => HandlerError::from("\u{0}nul\u{0}"),
            1 => "\u{1b}[31mred\u{1b}[0m".into(),
            2 => "x".repeat(5 * 1024 * 1024).into(),
            3 => Circle.into(),
            4 => "".into(),
            _ => std::panic::panic_any(7),
        };
        Err(error)
    }
    let work = Work::begin(&server, |worker| worker.task("t", handler)).await;
    for (number, part) in [(0, "nul"), (1, "red"), (2, "xxx"), (3, "round"), (4, ""), (5, "panic")]
    {
        let job = job("t").max_attempts(1).payload(&number);
        let job = work.halyard.jobs().create(job).await.expect("created");
        let job = work.ended(&job.id).await;
        assert_eq!(job.state, State::Failed, "{number}");
        let error = job.error.expect("a report");
        assert!(error.message.contains(part), "{number}: {error:?}");
        assert!(!error.message.contains('\u{0}') && error.message.len() <= 9 * 1024, "{number}");
    }
    work.stop().await;
}
