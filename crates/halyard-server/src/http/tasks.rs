//! `GET /v1/tasks`.

use halyard_api::tasks::TasksAnswer;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::Refused;

/// The tasks that have jobs, and how many living workers handle each.
#[utoipa::path(
    get,
    path = "/v1/tasks",
    tag = "operators",
    responses((status = 200, body = TasksAnswer, description = "The tasks, by name."))
)]
pub async fn list(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let alive = app.alive();
    let tasks = app.engine.store.tasks().await?;
    let data = tasks.iter().map(|task| convert::look::task(task, &alive)).collect();
    Ok(Answer::ok(&TasksAnswer { data }))
}
