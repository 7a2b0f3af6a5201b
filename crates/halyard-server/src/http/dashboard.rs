//! The dashboard: one page for every address that it knows, and the files that the page loads.
//!
//! They are in the binary, as `dashboard/` built them, or a page that says how to build them. A
//! page has no data in it: what it shows it asks the API for, with the key of who looks. It may
//! load only what this server serves, runs no script that stands in it, and is in no other page's
//! frame. A file's name changes with its content, so a browser keeps it for ever; the page itself
//! is asked for each time and answered by 304 while it is the same. A browser is shown the page at
//! every other address too, with 404: it says that there is nothing.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rust_embed::{Embed, EmbeddedFile};

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;

#[derive(Embed)]
#[folder = "$HALYARD_DASHBOARD"]
struct Files;

/// What a page may do: load from this server, and nothing that stands in the page itself.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; \
     require-trusted-types-for 'script'",
);
const HTML: &str = "text/html; charset=utf-8";
const NO_REFERRER: HeaderValue = HeaderValue::from_static("no-referrer");
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const ASK_FIRST: HeaderValue = HeaderValue::from_static("no-cache");
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");
const BY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");

/// The page, at every address that it knows.
#[utoipa::path(
    get,
    path = "/",
    tag = "server",
    responses((status = 200, body = String, content_type = "text/html", description = "A page."))
)]
pub async fn page(_app: &App, call: &Call) -> Result<Answer, Refused> {
    let file = file(call, "index.html")?;
    let tag = tag(&file);
    let page = match is_known(&call.parts.headers, &tag) {
        true => Answer::not_modified(),
        false => Answer::text(HTML, bytes(file)),
    };
    Ok(guarded(page).with(CACHE_CONTROL, ASK_FIRST).with(ETAG, tag))
}

/// Says whether a person asks, with a browser, for a page at an address that has none. A program
/// that asks for the same gets a problem.
pub fn is_wanted_at(request: &Parts) -> bool {
    let mut accepted = request.headers.get_all(ACCEPT).iter();
    matches!(request.method, Method::GET | Method::HEAD)
        && !request.uri.path().starts_with("/v1/")
        && accepted.any(|types| types.to_str().is_ok_and(|types| types.contains("text/html")))
}

/// The page at such an address, which says that there is nothing.
pub fn nowhere() -> Option<Answer> {
    let file = Files::get("index.html")?;
    Some(guarded(Answer::text(HTML, bytes(file)).with_status(StatusCode::NOT_FOUND)))
}

fn guarded(page: Answer) -> Answer {
    page.with(CONTENT_SECURITY_POLICY, POLICY)
        .with(REFERRER_POLICY, NO_REFERRER)
        .with(OPENER, SAME_ORIGIN)
}

/// The sign of the page.
#[utoipa::path(
    get,
    path = "/icon.svg",
    tag = "server",
    responses((status = 200, body = String, content_type = "image/svg+xml",
        description = "The sign of the page."))
)]
pub async fn icon(_app: &App, call: &Call) -> Result<Answer, Refused> {
    let icon = Answer::text("image/svg+xml", bytes(file(call, "icon.svg")?));
    // Opened by itself it is a document, which runs nothing.
    Ok(icon.with(CONTENT_SECURITY_POLICY, POLICY).with(CACHE_CONTROL, ASK_FIRST))
}

/// A file that the page loads.
#[utoipa::path(
    get,
    path = "/assets/{name}",
    tag = "server",
    params(("name" = String, Path, description = "Its name.")),
    responses((status = 200, body = String, content_type = "text/javascript",
        description = "A script or a style."))
)]
pub async fn asset(_app: &App, call: &Call) -> Result<Answer, Refused> {
    let name = &call.name;
    let media_type = match name.rsplit_once('.') {
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        _ => return Err(Refused::nothing_at(call.parts.uri.path())),
    };
    let path = format!("assets/{name}");
    let whole = file(call, &path)?;
    let answer = match Files::get(&format!("{path}.gz")).filter(|_| takes_gzip(call)) {
        Some(small) => Answer::text(media_type, bytes(small)).with(CONTENT_ENCODING, GZIP),
        None => Answer::text(media_type, bytes(whole)),
    };
    Ok(answer.with(CACHE_CONTROL, FOR_EVER).with(VARY, BY_ENCODING))
}

fn file(call: &Call, path: &str) -> Result<EmbeddedFile, Refused> {
    Files::get(path).ok_or_else(|| Refused::nothing_at(call.parts.uri.path()))
}

/// A file's content, which lies in the binary and is not copied; a debug build reads it.
fn bytes(file: EmbeddedFile) -> Bytes {
    match file.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    }
}

/// A strong validator (RFC 9110, 8.8.3): the beginning of the content's SHA-256.
fn tag(file: &EmbeddedFile) -> HeaderValue {
    use std::fmt::Write as _;
    let mut tag = String::from("\"");
    for byte in file.metadata.sha256_hash().into_iter().take(12) {
        let _infallible = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    HeaderValue::try_from(tag).unwrap_or(ASK_FIRST)
}

/// Says whether the client has what bears this tag: compared weakly (RFC 9110, 13.1.2), since a
/// proxy that compresses a page weakens its tag.
fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let tags = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut known = tags.flat_map(|tags| tags.split(',')).map(str::trim);
    known.any(|known| known.strip_prefix("W/").unwrap_or(known).as_bytes() == tag.as_bytes())
}

/// Says whether the client takes gzip: named, and not with a weight of zero.
fn takes_gzip(call: &Call) -> bool {
    let mut values = call.parts.headers.get_all(ACCEPT_ENCODING).iter();
    values.any(|value| {
        let mut codings = value.to_str().unwrap_or_default().split(',');
        codings.any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"))
                && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        })
    })
}
