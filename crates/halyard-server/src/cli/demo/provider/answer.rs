//! Answers: an object or Stripe's error object, with the status that goes with it.
//!
//! Source of the shape: <https://docs.stripe.com/api/errors>.

use http::StatusCode;
use serde_json::{Map, Value, json};

/// Where each error code is explained; part of Stripe's error object.
const DOCUMENTATION: &str = "https://stripe.com/docs/error-codes";

/// One answer, before it has headers. As an `Err` it is always an error object.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) retry_after_s: Option<u32>,
    /// The id of the call that this one repeats.
    pub(super) replay_of: Option<String>,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Object(Value),
    Error(Map<String, Value>),
}

impl Answer {
    pub(super) fn object(object: Value) -> Self {
        Self {
            status: StatusCode::OK,
            retry_after_s: None,
            replay_of: None,
            body: Body::Object(object),
        }
    }

    /// An error object of the given `type`.
    pub(super) fn error(status: StatusCode, kind: &str, message: impl Into<String>) -> Self {
        let mut members = Map::new();
        members.insert("type".to_owned(), kind.into());
        members.insert("message".to_owned(), message.into().into());
        Self { status, retry_after_s: None, replay_of: None, body: Body::Error(members) }
    }

    /// A call that the endpoint refuses to run: 400 `invalid_request_error`.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::error(StatusCode::BAD_REQUEST, "invalid_request_error", message)
    }

    /// The object that a parameter names does not exist.
    pub(super) fn missing(noun: &str, id: &str, param: &str) -> Self {
        Self::invalid(format!("No such {noun}: '{id}'")).code("resource_missing").param(param)
    }

    pub(super) fn internal() -> Self {
        let message = "An unknown error occurred";
        Self::error(StatusCode::INTERNAL_SERVER_ERROR, "api_error", message)
    }

    pub(super) fn rate_limited(retry_after_s: u32) -> Self {
        let message = "Request rate limit exceeded. You can learn more about rate limits here \
                       https://stripe.com/docs/rate-limits.";
        let kind = "invalid_request_error";
        let mut answer = Self::error(StatusCode::TOO_MANY_REQUESTS, kind, message);
        answer.retry_after_s = Some(retry_after_s);
        answer.code("rate_limit")
    }

    /// Names the error and links its documentation.
    pub(super) fn code(self, code: &str) -> Self {
        let page = format!("{DOCUMENTATION}/{}", code.replace('_', "-"));
        self.with("code", code).with("doc_url", page)
    }

    /// Names the parameter that is at fault.
    pub(super) fn param(self, param: &str) -> Self {
        self.with("param", param)
    }

    pub(super) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Adds a member to an error object; an object's answer is left as it is.
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Body::Error(members) = &mut self.body {
            members.insert(name.to_owned(), value.into());
        }
        self
    }

    pub(super) fn json(&self) -> Value {
        match &self.body {
            Body::Object(object) => object.clone(),
            Body::Error(members) => json!({ "error": members }),
        }
    }

    /// The error object alone, as a payment intent keeps its last one.
    pub(super) fn error_object(&self) -> Value {
        match &self.body {
            Body::Object(_) => Value::Null,
            Body::Error(members) => Value::Object(members.clone()),
        }
    }
}
