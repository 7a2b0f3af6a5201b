//! `GET /version`.

use halyard_api::version::{API_VERSION, Version};

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;

/// What answers here.
#[utoipa::path(
    get,
    path = "/version",
    tag = "server",
    responses((status = 200, body = Version, description = "Name and version."))
)]
pub async fn get(_app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    Ok(Answer::ok(&Version {
        name: "halyard".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        api: API_VERSION.to_owned(),
    }))
}
