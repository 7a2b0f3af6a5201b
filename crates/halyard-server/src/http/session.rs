//! `GET`, `POST` and `DELETE /v1/session`: a key becomes a cookie for the dashboard.
//!
//! The cookie is out of reach of scripts (`HttpOnly`), never sent from other sites
//! (`SameSite=Strict`), and dies after twelve hours, at the sign-out, or with its key.

use std::time::Duration;

use halyard_api::problem::Code;
use halyard_api::session::{self, Session, StartSession};
use halyard_store::access::{By, SignIn};
use http::HeaderValue;
use http::header::{ORIGIN, RETRY_AFTER, SET_COOKIE};
use tokio::time::Instant;

use super::App;
use super::access::{session_cookie, session_cookie_name};
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::Refused;
use crate::access::SESSION_MS;
use crate::access::attempts::Against;
use crate::access::keyring::Proof;
use crate::access::secret::{KeyHash, Secret, key_id};

/// Who calls, and what they may do.
#[utoipa::path(
    get,
    path = "/v1/session",
    tag = "operators",
    responses((status = 200, body = Session, description = "Who calls."))
)]
pub async fn get(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let caller = call.caller.as_ref().ok_or_else(wrong_key)?;
    Ok(Answer::ok(&Session {
        role: convert::access::role(caller.role),
        name: caller.name.as_deref().map(ToOwned::to_owned),
        read_only: app.rules.read_only,
    }))
}

/// Sign in: the answer sets a cookie that stands for the key in this browser.
#[utoipa::path(
    post,
    path = "/v1/session",
    tag = "operators",
    request_body = StartSession,
    responses((status = 204, description = "Signed in.", headers(("Set-Cookie" = String))))
)]
pub async fn sign_in(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let body = call.body()?;
    let key = session::read(&body)?;
    let engine = &app.engine;
    let against = against(app, call, &key);
    let wait = against.and_then(|against| app.attempts.wait(against, Instant::now()));
    if let Some(wait) = wait {
        return Ok(come_back(call, wait));
    }
    let proof = Proof::Key(key.as_bytes());
    let Some(caller) = engine.keyring.known_by(&*engine.store, proof).await else {
        against.inspect(|against| app.attempts.count(*against, Instant::now()));
        return Err(wrong_key());
    };
    let secret = Secret::make();
    let expires_at = app.now().saturating_add(SESSION_MS);
    let key_hash = KeyHash::of(key.as_bytes()).0;
    let sign_in = SignIn { hash: secret.hash(), key_hash, expires_at };
    let request_id = call.id.as_str().into();
    let by = By { actor: caller.actor(), key_id: caller.key_id, request_id };
    engine.store.sign_in(sign_in, by).await?;
    engine.keyring.load(&*engine.store).await?;
    Ok(with_cookie(call, Answer::nothing(), secret.text(), SESSION_MS / 1_000))
}

/// Sign out: the cookie stands for nothing more.
#[utoipa::path(
    delete,
    path = "/v1/session",
    tag = "operators",
    responses((status = 204, description = "Signed out.", headers(("Set-Cookie" = String))))
)]
pub async fn sign_out(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let engine = &app.engine;
    if let Some(secret) = session_cookie(&call.parts.headers) {
        engine.store.sign_out(KeyHash::of(secret).0).await?;
        engine.keyring.load(&*engine.store).await?;
    }
    Ok(with_cookie(call, Answer::nothing(), "", 0))
}

/// A try with a key's name counts against that key, any other against where it came from. Behind a
/// proxy everybody comes from one address: a stranger's guesses keep nobody out who has a key.
fn against(app: &App, call: &Call, key: &str) -> Option<Against> {
    let known = key_id(key.as_bytes()).filter(|id| app.engine.keyring.knows(*id));
    let place = || call.link.peer().map(Against::Address);
    known.map(Against::Key).or_else(place)
}

fn with_cookie(call: &Call, answer: Answer, secret: &str, seconds: i64) -> Answer {
    // A browser says where it is; behind a proxy that may be a place with TLS.
    let origin = call.parts.headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
    let secure = if origin.is_some_and(|it| it.starts_with("https://")) { "; Secure" } else { "" };
    let name = session_cookie_name(&call.parts.headers);
    let cookie =
        format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    match HeaderValue::try_from(cookie) {
        Ok(cookie) => answer.with(SET_COOKIE, cookie),
        Err(_) => unreachable!("a cookie is made of visible characters"),
    }
}

fn wrong_key() -> Refused {
    Refused::new(Code::Unauthenticated, "this server knows no such key; it may have been revoked")
}

fn come_back(call: &Call, wait: Duration) -> Answer {
    let seconds = wait.as_secs() + 1;
    let detail = format!("too many wrong keys were tried; try again in {seconds} seconds");
    Answer::refusal(Refused::new(Code::Unauthenticated, detail), call.id, None)
        .with(RETRY_AFTER, HeaderValue::from(seconds))
}
