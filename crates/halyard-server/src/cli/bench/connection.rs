//! One keep-alive connection that speaks the least HTTP/1.1 that the tests need.
//!
//! The client runs on the server's own cores, so what it spends is taken from the server: a
//! request is one write of bytes made beforehand, of an answer only the status and the length are
//! read. It is no client for anything else: no chunked bodies, no redirects, no deadlines.

use std::net::SocketAddr;

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Room for what one read takes: a thousand jobs are about a megabyte.
const READ_BYTES: usize = 128 << 10;
/// An answer's head may be so long.
const HEAD_BYTES_MAX: usize = 8 << 10;

/// A connection to the server.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer<'c> {
    /// Its status.
    pub(super) status: u16,
    /// Its body.
    pub(super) body: &'c [u8],
}

impl<'c> Answer<'c> {
    /// The body, when the answer has this status; otherwise the body is the error.
    pub(super) fn of(self, status: u16) -> anyhow::Result<&'c [u8]> {
        if self.status != status {
            let body = String::from_utf8_lossy(self.body);
            bail!("the server answered {} instead of {status}: {body}", self.status);
        }
        Ok(self.body)
    }
}

impl Connection {
    /// Connects.
    pub(super) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect to the server")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(READ_BYTES) })
    }

    /// Sends a whole request and reads the whole answer.
    pub(super) async fn call(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        let head = self.send(request).await?;
        self.rest(&head).await
    }

    /// Sends a whole request, reads the answer and throws its body away unless its status is
    /// unexpected: then the body is the error.
    pub(super) async fn call_for(&mut self, request: &[u8], status: u16) -> anyhow::Result<()> {
        let head = self.send(request).await?;
        if head.status != status {
            return self.rest(&head).await?.of(status).map(drop);
        }
        let mut missing = (head.bytes + head.body_bytes)
            .checked_sub(self.buffer.len())
            .context("the server sent more than its answer")?;
        while missing > 0 {
            self.buffer.clear();
            missing = missing
                .checked_sub(self.read().await?)
                .context("the server sent more than its answer")?;
        }
        Ok(())
    }

    /// Sends a request and reads until the answer's head is whole.
    async fn send(&mut self, request: &[u8]) -> anyhow::Result<Head> {
        self.stream.write_all(request).await.context("the server hung up")?;
        self.buffer.clear();
        loop {
            self.read().await?;
            if let Some(head) = Head::read(&self.buffer)? {
                return Ok(head);
            }
            if self.buffer.len() > HEAD_BYTES_MAX {
                bail!("the server's answer has no end of its head");
            }
        }
    }

    /// Reads the rest of an answer.
    async fn rest(&mut self, head: &Head) -> anyhow::Result<Answer<'_>> {
        let whole = head.bytes + head.body_bytes;
        while self.buffer.len() < whole {
            self.buffer.reserve(whole - self.buffer.len());
            self.read().await?;
        }
        if self.buffer.len() > whole {
            bail!("the server sent more than its answer");
        }
        let body = self.buffer.get(head.bytes..).context("the answer is cut")?;
        Ok(Answer { status: head.status, body })
    }

    /// Takes what is there; says how many bytes.
    async fn read(&mut self) -> anyhow::Result<usize> {
        if self.buffer.capacity() == self.buffer.len() {
            self.buffer.reserve(READ_BYTES);
        }
        match self.stream.read_buf(&mut self.buffer).await.context("the server hung up")? {
            0 => bail!("the server closed the connection"),
            bytes => Ok(bytes),
        }
    }
}

/// What matters of an answer's head.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Length of the head, its empty line included.
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    /// `None` as long as it is not whole.
    fn read(bytes: &[u8]) -> anyhow::Result<Option<Self>> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = bytes.get(..end).and_then(|head| std::str::from_utf8(head).ok());
        let head = head.context("the answer's head is not text")?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
        let status = status.and_then(|line| line.get(..3)).and_then(|code| code.parse().ok());
        let length = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        Ok(Some(Self {
            status: status.context("the answer has no status")?,
            bytes: end + 4,
            body_bytes: length.context("the answer has no Content-Length")?,
        }))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn heads() {
        let read = |text: &str| Head::read(text.as_bytes());
        let whole = "HTTP/1.1 201 Created\r\nX: y\r\nContent-LENGTH: 12\r\n\r\n";
        let head = Head { status: 201, bytes: whole.len(), body_bytes: 12 };
        assert_eq!(read(whole).unwrap(), Some(head));
        assert_eq!(read("HTTP/1.1 201 Created\r\nContent-Length: 12\r\n").unwrap(), None);
        assert!(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
        assert!(read("HTTP/1.1 two OK\r\nContent-Length: 1\r\n\r\n").is_err());
    }

    /// Answers each request, of four bytes, with the next of `answers`, in two pieces.
    async fn server(answers: Vec<String>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            for answer in answers {
                stream.read_exact(&mut [0; 4]).await.unwrap();
                let (first, second) = answer.split_at(answer.len() / 3);
                stream.write_all(first.as_bytes()).await.unwrap();
                stream.write_all(second.as_bytes()).await.unwrap();
            }
        });
        address
    }

    fn answer(status: &str, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    }

    #[tokio::test]
    async fn calls() {
        let long = "x".repeat(3 * READ_BYTES);
        let answers = vec![
            answer("200 OK", &long),
            answer("201 Created", &long),
            answer("200 OK", ""),
            answer("503 Service Unavailable", "no"),
        ];
        let mut connection = Connection::open(server(answers).await).await.unwrap();
        let first = connection.call(b"ping").await.unwrap();
        assert_eq!((first.status, first.body), (200, long.as_bytes()));
        connection.call_for(b"ping", 201).await.unwrap();
        assert_eq!(connection.call(b"ping").await.unwrap().body, b"");
        let refused = connection.call_for(b"ping", 201).await.unwrap_err().to_string();
        assert_eq!(refused, "the server answered 503 instead of 201: no");
        assert!(connection.call(b"ping").await.is_err());
    }
}
