//! Raw bytes: one request in, one answer out, or the connection is closed; never a 5xx.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use halyard_core::retention::Retention;
use halyard_server::access::keyring::Keyring;
use halyard_server::engine::{Engine, Hints};
use halyard_server::http::access::Door;
use halyard_server::http::patience::Patience;
use halyard_server::http::{App, Rules, listener};
use halyard_server::serve::Settings;
use halyard_store::memory::Memory;
use halyard_store::options::Options;
use serde_json::json;

use crate::served::{PATIENCE, Served, read_reply, settings};

/// Everything that comes back on one connection.
async fn talk(served: &Served, bytes: &[u8]) -> String {
    let mut stream = served.connect().await;
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut back = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut back)).await.expect("an end");
    String::from_utf8_lossy(&back).into_owned()
}

#[tokio::test]
async fn framing_that_two_readers_could_understand_differently() {
    let served = Served::start().await;
    let smuggled = "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let table = [
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "Content-Length: +5\r\n\r\n",
        "Content-Length: 5, 5\r\n\r\n",
        "Content-Length: 5 5\r\n\r\n",
        "Content-Length: 0x5\r\n\r\n",
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length : 5\r\n\r\n",
        "Transfer-Encoding: identity\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5 5\r\n",
        "X: a\rb\r\n\r\n",
        "X: a\0b\r\n\r\n",
        " folded: 1\r\n\r\n",
        "no colon\r\n\r\n",
    ];
    for framing in table {
        let back = talk(&served, format!("{head}{framing}{smuggled}").as_bytes()).await;
        let answers = back.matches("HTTP/1.1 ").count();
        assert!(answers <= 1, "{framing:?}: {answers} answers: {back}");
        assert!(back.is_empty() || back.starts_with("HTTP/1.1 4"), "{framing:?}: {back}");
        assert!(!back.contains("counts"), "{framing:?}: the hidden request was answered");
    }
    let both = format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    let back = talk(&served, both.as_bytes()).await;
    assert!(back.matches("HTTP/1.1 ").count() <= 1, "{back}");
}

#[tokio::test]
async fn noise_and_other_protocols() {
    let served = Served::start().await;
    let long_line = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(100_000));
    let long_header =
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(20_000));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: 1\r\n".repeat(100));
    let table: [&[u8]; 8] = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\xff\xfe\xfd\r\n\r\n",
        b"GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n",
        long_line.as_bytes(),
        long_header.as_bytes(),
        many.as_bytes(),
    ];
    for bytes in table {
        let began = Instant::now();
        let back = talk(&served, bytes).await;
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
        assert!(back.is_empty() || back.starts_with("HTTP/1.1 4"), "{shown:?}: {back}");
        assert!(began.elapsed() < Duration::from_secs(5), "{shown:?}");
    }
    let upgrade = b"GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close, Upgrade\r\n\
        Upgrade: h2c\r\n\r\n";
    assert!(talk(&served, upgrade).await.starts_with("HTTP/1.1 200"), "the upgrade is not taken");
}

#[tokio::test]
async fn a_body_in_pieces_and_a_wish_to_continue() {
    let served = Served::start().await;
    let mut stream = served.connect().await;
    let head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    timeout(PATIENCE, stream.read_exact(&mut go_on)).await.unwrap().unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    for piece in ["{\"ta", "sk\":", "\"t\"}"] {
        stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        tokio::task::yield_now().await;
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let reply = crate::served::read_reply(stream).await;
    assert_eq!(reply.status, 201, "{reply:?}");
}

#[tokio::test]
async fn a_connection_serves_one_call_after_another() {
    let served = Served::start().await;
    let body = json!({"task": "t"}).to_string();
    let keep = [("Connection", "keep-alive")];
    let one = served.request("POST", "/v1/jobs", &keep, body.as_bytes());
    let bad = served.request("POST", "/v1/nothing", &keep, body.as_bytes());
    let last = served.request("GET", "/v1/stats", &[], b"");
    let all = [one.clone(), bad, one, last].concat();
    let back = {
        let mut stream = served.connect().await;
        stream.write_all(&all).await.unwrap();
        let mut back = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut back)).await.unwrap().unwrap();
        back
    };
    let statuses: Vec<&str> =
        back.match_indices("HTTP/1.1 ").map(|(at, _)| &back[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["201", "404", "201", "200"], "{back}");
}

#[tokio::test]
async fn clients_that_take_their_time_are_cut_off() {
    let patience = Patience {
        head: Duration::from_millis(200),
        idle: Duration::from_millis(1_500),
        body: Duration::from_millis(600),
        stall: Duration::from_millis(400),
    };
    let served = Served::with(Settings { patience, ..settings() }).await;
    let head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let answered = "GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (sent, least) in [
        (String::new(), patience.head),
        ("GET / HT".to_owned(), patience.head),
        (format!("{head}Content-Length: 20\r\n\r\n{{"), patience.body),
        (answered.to_owned(), patience.idle),
        (format!("{answered}GET / HT"), patience.head),
    ] {
        let began = Instant::now();
        let mut stream = served.connect().await;
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut back = Vec::new();
        let closed = timeout(PATIENCE, stream.read_to_end(&mut back)).await;
        assert!(closed.is_ok(), "{sent:?} is not cut off");
        assert!(began.elapsed() >= least, "{sent:?}: closed after {:?}", began.elapsed());
        assert_eq!(!back.is_empty(), sent.starts_with(answered), "{sent:?}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let patience = Patience { stall: Duration::from_millis(300), ..Patience::default() };
    let served = Served::with(Settings { patience, ..settings() }).await;
    for _ in 0..7 {
        served.create(json!({"task": "t", "payload": "x".repeat(1_000_000)})).await;
    }
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(served.address).await.unwrap();
    let body = json!({"worker": {"id": "w"}, "queues": ["default"], "max": 7}).to_string();
    stream
        .write_all(&served.request("POST", "/v1/jobs/claim", &[], body.as_bytes()))
        .await
        .unwrap();
    // What was leased for it goes back, and another worker gets it.
    let claim = json!({"worker": {"id": "v"}, "queues": ["default"], "max": 7, "wait_ms": 20_000});
    let gone = async { while served.get("/v1/stats").await.json["counts"]["running"] != 7 {} };
    timeout(PATIENCE, gone).await.expect("the claim is served");
    let reply = served.post("/v1/jobs/claim", claim).await;
    assert_eq!(reply.json["jobs"].as_array().unwrap().len(), 7);
    drop(stream);
}

#[tokio::test]
async fn many_large_bodies_at_once_are_told_to_come_back() {
    let served = Served::start().await;
    let head = format!(
        "POST /v1/jobs/finish HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        16 << 20
    );
    let body = vec![b' '; (16 << 20) - 1];
    let mut unfinished = Vec::new();
    for _ in 0..15 {
        let mut stream = served.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.unwrap();
        unfinished.push(stream);
    }
    let refused = async {
        loop {
            // Until the server has seen enough of the bodies above.
            let reply = served.send("POST", "/v1/jobs/finish", &[], &body).await;
            if reply.status == 503 {
                return reply;
            }
            assert_eq!(reply.code(), "malformed_json", "{reply:?}");
            let mut stream = served.connect().await;
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&body).await.unwrap();
            unfinished.push(stream);
        }
    };
    let reply = timeout(PATIENCE, refused).await.expect("there is an end to the room");
    assert_eq!((reply.code(), reply.header("retry-after")), ("overloaded", Some("1")));
    assert_eq!(served.post("/v1/jobs", json!({"task": "t"})).await.status, 201, "small ones pass");
}

#[tokio::test]
async fn connections_beyond_the_last_place_are_refused_like_any_call() {
    let hints = Hints::default();
    let options =
        Options { on_change: hints.listener(), on_claimable: hints.waker(), ..Options::default() };
    let store = Arc::new(Memory::open(options));
    let listen = [127, 0, 0, 1].into();
    let keyring = Keyring::new(None, listen);
    let engine = Arc::new(Engine::new(store, hints, keyring, Retention::default()));
    let door = Door { listen, allowed_hosts: Vec::new() };
    let patience = Patience::default();
    let app = App::new(engine, Rules { door, read_only: false, key_ttl_ms: 1, patience });
    let port = listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = port.local_addr().unwrap();
    let (_stop, stopped) = watch::channel(false);
    let serving = listener::serve(port, Arc::new(app), 1, stopped, Duration::ZERO);
    let serving = tokio::spawn(serving);

    let only = TcpStream::connect(address).await.unwrap();
    for request in ["", "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = read_reply(stream).await;
        assert_eq!((reply.status, reply.code()), (503, "overloaded"), "{reply:?}");
        assert_eq!(reply.json["retryable"], true);
        for (name, value) in [
            ("retry-after", "1"),
            ("content-type", "application/problem+json"),
            ("x-request-id", reply.json["request_id"].as_str().unwrap()),
        ] {
            assert_eq!(reply.header(name), Some(value), "{reply:?}");
        }
    }
    drop(only);
    serving.abort();
}
