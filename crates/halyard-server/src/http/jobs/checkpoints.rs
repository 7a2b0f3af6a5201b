//! `POST /v1/jobs/{id}/checkpoints`.

use halyard_api::jobs::checkpoints::{self, CheckpointAnswer, WriteCheckpoint};

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Save a checkpoint; the first write of a name wins.
#[utoipa::path(
    post,
    path = "/v1/jobs/{id}/checkpoints",
    tag = "workers",
    params(("id" = String, Path, description = "The job.")),
    request_body = WriteCheckpoint,
    responses(
        (status = 201, body = CheckpointAnswer, description = "It is saved."),
        (status = 200, body = CheckpointAnswer, description = "An equal one was saved before."),
    )
)]
pub async fn checkpoints(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let id = convert::job_id(&call.name)?;
    let write = convert::work::checkpoint(id, &checkpoints::read(&call.body()?)?)?;
    let written = app.engine.store.checkpoint(write, chance::seed()).await?;
    let (status, checkpoint) = convert::work::written(written, id)?;
    Ok(Answer::json(status, &checkpoint))
}
