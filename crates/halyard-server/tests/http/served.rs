//! The server of one test, and a client that sends what it is told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use halyard_core::retention::Retention;
use halyard_server::access::secret::KeyHash;
use halyard_server::engine::Hints;
use halyard_server::http::patience::Patience;
use halyard_server::serve::{self, Running, Settings};
use halyard_store::memory::Memory;
use halyard_store::options::Options;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Far longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The key of servers that have one.
pub(crate) const KEY: &str = "the-key-of-this-test";

/// A server.
pub(crate) struct Served {
    pub(crate) running: Option<Running>,
    pub(crate) address: SocketAddr,
    /// Its store, if it has one of its own.
    memory: Option<Arc<Memory>>,
    key: Option<&'static str>,
}

/// The plain settings.
pub(crate) fn settings() -> Settings {
    Settings {
        listen: "127.0.0.1:0".parse().unwrap(),
        key: None,
        allowed_hosts: Vec::new(),
        read_only: false,
        key_ttl_ms: 60_000,
        retention: Retention::default(),
        patience: Patience::default(),
    }
}

impl Served {
    /// With plain settings.
    pub(crate) async fn start() -> Self {
        Self::with(settings()).await
    }

    /// With a key, which [`Served::call`] sends.
    pub(crate) async fn start_with_key() -> Self {
        let key = Some(KeyHash::of(KEY.as_bytes()));
        Self { key: Some(KEY), ..Self::with(Settings { key, ..settings() }).await }
    }

    pub(crate) async fn with(settings: Settings) -> Self {
        let hints = Hints::default();
        let options = Options {
            on_change: hints.listener(),
            on_claimable: hints.waker(),
            ..Options::default()
        };
        let memory = Arc::new(Memory::open(options));
        let running = serve::start(settings, Arc::<Memory>::clone(&memory), hints).await.unwrap();
        let address = running.address();
        Self { address, running: Some(running), memory: Some(memory), key: None }
    }

    /// A second server on the store of this one.
    pub(crate) async fn beside(&self, settings: Settings) -> Self {
        let store = Arc::clone(&self.engine().store);
        let running = serve::start(settings, store, Hints::default()).await.unwrap();
        Self { address: running.address(), running: Some(running), memory: None, key: None }
    }

    /// The same server for whoever has no key.
    pub(crate) fn stranger(served: &Self) -> Self {
        Self { running: None, address: served.address, memory: None, key: None }
    }

    /// From now on the store refuses what only reads, or does not any more.
    pub(crate) fn refuse_reads(&self, refuses: bool) {
        self.memory.as_ref().unwrap().refuse_reads(refuses);
    }

    pub(crate) fn engine(&self) -> &halyard_server::engine::Engine {
        self.running.as_ref().unwrap().engine()
    }

    /// A call as a well-behaved client makes it.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> Reply {
        self.call_with(method, path, &[], body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.call("POST", path, body).await
    }

    /// With further headers. A `null` body is none.
    pub(crate) async fn call_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Reply {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, headers, body.as_bytes()).await
    }

    /// With any bytes as body.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        self.raw(&self.request(method, path, headers, body)).await
    }

    /// The bytes of a request. Headers given replace the usual ones of that name.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Vec<u8> {
        let mut all = vec![("Host", self.address.to_string()), ("Connection", "close".to_owned())];
        if let Some(key) = self.key {
            all.push(("Authorization", format!("Bearer {key}")));
        }
        if !body.is_empty() {
            all.push(("Content-Type", "application/json".to_owned()));
            all.push(("Content-Length", body.len().to_string()));
        }
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        all.retain(|(name, _)| !given(name));
        all.extend(headers.iter().map(|(name, value)| (*name, (*value).to_owned())));
        let mut request = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
        for (name, value) in all {
            request.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        request.extend(b"\r\n");
        request.extend(body);
        request
    }

    /// Sends these bytes and reads to the end.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect().await;
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(bytes).await;
        read_reply(stream).await
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Creates a job and gives its id.
    pub(crate) async fn create(&self, body: Value) -> String {
        let reply = self.post("/v1/jobs", body).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json["id"].as_str().unwrap().to_owned()
    }

    /// Claims one job of the default queue and gives its id and token.
    pub(crate) async fn claim(&self) -> (String, String) {
        let body = json!({"worker": {"id": "w"}, "queues": ["default"]});
        let reply = self.post("/v1/jobs/claim", body).await;
        let job = &reply.json["jobs"][0];
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{reply:?}")).to_owned();
        (text(&job["id"]), text(&job["lease"]["token"]))
    }

    /// Reports one outcome, which must be taken.
    pub(crate) async fn finish(&self, id: &str, token: &str, mut outcome: Value) {
        outcome["id"] = id.into();
        outcome["token"] = token.into();
        let reply = self.post("/v1/jobs/finish", json!({"outcomes": [outcome]})).await;
        assert_eq!(reply.json["results"][0]["status"], "ok", "{reply:?}");
    }
}

/// Reads to the end of the stream.
pub(crate) async fn read_reply(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    let _ = read.expect("an answer in time");
    Reply::parse(&bytes)
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// 0 when the connection was closed without one.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// `null` when the body is no JSON.
    pub(crate) json: Value,
}

impl Reply {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let json = serde_json::from_str(body).unwrap_or_default();
        Self { status: status.unwrap_or(0), headers, body: body.to_owned(), json }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or("")
    }

    pub(crate) fn detail(&self) -> &str {
        self.json["detail"].as_str().unwrap_or("")
    }
}
