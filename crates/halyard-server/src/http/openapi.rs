//! `GET /openapi.json`: the API described, from the code that answers it.
//!
//! Each endpoint documents what it answers when all is well; its refusals come from the route
//! table, so that a code which a route may give is documented without anybody thinking of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bytes::Bytes;
use halyard_api::problem::{PROBLEM_MEDIA_TYPE, Problem};
use halyard_api::state::{Order, State};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Content, Header, ObjectBuilder, OpenApi as Document, PathItem, Ref, RefOr, Required, Response,
    ResponseBuilder, SecurityRequirement, Type,
};
use utoipa::{OpenApi, ToSchema};

use super::access::{Access, SESSION_COOKIE};
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;
use super::routes::{ROUTES, Route};
use super::takes::Takes;
use super::{
    App, api_keys, audit, dashboard, docs, events, health, jobs, keys, metrics_page, queues,
    session, stats, tasks, version, workers,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Halyard",
        description = "Background jobs: create, claim, finish, look, operate.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    paths(
        jobs::create::create, jobs::list::list, jobs::batch::batch, jobs::bulk::bulk,
        jobs::claim::claim, jobs::heartbeat::heartbeat, jobs::finish::finish, jobs::get::get,
        jobs::delete::delete, jobs::retry::retry, jobs::cancel::cancel, jobs::run_now::run_now,
        jobs::run_as_new::run_as_new, jobs::checkpoints::checkpoints,
        keys::forget, keys::find, queues::list, queues::get, queues::pause, queues::resume,
        api_keys::list, api_keys::create, api_keys::revoke,
        session::get, session::sign_in, session::sign_out, audit::list,
        workers::list, tasks::list, stats::get, events::listen, metrics_page::get,
        health::alive, health::ready, version::get, get, docs::errors,
        dashboard::page, dashboard::asset, dashboard::icon
    ),
    components(schemas(Problem, Order, State)),
    tags(
        (name = "producers", description = "Create jobs, and act on them."),
        (name = "workers", description = "Claim jobs and report on them."),
        (name = "operators", description = "Look, and operate."),
        (name = "server", description = "The server itself."),
    )
)]
struct Described;

/// The whole description.
#[must_use]
pub fn document() -> Document {
    let mut document = Described::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("key", SecurityScheme::Http(bearer));
    let told = "Where the address has a port, the name ends in it: `halyard_session_7373`.";
    let cookie = ApiKey::Cookie(ApiKeyValue::with_description(SESSION_COOKIE, told));
    components.add_security_scheme("session", SecurityScheme::ApiKey(cookie));
    for route in ROUTES {
        if let Some(item) = document.paths.paths.get_mut(route.path) {
            describe(route, item);
        }
    }
    document
}

/// The description as it is committed and served: indented, with a line end.
///
/// # Panics
/// When it cannot be written as JSON, which it always can.
#[must_use]
pub fn text() -> String {
    match document().to_pretty_json() {
        Ok(text) => text + "\n",
        Err(error) => unreachable!("the description could not be written: {error}"),
    }
}

/// The API described, as OpenAPI 3.1.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "server",
    responses((status = 200, body = serde_json::Value, description = "This document."))
)]
pub async fn get(_app: &App, call: &Call) -> Result<Answer, Refused> {
    static TEXT: LazyLock<Bytes> = LazyLock::new(|| text().into());
    call.no_query()?;
    Ok(Answer::text("application/json", TEXT.clone()))
}

/// Adds to a route's operation what the table knows: its refusals, and whether it needs a key.
fn describe(route: &Route, item: &mut PathItem) {
    let operation = match route.method.as_str() {
        "GET" => item.get.as_mut(),
        "POST" => item.post.as_mut(),
        "DELETE" => item.delete.as_mut(),
        method => unreachable!("no route has the method {method}"),
    };
    let Some(operation) = operation else { return };
    operation.operation_id = Some(operation_id(route.name));
    if let Access::Role(_) = route.access {
        let one = |name| SecurityRequirement::new(name, [""; 0]);
        operation.security = Some(vec![one("key"), one("session")]);
    }
    if let (Takes::Optional(_), Some(RefOr::T(body))) =
        (route.takes, operation.request_body.as_mut())
    {
        body.required = Some(Required::False);
    }
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response {
            add_request_id(response);
        }
    }
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in route.codes() {
        by_status.entry(code.status()).or_default().push(code.as_str());
    }
    for (status, codes) in by_status {
        let mut refusal = refusal(&codes);
        if status == 503 {
            refusal.headers.insert("Retry-After".to_owned(), text_header());
        }
        operation.responses.responses.insert(status.to_string(), RefOr::T(refusal));
    }
}

/// `jobs_list` for `jobs::list::list`: no two operations have one name.
fn operation_id(name: &str) -> String {
    let mut words: Vec<&str> = name.split("::").map(str::trim).collect();
    words.dedup();
    words.join("_")
}

fn refusal(codes: &[&str]) -> Response {
    let schema = RefOr::Ref(Ref::from_schema_name(Problem::name()));
    let words: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    let mut response = ResponseBuilder::new()
        .description(words.join(", "))
        .content(PROBLEM_MEDIA_TYPE, Content::new(Some(schema)))
        .build();
    add_request_id(&mut response);
    response
}

fn add_request_id(response: &mut Response) {
    response.headers.insert("X-Request-Id".to_owned(), text_header());
}

fn text_header() -> RefOr<Header> {
    RefOr::T(Header::new(ObjectBuilder::new().schema_type(Type::String)))
}
