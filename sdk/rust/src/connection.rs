//! One server and the way to it: addresses, the key, keep-alive connections, repeats.
//!
//! [`Connection::send`] is the only place that sends producers' and operators' calls; a worker's
//! calls go through [`Connection::send_once`] as well, because the worker's loop decides itself
//! when to repeat.

use std::time::{Duration, Instant, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Url};
use serde::de::DeserializeOwned;

use crate::error::{ConnectionError, Error, InvalidValue};
use crate::{problem, redirect, retry};

/// How long to wait for a TCP connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// No time that a caller sets is longer than this: a hundred years are for ever.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);
/// Idle connections are given up before the server closes them (75 s), so that a request rarely
/// meets a connection that is just being closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How a client is set up.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Where the server is.
    pub(crate) url: Url,
    /// The bearer key, if one is needed.
    pub(crate) api_key: Option<String>,
    /// How long one request may take, beside what it waits on purpose.
    pub(crate) timeout: Duration,
    /// For how long a call is repeated.
    pub(crate) retry_for: Duration,
}

/// What answers in place of a server, in tests.
pub(crate) trait Answers: Send + Sync {
    /// The status and the body.
    fn answer(&self, call: &MemoryCall<'_>) -> (u16, Vec<u8>);
}

pub(crate) type Offline = std::sync::Arc<dyn Answers>;

/// A call that goes nowhere.
pub(crate) struct MemoryCall<'r> {
    pub(crate) method: &'r str,
    /// The parts of the path, unescaped.
    pub(crate) path: Vec<String>,
    pub(crate) query: Option<&'r str>,
    pub(crate) body: &'r [u8],
}

/// A way to the server, with connections of its own.
pub(crate) struct Connection {
    http: Client,
    offline: Option<Offline>,
    settings: Settings,
    authorization: Option<HeaderValue>,
}

/// A request, complete but for the server's address.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: Method,
    url: Url,
    body: Option<Vec<u8>>,
    idempotency_key: Option<String>,
    wait: Duration,
    timeout: Option<Duration>,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    /// The server's clock, to the second.
    pub(crate) date: Option<SystemTime>,
    /// Whether an earlier sending of the request may have done it.
    pub(crate) maybe_done: bool,
    request_id: Option<String>,
    /// What to say about where it sends the caller.
    redirection: Option<String>,
    body: Vec<u8>,
    call: String,
}

impl Connection {
    /// Connects with nothing yet; connections are made when they are needed.
    pub(crate) fn new(settings: Settings) -> Result<Self, Error> {
        // Another part of the program may have chosen a provider before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = Client::builder()
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("halyard-rust/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&settings.url) {
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| Error::Settings(format!("cannot make an HTTP client: {error}")))?;
        let authorization = settings.api_key.as_deref().map(bearer).transpose()?;
        Ok(Self { http, offline: None, settings, authorization })
    }

    /// No server: every call is answered by this.
    pub(crate) fn offline(offline: Offline, url: Url) -> Result<Self, Error> {
        let (timeout, retry_for) = (TIME_MAX, Duration::ZERO);
        let connection = Self::new(Settings { url, api_key: None, timeout, retry_for })?;
        Ok(Self { offline: Some(offline), ..connection })
    }

    /// The same server with connections of its own, for another runtime.
    pub(crate) fn separate(&self) -> Result<Self, Error> {
        let separate = Self::new(self.settings.clone())?;
        Ok(Self { offline: self.offline.clone(), ..separate })
    }

    /// The server's address as it was given.
    pub(crate) fn address(&self) -> &str {
        self.settings.url.as_str().trim_end_matches('/')
    }

    pub(crate) fn get(&self, path: &[&str]) -> Result<Request, Error> {
        self.request(Method::GET, path)
    }

    pub(crate) fn post(&self, path: &[&str]) -> Result<Request, Error> {
        self.request(Method::POST, path)
    }

    pub(crate) fn delete(&self, path: &[&str]) -> Result<Request, Error> {
        self.request(Method::DELETE, path)
    }

    fn request(&self, method: Method, path: &[&str]) -> Result<Request, Error> {
        // An address has no place for these, whichever way they are escaped.
        if let Some(part) = path.iter().find(|part| matches!(**part, "" | "." | "..")) {
            return Err(Error::InvalidValue(InvalidValue {
                what: "the id or name".to_owned(),
                path: ".".to_owned(),
                message: format!("`{part}` can be none"),
            }));
        }
        let mut url = self.settings.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        Ok(Request {
            method,
            url,
            body: None,
            idempotency_key: None,
            wait: Duration::ZERO,
            timeout: None,
        })
    }

    /// Sends a request, again and again while that may help; an answer that is an error is `Err`.
    pub(crate) async fn send(&self, request: &Request) -> Result<Answer, Error> {
        let answer = self.exchange(request).await?;
        if answer.is_success() { Ok(answer) } else { Err(answer.error()) }
    }

    /// Sends a request, again and again while that may help. Every complete answer is `Ok`,
    /// whatever its status.
    pub(crate) async fn exchange(&self, request: &Request) -> Result<Answer, Error> {
        let give_up = Instant::now() + self.settings.retry_for;
        let (mut repeats, mut maybe_done) = (0, false);
        loop {
            let sent = self.send_once(request).await;
            let sent = sent.map(|answer| Answer { maybe_done, ..answer });
            let asked = match &sent {
                Ok(answer) if retry::is_temporary(answer.status) => answer.retry_after,
                Ok(_) => return sent,
                Err(_) => None,
            };
            let pause = retry::pause(repeats + 1, asked, rand::random());
            // The wait for an answer that did not come may have used up all the time for repeats.
            let is_silence = matches!(&sent, Err(Error::Connection(error)) if error.is_silence());
            let once_more = is_silence && repeats == 0 && self.repeats_silence(request);
            if Instant::now() + pause > give_up && !once_more {
                return sent;
            }
            maybe_done |= sent.as_ref().map_or(true, Answer::may_be_done);
            tracing::debug!(call = %request.call(), ?pause, "sending again");
            tokio::time::sleep(pause).await;
            repeats += 1;
        }
    }

    /// Whether a request that got no answer in its time is sent a second time: one that does not
    /// wait for something by itself, unless the caller wants no repeats.
    fn repeats_silence(&self, request: &Request) -> bool {
        request.wait.is_zero() && !self.settings.retry_for.is_zero()
    }

    /// Sends a request once. Every complete answer is `Ok`, whatever its status.
    pub(crate) async fn send_once(&self, request: &Request) -> Result<Answer, Error> {
        if let Some(offline) = &self.offline {
            return Ok(request.answered_by(&**offline));
        }
        let mut call = self
            .http
            .request(request.method.clone(), request.url.clone())
            .timeout(request.timeout.unwrap_or(self.settings.timeout) + request.wait);
        if let Some(key) = &self.authorization {
            call = call.header(AUTHORIZATION, key.clone());
        }
        if let Some(key) = &request.idempotency_key {
            call = call.header("Idempotency-Key", key);
        }
        if let Some(body) = &request.body {
            call = call.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        let failed = |error| ConnectionError::new(self.address(), error);
        let answer = call.send().await.map_err(failed)?;
        let status = answer.status().as_u16();
        let header = |name: &str| {
            let value = answer.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let request_id = header("x-request-id");
        let asked = header(RETRY_AFTER.as_str());
        let retry_after = asked.and_then(|value| retry::retry_after(&value, SystemTime::now()));
        let date = header(DATE.as_str()).and_then(|date| httpdate::parse_http_date(&date).ok());
        let location = header(LOCATION.as_str());
        let redirection = redirect::redirection(status, &request.url, location.as_deref());
        let body = answer.bytes().await.map_err(failed)?.to_vec();
        let (call, maybe_done) = (request.call(), false);
        Ok(Answer { status, retry_after, date, maybe_done, request_id, redirection, body, call })
    }
}

impl Request {
    /// With a JSON body.
    pub(crate) fn json<T: serde::Serialize>(self, body: &T) -> Result<Self, Error> {
        let text = crate::json::write("the request", body)?;
        Ok(self.body(text.get().as_bytes().to_vec()))
    }

    /// With a body that is JSON already.
    pub(crate) fn body(mut self, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self
    }

    /// With one parameter more in the query.
    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// With an `Idempotency-Key` made here, which all repeats of this request carry.
    pub(crate) fn once(mut self) -> Self {
        self.idempotency_key = Some(crate::ids::make("once"));
        self
    }

    /// The server waits for up to this long before it answers.
    pub(crate) fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// With another limit for the time it may take.
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn answered_by(&self, offline: &dyn Answers) -> Answer {
        let unescaped = |part: &str| {
            percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned()
        };
        let path = self.url.path_segments().into_iter().flatten().map(unescaped).collect();
        let (status, body) = offline.answer(&MemoryCall {
            method: self.method.as_str(),
            path,
            query: self.url.query(),
            body: self.body.as_deref().unwrap_or_default(),
        });
        Answer {
            status,
            retry_after: None,
            date: None,
            maybe_done: false,
            request_id: None,
            redirection: None,
            body,
            call: self.call(),
        }
    }

    fn call(&self) -> String {
        format!("{} {}", self.method, self.url)
    }
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether a refusal leaves open what was done. Who is overloaded or about to end did nothing.
    fn may_be_done(&self) -> bool {
        let did_nothing = matches!(self.error().code(), Some("overloaded" | "draining"));
        self.status >= 500 && !did_nothing
    }

    /// The error that this answer is.
    pub(crate) fn error(&self) -> Error {
        if let Some(redirection) = &self.redirection {
            return self.unexpected(redirection);
        }
        problem::read(self.status, self.request_id.as_deref(), &self.body)
    }

    /// Reads the body.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|error| self.unexpected(&error.to_string()))
    }

    /// Says that the answer cannot be understood.
    pub(crate) fn unexpected(&self, detail: &str) -> Error {
        let (call, status) = (self.call.clone(), self.status);
        Error::UnexpectedAnswer { call, status, detail: detail.to_owned() }
    }
}

fn bearer(key: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| Error::Settings("the API key holds characters that no key has".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether the server is on this machine, where no proxy has a place.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(url: &str) -> Connection {
        let settings = Settings {
            url: url.parse().expect("a URL"),
            api_key: None,
            timeout: Duration::from_secs(1),
            retry_for: Duration::ZERO,
        };
        Connection::new(settings).expect("good settings")
    }

    #[test]
    fn addresses() {
        for (url, path, expected) in [
            ("http://h:1", &["v1", "jobs", "job_1"] as &[&str], "http://h:1/v1/jobs/job_1"),
            ("http://h:1/", &["v1", "stats"], "http://h:1/v1/stats"),
            ("https://h/queue/", &["v1", "jobs"], "https://h/queue/v1/jobs"),
            ("http://h", &["v1", "queues", "a/b?c#é"], "http://h/v1/queues/a%2Fb%3Fc%23%C3%A9"),
        ] {
            let request = connection(url).get(path).expect("an address");
            assert_eq!(request.url.as_str(), expected);
        }
        for id in ["", ".", ".."] {
            assert!(matches!(
                connection("http://h").get(&["v1", "jobs", id]),
                Err(Error::InvalidValue(_))
            ));
        }
    }

    #[test]
    fn loopback() {
        for (url, expected) in [
            ("http://127.0.0.1:7373", true),
            ("http://localhost", true),
            ("http://[::1]:7373", true),
            ("http://example.org", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&url.parse().expect("a URL")), expected, "{url}");
        }
    }

    #[test]
    fn bad_keys() {
        assert!(bearer("hyd_1").is_ok());
        assert!(bearer("a\nb").is_err());
    }
}
