//! The one way in: every request passes here, once, and leaves with its id.
//!
//! In this order: the id; the route (404, 405); host, origin and key (400, 421, 403, 401);
//! read-only and draining (403, 503); the body (413, 415), and draining once more, as a body may
//! take its time; the endpoint.

use std::sync::Arc;

use halyard_api::problem::Code;
use http::request::Parts;
use http::{Request, Response};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::access::Access;
use super::answer::{Answer, Body};
use super::body::{self, ReadBody, Unread};
use super::call::Call;
use super::connection::Link;
use super::refused::Refused;
use super::request_id::RequestId;
use super::routes::{Found, Route};
use super::{App, dashboard, routes};
use crate::access::keyring::Caller;

/// Nobody is there to be answered: the connection is closed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the client stopped sending its request")]
pub struct Gone;

/// Answers one request.
///
/// # Errors
/// [`Gone`], which closes the connection.
pub async fn serve(
    app: Arc<App>,
    link: Link,
    request: Request<Incoming>,
) -> Result<Response<Body>, Gone> {
    let started = Instant::now();
    link.begin_call();
    let id = RequestId::make(app.engine.store.now(), rand::random());
    let (parts, body) = request.into_parts();
    let found = app.routes.find(&parts.method, parts.uri.path());
    let (index, answer) = match found {
        Found::Route { index, name } => {
            let route = routes::route(index);
            let link = link.clone();
            let body_read = ReadBody::default();
            let call = Call { id, parts, name, body: body_read, link, caller: None };
            (Some(index), answer(&app, route, call, body).await?)
        }
        Found::Nothing => {
            body::discard(body).await;
            (None, nothing(&app, &parts).await.map_err(|refused| (refused, None)))
        }
        Found::OtherMethods(allow) => {
            let detail = format!("{} is not among the methods of this address", parts.method);
            body::discard(body).await;
            (None, Err((Refused::new(Code::MethodNotAllowed, detail), Some(allow))))
        }
    };
    let answer = answer.unwrap_or_else(|(refused, allow)| {
        log(&refused, index, id);
        Answer::refusal(refused, id, allow.as_deref())
    });
    link.end_call();
    app.metrics.record(index, answer.status(), started.elapsed());
    Ok(answer.into_response(id))
}

type Refusal = (Refused, Option<String>);

/// What is said of an address that has nothing: to a person by the page, which then obeys the rules
/// of a page.
async fn nothing(app: &App, parts: &Parts) -> Result<Answer, Refused> {
    let nothing = || Refused::nothing_at(parts.uri.path());
    if !dashboard::is_wanted_at(parts) {
        return Err(nothing());
    }
    app.rules.door.admit(&app.engine, parts, Access::Page).await?;
    dashboard::nowhere().ok_or_else(nothing)
}

async fn answer(
    app: &App,
    route: &Route,
    mut call: Call,
    body: Incoming,
) -> Result<Result<Answer, Refusal>, Gone> {
    match let_in(app, route, &call).await {
        Ok(caller) => call.caller = caller,
        Err(refused) => {
            body::discard(body).await;
            return Ok(Err((refused, None)));
        }
    }
    call.link.begin_body();
    let read = body::read_body(&call.parts.headers, body, route.takes, &app.room).await;
    call.link.begin_call();
    match read {
        Ok(body) => call.body = body,
        Err(Unread::Refused(refused)) => return Ok(Err((refused, None))),
        Err(Unread::Stalled) => return Err(Gone),
    }
    if let Err(refused) = check_draining(app, route) {
        return Ok(Err((refused, None)));
    }
    Ok((route.call)(app, &call).await.map_err(|refused| (refused, None)))
}

async fn let_in(app: &App, route: &Route, call: &Call) -> Result<Option<Caller>, Refused> {
    let caller = app.rules.door.admit(&app.engine, &call.parts, route.access).await?;
    if app.rules.read_only && route.changes() {
        return Err(Refused::new(
            Code::ReadOnly,
            "this server was started with --read-only and changes nothing",
        ));
    }
    check_draining(app, route)?;
    Ok(caller)
}

fn check_draining(app: &App, route: &Route) -> Result<(), Refused> {
    if !route.hands_out || !app.engine.is_draining() {
        return Ok(());
    }
    Err(Refused::new(
        Code::Draining,
        "this server is shutting down and takes no new work; send the call to its successor",
    ))
}

/// Tells a refusal's request id in the log; `route` is unknown for a request that was not read.
pub(super) fn log(refused: &Refused, route: Option<usize>, id: RequestId) {
    let problem = &refused.0;
    let path = route.map_or("", |index| routes::route(index).path);
    let code = problem.code.as_str();
    // What the storage refuses is told of as a whole.
    if problem.status >= 500 && problem.code != Code::StorageUnavailable {
        tracing::warn!(request_id = %id, path, code, "a call failed");
    } else {
        tracing::debug!(request_id = %id, path, code, "a call was refused");
    }
}
