//! `GET /v1/audit`.

use halyard_api::audit::{self, AuditAnswer, ListAudit};

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::Refused;

/// What operators did, newest first.
#[utoipa::path(
    get,
    path = "/v1/audit",
    tag = "operators",
    params(ListAudit),
    responses((status = 200, body = AuditAnswer, description = "A page of the audit log."))
)]
pub async fn list(app: &App, call: &Call) -> Result<Answer, Refused> {
    let sent = audit::read_query(call.query())?;
    let (before, limit) = convert::access::audit_place(&sent)?;
    let page = app.engine.store.audit(before, limit).await?;
    Ok(Answer::ok(&convert::access::audit_page(&page)))
}
