//! `GET /v1/jobs/{id}`.

use halyard_api::job::JobDetail;
use halyard_api::jobs::get::{self, GetQuery};

use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Everything about one job; `wait_ms` waits for the end of the life seen at the start.
#[utoipa::path(
    get,
    path = "/v1/jobs/{id}",
    tag = "producers",
    params(("id" = String, Path, description = "The job."), GetQuery),
    responses((status = 200, body = JobDetail, description = "The job as it is."))
)]
pub async fn get(app: &App, call: &Call) -> Result<Answer, Refused> {
    let query = get::read_query(call.query())?;
    let id = convert::job_id(&call.name)?;
    let read = app.engine.read(id, convert::wait(query.wait_ms));
    let detail = call.while_let_in(app, read).await??;
    let detail = detail.ok_or_else(|| Refused::no_such_job(&call.name))?;
    Ok(Answer::ok(&convert::job::detail(&detail)))
}
