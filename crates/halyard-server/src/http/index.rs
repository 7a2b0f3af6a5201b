//! `GET /`: what a browser finds here.

use http::HeaderValue;
use http::header::CONTENT_SECURITY_POLICY;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;

const PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Halyard</title>
<h1>Halyard</h1>
<p>This is a Halyard server. It has no dashboard built in yet.</p>
<ul>
<li><a href=\"/openapi.json\">/openapi.json</a> describes the HTTP API.</li>
<li><a href=\"/docs/errors\">/docs/errors</a> explains every error.</li>
<li><a href=\"/version\">/version</a> names the version.</li>
<li><a href=\"/readyz\">/readyz</a> says whether the server takes work.</li>
</ul>
</html>
";

/// A page that says what this is.
#[utoipa::path(
    get,
    path = "/",
    tag = "server",
    responses((status = 200, body = String, content_type = "text/html", description = "A page."))
)]
pub async fn get(_app: &App, _call: &Call) -> Result<Answer, Refused> {
    let policy = HeaderValue::from_static(
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    );
    let page = Answer::text("text/html; charset=utf-8", PAGE);
    Ok(page.with(CONTENT_SECURITY_POLICY, policy))
}
