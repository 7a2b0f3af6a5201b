//! A blocking HTTP/1.1 client over one socket.
//!
//! It does what a test needs and a convenient client hides: [`Connection::send`] and
//! [`Connection::receive`] are two steps, so that a test can kill the server between them, and
//! [`Failure`] tells a request that never left from one whose answer did not come back.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a client waits for an answer. Longer than the longest wait the server grants (55 s).
const ANSWER_MAX: Duration = Duration::from_secs(90);

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, with any transfer coding undone.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of this name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` when it is empty.
    ///
    /// # Panics
    ///
    /// When the body is not JSON.
    pub fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in the body of {self:?}"))
    }

    /// The body as text, for messages.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The error code of a refusal, empty where there is none.
    pub fn code(&self) -> String {
        let body = serde_json::from_slice::<Value>(&self.body).unwrap_or(Value::Null);
        body["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The JSON body of an answer that must have this status.
    ///
    /// # Panics
    ///
    /// When it has another; the message shows the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// Asserts a refusal with this status and code, made as a problem document, and returns it.
    ///
    /// # Panics
    ///
    /// When status, code or content type differ.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        self.json()
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

/// One socket to the server.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Read from the socket and not yet part of an answer.
    unread: Vec<u8>,
}

impl Connection {
    /// Connects, with Nagle's delay off.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a request, head and body in one write.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Option<&[u8]>,
    ) -> io::Result<()> {
        self.send_raw(&request(self.stream.peer_addr()?, method, path, headers, body))
    }

    /// Reads one whole answer.
    ///
    /// # Errors
    ///
    /// Those of the socket; `UnexpectedEof` when it was closed before the answer was whole;
    /// `InvalidData` when what came is no HTTP answer.
    pub fn receive(&mut self) -> io::Result<Answer> {
        let (head_length, status, headers) = loop {
            if let Some(head) = parse_head(&self.unread)? {
                break head;
            }
            self.read_more()?;
        };
        self.unread.drain(..head_length);
        let header = |name: &str| {
            headers.iter().find(|(own, _)| own == name).map(|(_, value): &(String, String)| value)
        };
        let body = if header("transfer-encoding").is_some_and(|value| value == "chunked") {
            self.receive_chunks()?
        } else if let Some(length) = header("content-length") {
            let length = length.parse().map_err(|_| invalid("content-length"))?;
            self.receive_exact(length)?
        } else {
            Vec::new()
        };
        Ok(Answer { status, headers, body })
    }

    /// Whether the server closes the connection, rather than to say more, within `patience`.
    /// Bytes that come first are dropped.
    pub fn closes_within(&mut self, patience: Duration) -> bool {
        let give_up = std::time::Instant::now() + patience;
        loop {
            let left = give_up.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return false;
            }
            match self.read_more() {
                Ok(()) => self.unread.clear(),
                Err(error) => {
                    return !matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    );
                }
            }
        }
    }

    /// Reads until the server closes or `quiet` passes without a byte; returns what came.
    pub fn drain(&mut self, quiet: Duration) -> Vec<u8> {
        let _ = self.stream.set_read_timeout(Some(quiet));
        while self.read_more().is_ok() {}
        let _ = self.stream.set_read_timeout(Some(ANSWER_MAX));
        std::mem::take(&mut self.unread)
    }

    /// Closes the sending half.
    pub fn half_close(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Ends the connection with a reset: what the kernel still holds is dropped on both sides.
    pub fn reset(self) {
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// Makes the receive buffer small, for a client that does not read.
    pub fn narrow(&self) {
        let _ = socket2::SockRef::from(&self.stream).set_recv_buffer_size(4096);
    }

    fn receive_exact(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.unread.len() < length {
            self.read_more()?;
        }
        Ok(self.unread.drain(..length).collect())
    }

    fn receive_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(at) = self.unread.windows(2).position(|pair| pair == b"\r\n") {
                    break at;
                }
                self.read_more()?;
            };
            let line = String::from_utf8_lossy(&self.unread[..end]).into_owned();
            let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)
                .map_err(|_| invalid("chunk size"))?;
            self.unread.drain(..end + 2);
            body.extend(self.receive_exact(size)?);
            self.receive_exact(2)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut piece = [0_u8; 16 * 1024];
        match self.stream.read(&mut piece)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => {
                self.unread.extend_from_slice(&piece[..length]);
                Ok(())
            }
        }
    }
}

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
        self.try_call_with(method, path, body, || ())
    }

    /// Like [`Client::try_call`], and runs `sent` when the request has left and its answer has
    /// not been read.
    ///
    /// # Errors
    ///
    /// [`Failure`]; the connection is closed then.
    pub fn try_call_with(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&[u8]>,
        sent: impl FnOnce(),
    ) -> Result<Answer, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address).map_err(Failure::NotSent)?,
        };
        connection.send(method, path, &self.headers, body).map_err(Failure::NoAnswer)?;
        sent();
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

/// A request as bytes. `Host` and `Content-Type` are added unless `headers` has them.
pub fn request(
    host: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: Option<&[u8]>,
) -> Vec<u8> {
    let has = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    if !has("host") {
        head += &format!("Host: {host}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if let Some(body) = body {
        if !has("content-type") {
            head += "Content-Type: application/json\r\n";
        }
        head += &format!("Content-Length: {}\r\n", body.len());
    } else if method != "GET" {
        head += "Content-Length: 0\r\n";
    }
    head += "\r\n";
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    bytes
}

/// Length, status and headers of an answer's head.
type Head = (usize, u16, Vec<(String, String)>);

fn parse_head(bytes: &[u8]) -> io::Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => {
            let headers = head.headers.iter().map(|header| {
                let value = String::from_utf8_lossy(header.value).into_owned();
                (header.name.to_ascii_lowercase(), value)
            });
            Ok(Some((length, head.code.unwrap_or_default(), headers.collect())))
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
