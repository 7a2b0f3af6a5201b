//! The control endpoints, for tests and for the count at the end. They are **not Stripe's**, ask
//! for no key, and take and give JSON.
//!
//! | Endpoint | Does |
//! |---|---|
//! | `GET /test/summary` | counts calls, replays, refusals, charges by customer ([`Summary`]) |
//! | `GET /test/charges` | every charge, oldest first (a list of [`ChargeRow`]) |
//! | `PUT /test/customers/{id}` | takes a [`Behaviour`]; makes the customer if it does not exist |
//! | `POST /test/release` | ends the waits of the calls under way |
//! | `POST /test/clock` | takes `{"advance_ms": n}` and moves the provider's clock ahead |

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::behaviour::Behaviour;
use super::summary::{ChargeRow, Summary};
use super::wire::Shop;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    advance_ms: u64,
}

pub(super) fn router() -> Router<Arc<Shop>> {
    Router::new()
        .route("/test/summary", get(summary))
        .route("/test/charges", get(charges))
        .route("/test/customers/{id}", put(script))
        .route("/test/release", post(release))
        .route("/test/clock", post(advance))
}

async fn summary(State(shop): State<Arc<Shop>>) -> Json<Summary> {
    Json(shop.ledger().summary())
}

async fn charges(State(shop): State<Arc<Shop>>) -> Json<Vec<ChargeRow>> {
    Json(shop.ledger().charge_rows())
}

async fn script(
    State(shop): State<Arc<Shop>>,
    Path(id): Path<String>,
    Json(behaviour): Json<Behaviour>,
) -> Json<Value> {
    shop.ledger().script(&id, behaviour.clone(), shop.clock.now_ms());
    Json(json!({ "id": id, "behaviour": behaviour }))
}

async fn release(State(shop): State<Arc<Shop>>) -> StatusCode {
    shop.release();
    StatusCode::NO_CONTENT
}

async fn advance(State(shop): State<Arc<Shop>>, Json(advance): Json<Advance>) -> Json<Value> {
    shop.clock.advance(advance.advance_ms);
    Json(json!({ "now_ms": shop.clock.now_ms() }))
}
