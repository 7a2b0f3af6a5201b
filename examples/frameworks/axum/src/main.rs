//! axum: producer and worker in one process.
//!
//! `cargo run -p halyard-example-axum`, with `halyard serve` running. The worker could as well be a
//! program of its own; here both end with the same signal, the requests first.

use std::env;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use halyard::{Error, Halyard, HandlerResult, Job, NewJob};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// What is charged: the body of a request, and the payload of a job.
#[derive(Deserialize, Serialize)]
struct Charge {
    subscription_id: String,
    period: String,
    amount: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One client for the process; its copies share the connections. A request waits less than a
    // script would: 2 s for a server that is away, twice 5 s for an answer, since a call without
    // one is sent once more. Then its caller is told to come again.
    let (away, silent) = (Duration::from_secs(2), Duration::from_secs(5));
    let halyard = Halyard::builder().retry_for(away).timeout(silent).build()?;
    let worker = halyard
        .worker()
        .queues(["billing"])
        .task("charge-subscription", charge_subscription)
        .build()?;
    worker.start().await?;

    let app = Router::new()
        .route("/charges", post(create_charge))
        .route("/charges/{id}", get(get_charge))
        .with_state(halyard);
    let port = env::var("PORT").unwrap_or_else(|_| "3000".to_owned());
    let listener = TcpListener::bind(("127.0.0.1", port.parse()?)).await?;
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let stopped = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    axum::serve(listener, app).with_graceful_shutdown(stopped).await?;
    worker.stop().await;
    Ok(())
}

/// Asks for a charge; asked again, it answers with the same job.
async fn create_charge(
    State(halyard): State<Halyard>,
    Json(charge): Json<Charge>,
) -> Result<Response, Refusal> {
    if charge.subscription_id.is_empty() || !is_period(&charge.period) {
        let body = json!({"error": "subscription_id and period (2026-11) are needed"});
        return Ok((StatusCode::BAD_REQUEST, Json(body)).into_response());
    }
    let job = NewJob::new("charge-subscription")
        .queue("billing")
        .payload(&charge)
        // What makes the work unique, and nothing else: no time, no random number, no request id.
        .idempotency_key(format!("charge:{}:{}", charge.subscription_id, charge.period));
    let job = halyard.jobs().create(job).await?;
    let body = json!({"id": job.id, "replayed": job.replayed});
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

#[derive(Serialize)]
struct Progress {
    id: String,
    state: String,
    result: Option<Box<RawValue>>,
}

/// How far it is.
async fn get_charge(
    State(halyard): State<Halyard>,
    Path(id): Path<String>,
) -> Result<Json<Progress>, Refusal> {
    let job = halyard.jobs().get(&id).await?;
    let state = job.state.to_string();
    Ok(Json(Progress { id: job.id, state, result: job.result }))
}

/// An error of Halyard's, on its way to the caller.
struct Refusal(Error);

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self.0 {
            Error::IdempotencyConflict(conflict) => {
                let body = json!({
                    "error": "charged with other values",
                    "id": conflict.existing_job_id,
                    "changed": conflict.changed,
                });
                (StatusCode::CONFLICT, Json(body)).into_response()
            }
            error if matches!(error, Error::Connection(_)) || error.status() == Some(503) => {
                let body = Json(json!({"error": "come again in a moment"}));
                (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "5")], body)
                    .into_response()
            }
            error if error.code() == Some("job_not_found") => {
                (StatusCode::NOT_FOUND, Json(json!({"error": "no such charge"}))).into_response()
            }
            error => {
                eprintln!("{error}");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

#[derive(Serialize)]
struct Receipt {
    charge: String,
}

async fn charge_subscription(job: Job, charge: Charge) -> HandlerResult<Receipt> {
    // The same key in every attempt: a retry gets the original charge back.
    let charge = pay(&charge, job.id()).await?;
    Ok(Receipt { charge })
}

/// Stands for the call to a payment provider.
async fn pay(charge: &Charge, idempotency_key: &str) -> HandlerResult<String> {
    println!("charging {}: {}", charge.subscription_id, charge.amount);
    Ok(format!("ch_{idempotency_key}"))
}

/// Whether it is a month such as `2026-11`.
fn is_period(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00"
}
