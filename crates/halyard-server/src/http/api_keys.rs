//! `GET` and `POST /v1/api-keys`, `DELETE /v1/api-keys/{id}`.

use halyard_api::api_keys::{self, ApiKey, ApiKeysAnswer, CreateApiKey, CreatedApiKey};
use halyard_api::problem::Code;
use halyard_store::access::Revoked;
use http::StatusCode;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::refused::Refused;
use crate::access::{Role, check_room, secret};

/// Every key, without its text.
#[utoipa::path(
    get,
    path = "/v1/api-keys",
    tag = "operators",
    responses((status = 200, body = ApiKeysAnswer, description = "The keys, oldest first."))
)]
pub async fn list(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let access = app.engine.store.access().await?;
    let data: Vec<ApiKey> = access.keys.iter().map(convert::access::key).collect();
    Ok(Answer::ok(&ApiKeysAnswer { data }))
}

/// Make a key. Its text is in this answer and nowhere else.
#[utoipa::path(
    post,
    path = "/v1/api-keys",
    tag = "operators",
    request_body = CreateApiKey,
    responses((status = 201, body = CreatedApiKey, description = "The key."))
)]
pub async fn create(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let by = call.by().ok_or_else(unknown_caller)?;
    let (name, role) = convert::access::new_key(api_keys::read(&call.body()?)?)?;
    let engine = &app.engine;
    if engine.keyring.is_open() && role != Role::Admin {
        let rule = "role of the first key must be admin: without one nobody could make keys";
        return Err(Refused::field(Code::InvalidField, "/role", rule));
    }
    check_room(engine.keyring.count()).map_err(|rule| Refused::new(Code::InvalidField, rule))?;
    let (key, secret) = secret::make_key(&name, role, app.now());
    let answer = convert::access::created(&key, &secret);
    engine.store.create_api_key(key, by).await?;
    // It is made, and its text in no other answer. The loop loads what this could not.
    if let Err(error) = engine.keyring.load(&*engine.store).await {
        tracing::warn!(%error, "a new key is not known here yet");
    }
    Ok(Answer::json(StatusCode::CREATED, &answer))
}

/// Revoke a key: neither it nor a browser that signed in with it opens anything more.
#[utoipa::path(
    delete,
    path = "/v1/api-keys/{id}",
    tag = "operators",
    params(("id" = String, Path, description = "The key's id.")),
    responses((status = 204, description = "The key is gone."))
)]
pub async fn revoke(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let by = call.by().ok_or_else(unknown_caller)?;
    let engine = &app.engine;
    let id = convert::access::key_id(&call.name)?;
    let keep_an_admin = !engine.keyring.is_configured();
    let revoked = engine.store.revoke_api_key(id, keep_an_admin, by).await?;
    engine.keyring.load(&*engine.store).await?;
    match revoked {
        Revoked::Done(_) => Ok(Answer::nothing()),
        Revoked::Unknown => Err(convert::access::no_such_key(&call.name)),
        Revoked::LastAdmin => Err(Refused::new(
            Code::Forbidden,
            "this is the last key with the role admin, and without one nobody could make keys; \
             make another one first, or use `halyard keys revoke`",
        )),
    }
}

/// No route with a role lets somebody in who is not known.
fn unknown_caller() -> Refused {
    Refused::new(Code::Unauthenticated, "this call needs a key")
}
