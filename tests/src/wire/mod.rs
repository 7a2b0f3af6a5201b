//! A blocking HTTP/1.1 client over one socket.
//!
//! It does what a test needs and a convenient client hides: [`Connection::send`] and
//! [`Connection::receive`] are two steps, so that a test can kill the server between them, and
//! [`Failure`] tells a request that never left from one whose answer did not come back.
//!
//! - [`Client`]: an address, headers, and a connection that is kept alive;
//! - [`Connection`]: one socket, for callers who send by halves or not at all;
//! - [`Answer`]: what came back, and what a test asks of it.

mod answer;
mod connection;

use std::fmt;
use std::io;
use std::net::SocketAddr;

use serde_json::Value;

pub use answer::Answer;
pub use connection::{Connection, request};

/// A client: an address, headers that go with every call, and a connection that is kept alive.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    headers: Vec<(String, String)>,
    connection: Option<Connection>,
}

impl Clone for Client {
    /// The same address and headers, with a connection of its own.
    fn clone(&self) -> Self {
        Self { address: self.address, headers: self.headers.clone(), connection: None }
    }
}

impl Client {
    /// A client of the server at `address`; it connects with its first call.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, headers: Vec::new(), connection: None }
    }

    /// The same client with one more header on every call.
    #[must_use]
    pub fn with_header(&self, name: &str, value: &str) -> Self {
        let mut other = self.clone();
        other.headers.push((name.to_owned(), value.to_owned()));
        other
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends one call and reads its answer.
    ///
    /// # Errors
    ///
    /// [`Failure`]; the connection is closed then.
    pub fn try_call(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
    ) -> Result<Answer, Failure> {
        self.try_call_with(method, path, body, || true)
    }

    /// Like [`Client::try_call`], and runs `sent` when the request has left and its answer has
    /// not been read; `false` loses the answer: the connection is closed unread.
    ///
    /// # Errors
    ///
    /// [`Failure`]; the connection is closed then.
    pub fn try_call_with(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        sent: impl FnOnce() -> bool,
    ) -> Result<Answer, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address).map_err(Failure::NotSent)?,
        };
        connection.send(method, path, &self.headers, body).map_err(Failure::NoAnswer)?;
        if !sent() {
            return Err(Failure::NoAnswer(io::ErrorKind::ConnectionAborted.into()));
        }
        let answer = connection.receive().map_err(Failure::NoAnswer)?;
        if answer.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Ok(answer)
    }

    /// Sends a call with a JSON body, or without one for `Value::Null`.
    ///
    /// # Panics
    ///
    /// When no answer comes back.
    #[track_caller]
    pub fn call(&mut self, method: &str, path: &str, body: &Value) -> Answer {
        let bytes = (!body.is_null()).then(|| body.to_string().into_bytes());
        self.call_raw(method, path, bytes.as_deref())
    }

    /// Sends a call whose body is these bytes.
    ///
    /// # Panics
    ///
    /// When no answer comes back.
    #[track_caller]
    pub fn call_raw(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Answer {
        self.try_call(method, path, body)
            .unwrap_or_else(|failure| panic!("{method} {path}: {failure}"))
    }

    /// `GET path`.
    #[track_caller]
    pub fn get(&mut self, path: &str) -> Answer {
        self.call_raw("GET", path, None)
    }

    /// `POST path` with a JSON body.
    #[track_caller]
    pub fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, body)
    }

    /// `DELETE path`.
    #[track_caller]
    pub fn delete(&mut self, path: &str) -> Answer {
        self.call_raw("DELETE", path, None)
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// No connection came about: the call had no effect.
    NotSent(io::Error),
    /// Sent at least in part, and no whole answer came back: the call may have had its effect.
    NoAnswer(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(error) => write!(out, "not sent: {error}"),
            Self::NoAnswer(error) => write!(out, "no answer: {error}"),
        }
    }
}
