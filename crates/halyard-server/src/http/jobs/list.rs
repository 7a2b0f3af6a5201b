//! `GET /v1/jobs`.

use halyard_api::jobs::list::{self, ListAnswer, ListJobs};

use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// A page of jobs, newest first.
#[utoipa::path(
    get,
    path = "/v1/jobs",
    tag = "producers",
    params(ListJobs),
    responses((status = 200, body = ListAnswer, description = "A page of jobs."))
)]
pub async fn list(app: &App, call: &Call) -> Result<Answer, Refused> {
    let query = list::read_query(call.query())?;
    let page = app.engine.store.list(convert::look::filter(&query)?).await?;
    Ok(Answer::ok(&convert::look::page(&page, &query)))
}
