//! `GET /v1/stats`.

use halyard_api::stats::Stats;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::Refused;

/// Counters of the whole store.
#[utoipa::path(
    get,
    path = "/v1/stats",
    tag = "operators",
    responses((status = 200, body = Stats, description = "The counters."))
)]
pub async fn get(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    Ok(Answer::ok(&convert::look::stats(&app.engine.store.stats().await?)))
}
