//! What a call is answered with.
//!
//! An [`Answer`] is what an endpoint gives; [`Answer::into_response`] makes it HTTP. Data is never
//! kept by caches (`no-store`) and never taken for something else (`nosniff`).

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use halyard_api::headers;
use halyard_api::problem::{Code, PROBLEM_MEDIA_TYPE, Problem};
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;

use super::connection::Link;
use super::events::EventBody;
use super::json;
use super::refused::Refused;
use super::request_id::RequestId;
use crate::engine::claims::Leased;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROBLEM: HeaderValue = HeaderValue::from_static(PROBLEM_MEDIA_TYPE);
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const REQUEST_ID: HeaderName = HeaderName::from_static(headers::REQUEST_ID);
const REPLAYED: HeaderName = HeaderName::from_static(headers::IDEMPOTENT_REPLAYED);

/// Seconds after which a refused client may come back.
const RETRY_AFTER_S: HeaderValue = HeaderValue::from_static("1");

/// What an endpoint answers.
#[derive(Debug)]
pub struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

impl Answer {
    /// A value as JSON.
    ///
    /// # Panics
    /// When the value cannot be written as JSON, which no wire type is capable of.
    pub fn json<T: Serialize>(status: StatusCode, value: &T) -> Self {
        let mut bytes = Vec::with_capacity(1024);
        if let Err(error) = json::write(value, &mut bytes) {
            unreachable!("a wire type could not be written: {error}");
        }
        Self::whole(status, JSON, bytes.into())
    }

    /// 200 and a value as JSON.
    pub fn ok<T: Serialize>(value: &T) -> Self {
        Self::json(StatusCode::OK, value)
    }

    /// 204.
    pub fn nothing() -> Self {
        Self { status: StatusCode::NO_CONTENT, headers: HeaderMap::new(), body: Body::Empty }
    }

    /// 304: what the client has is still so.
    pub fn not_modified() -> Self {
        Self { status: StatusCode::NOT_MODIFIED, headers: HeaderMap::new(), body: Body::Empty }
    }

    /// 200 and a text of this media type.
    pub fn text(media_type: &'static str, text: impl Into<Bytes>) -> Self {
        Self::whole(StatusCode::OK, HeaderValue::from_static(media_type), text.into())
    }

    /// 200 and events as they come.
    pub fn events(events: EventBody) -> Self {
        let media_type = HeaderValue::from_static("text/event-stream");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type)]);
        Self { status: StatusCode::OK, headers, body: Body::Events(Box::new(events)) }
    }

    fn whole(status: StatusCode, media_type: HeaderValue, bytes: Bytes) -> Self {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, media_type);
        Self { status, headers, body: Body::Whole(Some(bytes), None) }
    }

    /// Adds where the job is.
    #[must_use]
    pub fn at_job(mut self, id: &str) -> Self {
        if let Ok(location) = HeaderValue::try_from(["/v1/jobs/", id].concat()) {
            self.headers.insert(LOCATION, location);
        }
        self
    }

    /// Adds whether an earlier call had done it.
    #[must_use]
    pub fn replayed(mut self, replayed: bool) -> Self {
        let value = HeaderValue::from_static(if replayed { "true" } else { "false" });
        self.headers.insert(REPLAYED, value);
        self
    }

    /// Another status than its kind has.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Adds any header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The leases in this answer count as handed over once its bytes went to the client.
    #[must_use]
    pub fn handing_over(mut self, leased: Leased, link: &Link) -> Self {
        if let Body::Whole(_, pending) = &mut self.body {
            *pending = Some((leased, link.clone()));
        }
        self
    }

    /// As HTTP. Everything but a page is data.
    pub fn into_response(self, id: RequestId) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        let headers = response.headers_mut();
        headers.insert(REQUEST_ID, id.header());
        headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        response
    }

    /// A refusal; `allow` are the methods that a 405 names.
    pub fn refusal(refused: Refused, id: RequestId, allow: Option<&str>) -> Self {
        let Refused(mut problem) = refused;
        id.as_str().clone_into(&mut problem.request_id);
        let mut answer = Self::problem(&problem);
        let headers = &mut answer.headers;
        if let Some(allow) = allow.and_then(|allow| HeaderValue::from_str(allow).ok()) {
            headers.insert(ALLOW, allow);
        }
        match problem.status {
            // Who sends such a head or body may mean another end of it than this server does: what
            // comes behind it on the connection is not read as a request.
            400 if is_doubtful(&problem) => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            401 => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            503 => {
                headers.insert(RETRY_AFTER, RETRY_AFTER_S);
            }
            _ => {}
        }
        answer
    }

    fn problem(problem: &Problem) -> Self {
        let status = StatusCode::from_u16(problem.status);
        let mut answer = Self::json(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), problem);
        answer.headers.insert(CONTENT_TYPE, PROBLEM);
        answer
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

/// A body on its way out.
pub enum Body {
    /// None.
    Empty,
    /// All of it, and the leases that it hands over.
    Whole(Option<Bytes>, Option<(Leased, Link)>),
    /// Events as they come.
    Events(Box<EventBody>),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::Whole(..) => "Whole",
            Self::Events(_) => "Events",
        })
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Empty => Poll::Ready(None),
            Self::Whole(bytes, pending) => {
                if let Some((leased, link)) = pending.take() {
                    link.hand_over(leased);
                }
                Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes))))
            }
            Self::Events(events) => {
                events.poll_next(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Empty | Self::Whole(None, _))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Empty => SizeHint::with_exact(0),
            Self::Whole(bytes, _) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// Says whether client and server may disagree about where the request ends.
fn is_doubtful(problem: &Problem) -> bool {
    problem.code == Code::MalformedJson
        || problem.errors.iter().any(|error| error.pointer == "Host")
}
