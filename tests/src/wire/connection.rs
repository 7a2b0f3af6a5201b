//! One socket to the server, and HTTP/1.1 on it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use super::Answer;

/// How long a client waits for an answer. Longer than the longest wait the server grants (55 s).
const ANSWER_MAX: Duration = Duration::from_secs(90);

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
        match self.stream.read(&mut piece) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.unread.extend_from_slice(&piece[..length]);
                Ok(())
            }
            // A signal to this process says nothing of the server.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
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
