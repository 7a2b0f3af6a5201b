//! `GET /docs/errors`: the page that the `type` of every refusal names, as it is in the repository.
//!
//! Plain text and not `text/markdown`: that is what every browser shows instead of saving it. The
//! fragment of a `type` (`#lease_lost`) is the anchor of the code's heading wherever the page is
//! rendered.

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;

/// The page, in Markdown.
pub const ERRORS: &str = include_str!("../../../../docs/errors.md");

/// Every error code: why, and what to do. Markdown, as plain text.
#[utoipa::path(
    get,
    path = "/docs/errors",
    tag = "server",
    responses((status = 200, body = String, content_type = "text/plain",
        description = "The page."))
)]
pub async fn errors(_app: &App, _call: &Call) -> Result<Answer, Refused> {
    Ok(Answer::text("text/plain; charset=utf-8", ERRORS))
}
