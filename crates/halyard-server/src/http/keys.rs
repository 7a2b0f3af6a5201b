//! `GET /v1/keys` and `DELETE /v1/jobs/{id}/idempotency-key`.

use halyard_api::keys::{self, FindKey, KeyHolder};
use halyard_api::problem::Code;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::{Refused, shown};

/// Who holds an idempotency key, and until when.
#[utoipa::path(
    get,
    path = "/v1/keys",
    tag = "operators",
    params(FindKey),
    responses((status = 200, body = KeyHolder, description = "The holder."))
)]
pub async fn find(app: &App, call: &Call) -> Result<Answer, Refused> {
    let FindKey { task, key } = keys::read_query(call.query())?;
    let holder = app.engine.store.holder(&task, &key).await?;
    let holder = holder.ok_or_else(|| {
        let (task, key) = (shown(&task), shown(&key));
        Refused::new(Code::NotFound, format!("no job of task {task} holds the key {key}"))
    })?;
    Ok(Answer::ok(&convert::look::holder(&holder, task, key)))
}

/// Free the key that a job, or what is left of it, holds.
#[utoipa::path(
    delete,
    path = "/v1/jobs/{id}/idempotency-key",
    tag = "operators",
    params(("id" = String, Path, description = "The job.")),
    responses((status = 204, description = "The key is free."))
)]
pub async fn forget(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let id = convert::job_id(&call.name)?;
    if app.engine.store.forget_key(id, call.by()).await? {
        Ok(Answer::nothing())
    } else {
        Err(Refused::no_such_job(&call.name))
    }
}
