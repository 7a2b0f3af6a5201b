//! The client: where the server is, and a handle for each noun.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use halyard_api::stats::Stats;
use halyard_api::version::Version;
use reqwest::Url;

use crate::connection::{Connection, Settings, TIME_MAX};
use crate::error::Error;
use crate::jobs::Jobs;
use crate::jobs::joiner::Joiner;
use crate::leases::Leases;
use crate::queues::Queues;
use crate::worker::WorkerBuilder;

/// Where a server listens when nobody says otherwise.
pub const DEFAULT_URL: &str = "http://127.0.0.1:7373";

/// How long one request may take by default, beside what it waits on purpose.
const TIMEOUT: Duration = Duration::from_secs(30);
/// For how long a call is repeated by default: long enough for a server to be restarted.
const RETRY_FOR: Duration = Duration::from_secs(10);

/// A client of one server. Copies share its connections; make one and keep it.
///
/// It works inside a Tokio runtime. Connections belong to the runtime that made them: a program
/// with several runtimes gives each a client of its own.
#[derive(Clone)]
pub struct Halyard {
    connection: Arc<Connection>,
    joiner: Arc<Joiner>,
}

impl Halyard {
    /// A client for the server named by `HALYARD_URL` (default `http://127.0.0.1:7373`), with the
    /// key in `HALYARD_API_KEY`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] when the variables cannot be used.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// A client with settings of its own.
    pub fn builder() -> HalyardBuilder {
        HalyardBuilder { url: None, api_key: None, timeout: TIMEOUT, retry_for: RETRY_FOR }
    }

    pub(crate) fn on(connection: Connection) -> Self {
        let connection = Arc::new(connection);
        let joiner = Arc::new(Joiner::new(Arc::clone(&connection)));
        Self { connection, joiner }
    }

    /// The calls about jobs.
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs { connection: &self.connection, joiner: &self.joiner }
    }

    /// The calls about queues.
    pub fn queues(&self) -> Queues<'_> {
        Queues { connection: &self.connection }
    }

    /// The calls of a worker, for those who write one of their own.
    pub fn leases(&self) -> Leases<'_> {
        Leases { connection: &self.connection }
    }

    /// A worker of this server, to be set up.
    pub fn worker(&self) -> WorkerBuilder {
        WorkerBuilder::new(Arc::clone(&self.connection))
    }

    /// Every live worker.
    ///
    /// # Errors
    ///
    /// [`Error::Connection`], [`Error::Api`].
    pub async fn workers(&self) -> Result<Vec<halyard_api::workers::Worker>, Error> {
        let request = self.connection.get(&["v1", "workers"])?;
        let answer = self.connection.send(&request).await?;
        Ok(answer.json::<halyard_api::workers::WorkersAnswer>()?.data)
    }

    /// Every task that has jobs, and how many workers handle it.
    ///
    /// # Errors
    ///
    /// [`Error::Connection`], [`Error::Api`].
    pub async fn tasks(&self) -> Result<Vec<halyard_api::tasks::Task>, Error> {
        let request = self.connection.get(&["v1", "tasks"])?;
        let answer = self.connection.send(&request).await?;
        Ok(answer.json::<halyard_api::tasks::TasksAnswer>()?.data)
    }

    /// Counters of the whole store.
    ///
    /// # Errors
    ///
    /// [`Error::Connection`], [`Error::Api`].
    pub async fn stats(&self) -> Result<Stats, Error> {
        let request = self.connection.get(&["v1", "stats"])?;
        self.connection.send(&request).await?.json()
    }

    /// Whether the server lives and takes work, and what its clock says. Asks once. It needs no
    /// key: to check one, call [`Halyard::stats`].
    ///
    /// # Errors
    ///
    /// [`Error::Connection`], [`Error::UnexpectedAnswer`] when it is no Halyard server. A server
    /// that takes no work is no error here.
    pub async fn health(&self) -> Result<Health, Error> {
        let alive = self.connection.send_once(&self.connection.get(&["healthz"])?).await?;
        if !alive.is_success() {
            return Err(alive.error());
        }
        alive.json::<halyard_api::health::Health>()?;
        let ready = self.connection.send_once(&self.connection.get(&["readyz"])?).await?;
        let not_ready = (!ready.is_success()).then(|| ready.error());
        Ok(Health { not_ready, date: ready.date })
    }

    /// What answers at the address. It needs no key: to check one, call [`Halyard::stats`].
    ///
    /// # Errors
    ///
    /// [`Error::Connection`], [`Error::UnexpectedAnswer`] when it is no Halyard server.
    pub async fn version(&self) -> Result<Version, Error> {
        let request = self.connection.get(&["version"])?;
        self.connection.send(&request).await?.json()
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        self.connection.address()
    }
}

impl fmt::Debug for Halyard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Halyard").field("url", &self.url()).finish_non_exhaustive()
    }
}

/// How a server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Health {
    /// Why it takes no work; `None` when it does.
    pub not_ready: Option<Error>,
    /// Its clock, to the second; `None` when it did not tell.
    pub date: Option<SystemTime>,
}

/// The settings of a client. What is not set comes from the environment, then from the defaults.
#[derive(Clone)]
#[must_use]
pub struct HalyardBuilder {
    url: Option<String>,
    api_key: Option<String>,
    timeout: Duration,
    retry_for: Duration,
}

impl HalyardBuilder {
    /// Where the server is; `HALYARD_URL` when not set.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// The bearer key; `HALYARD_API_KEY` when not set.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// How long one request may take, beside what it waits on purpose: more than zero; 30 s when
    /// not set. One that
    /// got no answer by then is sent a second time, unless `retry_for` is zero.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.min(TIME_MAX);
        self
    }

    /// For how long a call is repeated while the server cannot be reached or asks for patience; 10
    /// s when not set, and zero sends every call once. A worker repeats its calls whatever is set
    /// here.
    pub fn retry_for(mut self, time: Duration) -> Self {
        self.retry_for = time.min(TIME_MAX);
        self
    }

    /// The client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] when a setting cannot be used.
    pub fn build(self) -> Result<Halyard, Error> {
        if self.timeout.is_zero() {
            return Err(Error::Settings(
                "timeout is 0: a request needs more than 0; to send every call once, set retry_for \
                 to 0"
                .to_owned(),
            ));
        }
        let url = self.url.or_else(|| from_environment("HALYARD_URL"));
        let settings = Settings {
            url: read_url(url.as_deref().unwrap_or(DEFAULT_URL))?,
            api_key: self.api_key.or_else(|| from_environment("HALYARD_API_KEY")),
            timeout: self.timeout,
            retry_for: self.retry_for,
        };
        Ok(Halyard::on(Connection::new(settings)?))
    }
}

impl fmt::Debug for HalyardBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HalyardBuilder").field("url", &self.url).finish_non_exhaustive()
    }
}

fn from_environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub(crate) fn read_url(text: &str) -> Result<Url, Error> {
    let wrong = |why: &str| {
        Error::Settings(format!("the server's address `{text}` {why}; one is {DEFAULT_URL}"))
    };
    let url = Url::parse(text).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("does not begin with http:// or https://"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has a query or a fragment"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in [DEFAULT_URL, "https://queue.example.org/halyard", "http://[::1]:1"] {
            assert!(read_url(good).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:7373", "localhost:7373", "ftp://h", "http://h/?a=1", "unix:/s"] {
            let error = read_url(bad).expect_err(bad).to_string();
            assert!(error.contains(bad) && error.contains(DEFAULT_URL), "{error}");
        }
    }

    #[test]
    fn a_request_needs_time() {
        let builder = Halyard::builder().url("http://h").timeout(Duration::ZERO);
        let error = builder.build().expect_err("no time").to_string();
        assert!(error.contains("a request needs more than 0"), "{error}");
        assert!(Halyard::builder().url("http://h").retry_for(Duration::ZERO).build().is_ok());
    }

    #[test]
    fn the_key_is_not_shown() {
        let builder = Halyard::builder().url("http://h").api_key("hyd_secret");
        assert!(!format!("{builder:?}").contains("secret"));
        let client = builder.build().expect("good settings");
        assert_eq!(format!("{client:?}"), r#"Halyard { url: "http://h", .. }"#);
    }
}
