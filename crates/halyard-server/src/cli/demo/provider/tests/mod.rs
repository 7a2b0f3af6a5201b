//! The provider over real sockets, asked by a client that writes HTTP by hand, so that nothing
//! retries, pools or repairs behind a test's back.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod keys;
mod objects;
mod refusals;
mod witness;

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Behaviour, Behaviours, Provider, SECRET_KEY_DEFAULT, Summary};

/// How long a test waits for a condition before it fails.
const DEADLINE: Duration = Duration::from_secs(30);
/// Longer than any test runs: a wait that only a release ends.
const HOUR_MS: u64 = 3_600_000;

#[derive(Debug, Clone)]
struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    text: String,
    body: Value,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(header, _)| header == name);
        found.next().map(|(_, value)| value.as_str())
    }

    fn error(&self) -> (&str, &str, &str) {
        let error = &self.body["error"];
        let member = |name: &str| error[name].as_str().unwrap_or_default();
        (member("type"), member("code"), member("param"))
    }

    fn replayed(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }

    /// The object's id.
    fn id(&self) -> String {
        self.body["id"].as_str().unwrap_or_else(|| panic!("no id in {}", self.text)).to_owned()
    }
}

/// One call, to be changed before it is sent.
#[derive(Debug, Clone)]
struct Ask {
    method: &'static str,
    target: String,
    authorization: Option<String>,
    content_type: &'static str,
    key: Option<String>,
    body: String,
}

fn post(target: &str, body: &str) -> Ask {
    Ask {
        method: "POST",
        target: target.to_owned(),
        authorization: Some(format!("Bearer {SECRET_KEY_DEFAULT}")),
        content_type: "application/x-www-form-urlencoded",
        key: None,
        body: body.to_owned(),
    }
}

fn get(target: &str) -> Ask {
    Ask { method: "GET", ..post(target, "") }
}

fn json(method: &'static str, target: &str, body: &str) -> Ask {
    Ask { method, content_type: "application/json", ..post(target, body) }
}

impl Ask {
    fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    fn authorization(mut self, value: Option<&str>) -> Self {
        self.authorization = value.map(str::to_owned);
        self
    }

    /// Writes the call and leaves the answer to be read.
    async fn send(&self, address: SocketAddr) -> TcpStream {
        let mut text = format!(
            "{} {} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nStripe-Version: 2025-01-01\
             \r\nContent-Type: {}\r\nContent-Length: {}\r\n",
            self.method,
            self.target,
            self.content_type,
            self.body.len()
        );
        if let Some(authorization) = &self.authorization {
            text.push_str(&format!("Authorization: {authorization}\r\n"));
        }
        if let Some(key) = &self.key {
            text.push_str(&format!("Idempotency-Key: {key}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(&self.body);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    async fn reply(&self, address: SocketAddr) -> Reply {
        read_reply(self.send(address).await).await
    }
}

async fn read_reply(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_ascii_lowercase(), value.to_owned())
    };
    let headers = lines.map(header).collect();
    let json = serde_json::from_str(body).unwrap_or(Value::Null);
    Reply { status, headers, text: body.to_owned(), body: json }
}

async fn start(behaviours: Behaviours) -> Provider {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    Provider::start(listener, behaviours).unwrap()
}

/// A provider with one customer, `cus_ada`.
async fn start_with(behaviour: Behaviour) -> Provider {
    start(Behaviours::default().customer("cus_ada", behaviour)).await
}

/// Looks again and again until the summary is as wanted.
async fn until(provider: &Provider, wanted: impl Fn(&Summary) -> bool) {
    let look = async {
        while !wanted(&provider.summary()) {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(DEADLINE, look).await;
    assert!(in_time.is_ok(), "never so: {:?}", provider.summary());
}
