//! A call as an endpoint sees it: routed, let in, its body read.

use halyard_api::problem::Code;
use halyard_api::{Body, headers, query};
use halyard_store::access::By;
use http::request::Parts;

use super::App;
use super::body::ReadBody;
use super::connection::Link;
use super::refused::Refused;
use super::request_id::RequestId;
use crate::access::Role;
use crate::access::keyring::Caller;
use crate::engine::Engine;

/// A call.
#[derive(Debug)]
pub struct Call {
    /// Its id.
    pub id: RequestId,
    /// Its head.
    pub parts: Parts,
    /// What stands in the path for the pattern's parameter, decoded.
    pub name: String,
    /// Its body.
    pub body: ReadBody,
    /// Where leases wait until the answer is written.
    pub link: Link,
    /// Who makes it, where that is asked.
    pub caller: Option<Caller>,
}

impl Call {
    /// On which operator's behalf it changes something, for the audit log. A program with a key of
    /// a producer or worker is none: what it cancels all day would push out everybody's lines.
    pub fn by(&self) -> Option<By> {
        let operates = |caller: &&Caller| caller.role == Role::Admin || !caller.by_key;
        let caller = self.caller.as_ref().filter(operates)?;
        let request_id = self.id.as_str().into();
        Some(By { actor: caller.actor(), key_id: caller.key_id, request_id })
    }

    /// Does this for as long as who calls would be let in again: no wait outlasts its key.
    ///
    /// # Errors
    /// The key was revoked, or its browser signed out; what was under way is dropped.
    pub async fn while_let_in<T>(
        &self,
        app: &App,
        work: impl Future<Output = T>,
    ) -> Result<T, Refused> {
        tokio::select! {
            biased;
            () = gone(&app.engine, self.caller.as_ref()) => Err(Refused::new(
                Code::Unauthenticated,
                "the key of this call was revoked, or its browser signed out, while it waited",
            )),
            done = work => Ok(done),
        }
    }

    /// What follows the `?`.
    pub fn query(&self) -> Option<&str> {
        self.parts.uri.query()
    }

    /// A call that has no query parameters.
    ///
    /// # Errors
    /// Each one that was sent.
    pub fn no_query(&self) -> Result<(), Refused> {
        Ok(query::read_none(self.query())?)
    }

    /// The body, which must be there.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn body(&self) -> Result<Body<'_>, Refused> {
        Ok(Body::parse(&self.body.bytes)?)
    }

    /// The body, which may be left out.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn optional_body(&self) -> Result<Body<'_>, Refused> {
        Ok(Body::parse_optional(&self.body.bytes)?)
    }

    /// The header `Idempotency-Key`.
    ///
    /// # Errors
    /// It breaks a rule.
    pub fn idempotency_key(&self) -> Result<Option<String>, Refused> {
        let values = self.parts.headers.get_all(headers::IDEMPOTENCY_KEY);
        let key = headers::idempotency_key(values.iter().map(|value| value.as_bytes()))?;
        Ok(key.map(std::borrow::Cow::into_owned))
    }

    /// The call for as far as it says what is done to what: method and path.
    pub fn scope(&self) -> String {
        format!("{} {}", self.parts.method, self.parts.uri.path())
    }
}

/// Ends when who calls would be let in no more.
pub async fn gone(engine: &Engine, caller: Option<&Caller>) {
    match caller {
        Some(caller) => engine.keyring.gone(&*engine.store, caller).await,
        None => std::future::pending().await,
    }
}
