//! `POST /v1/jobs/finish`.

use halyard_api::jobs::finish::{self, Finish, FinishAnswer};

use crate::engine::chance;
use crate::http::App;
use crate::http::answer::Answer;
use crate::http::call::Call;
use crate::http::convert;
use crate::http::refused::Refused;

/// Report what became of starts, each judged by itself.
#[utoipa::path(
    post,
    path = "/v1/jobs/finish",
    tag = "workers",
    request_body = Finish,
    responses((status = 200, body = FinishAnswer, description = "A result for each report."))
)]
pub async fn finish(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let (outcomes, ids) = convert::work::finish(finish::read(&call.body()?)?)?;
    let results = app.engine.store.finish(outcomes, chance::seed()).await?;
    Ok(Answer::ok(&convert::work::finished(results, ids)))
}
