//! Requests that no proper client sends: slow ones, broken ones, and two in one.

use std::time::Duration;

use halyard_tests::server::Server;
use halyard_tests::until;
use halyard_tests::wire::{Connection, request};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use crate::acting::{create, list};

/// How long a connection that gets nowhere may live: the limit of 30 s, and a busy machine.
const GONE: Duration = Duration::from_secs(45);

/// Case 73 · Slow clients
#[test]
fn case_73_slow_clients() {
    let server = Server::start();
    let mut client = server.client();
    client.get("/healthz");
    let before = server.process().handles();
    let host = server.address();
    let whole = request(host, "POST", "/v1/jobs", &[], Some(br#"{"task":"slow"}"#));
    let body_at = whole.len() - 15;

    let mut stuck: Vec<(&str, Connection)> = Vec::new();
    for _ in 0..30 {
        let mut open = |what, bytes: &[u8]| {
            let mut connection = Connection::open(host).unwrap();
            connection.send_raw(bytes).unwrap();
            stuck.push((what, connection));
        };
        open("nothing sent", b"");
        open("half a head", &whole[..20]);
        open("a head without its end", &whole[..body_at - 2]);
        open("half a body", &whole[..whole.len() - 5]);
    }
    let dribbling: Vec<_> = (0..10)
        .map(|n| {
            let mut connection = Connection::open(host).unwrap();
            let whole = whole.clone();
            let from = if n % 2 == 0 { 0 } else { body_at };
            std::thread::spawn(move || dribble(&mut connection, &whole, from))
        })
        .collect();
    // Others are served meanwhile.
    for _ in 0..50 {
        create(&mut client, &json!({"task": "quick"}));
    }
    // A whole request and then a half-closed connection is a request.
    let mut half = Connection::open(host).unwrap();
    half.send_raw(&whole).unwrap();
    half.half_close();
    assert_eq!(half.receive().unwrap().status, 201);
    assert!(half.closes_within(GONE));

    for (what, connection) in &mut stuck {
        assert!(connection.closes_within(GONE), "{what}: still open after {GONE:?}");
    }
    for dribbler in dribbling {
        dribbler.join().unwrap();
    }
    until("the handles to be given back", || {
        (server.process().handles() <= before + 5).then_some(())
    });
    assert_eq!(list(&mut client, "task=slow").len(), 1, "half a request made a job");
}

/// Sends `from` bytes at once and the rest one byte per second; must be cut off before its end.
fn dribble(connection: &mut Connection, bytes: &[u8], from: usize) {
    connection.send_raw(&bytes[..from]).unwrap();
    let begin = std::time::Instant::now();
    // Endless: the last byte never comes.
    while !connection.closes_within(Duration::from_secs(1)) {
        let at = from + (begin.elapsed().as_secs() as usize).min(bytes.len() - from - 2);
        if connection.send_raw(&bytes[at..=at]).is_err() {
            return;
        }
        assert!(begin.elapsed() < GONE, "a dribbling client was kept for {GONE:?}");
    }
}

/// A client that asks and does not read: it costs a bounded amount, and others are served.
#[test]
fn a_client_that_does_not_read_is_bounded() {
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..20 {
        create(&mut client, &json!({"task": "t", "payload": "x".repeat(100_000)}));
    }
    let before = server.process().memory();
    let page = request(server.address(), "GET", "/v1/jobs?limit=200", &[], None);
    let openapi = request(server.address(), "GET", "/openapi.json", &[], None);
    let mut deaf = Vec::new();
    for _ in 0..50 {
        let mut connection = Connection::open(server.address()).unwrap();
        connection.narrow();
        connection.send_raw(&page.repeat(20)).unwrap();
        connection.send_raw(&openapi.repeat(20)).unwrap();
        deaf.push(connection);
    }
    for _ in 0..20 {
        client.get("/v1/jobs?limit=200").expect(200);
    }
    let grown = server.process().memory().saturating_sub(before);
    assert!(grown < 150 * 1024 * 1024, "{grown} bytes for 50 clients that do not read");
}

/// Requests that two parsers might cut in different places. Each has one request that a careless
/// reader finds hidden in it, which would make a job of task `hidden`.
fn smuggling(host: &str) -> Vec<(&'static str, String)> {
    let hidden_body = r#"{"task":"hidden"}"#;
    let hidden = format!(
        "POST /v1/jobs HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{hidden_body}",
        hidden_body.len()
    );
    let length = hidden.len();
    let post = |headers: &str, body: &str| {
        format!(
            "POST /v1/jobs/claim HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             {headers}\r\n{body}"
        )
    };
    let get = |headers: &str, rest: &str| {
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n{rest}")
    };
    let chunked = format!("0\r\n\r\n{hidden}");
    let mut rows = Vec::new();
    let mut add = |name, bytes| rows.push((name, bytes));
    add("CL and TE", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", &chunked));
    add("TE and CL", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", &chunked));
    add("CL 0 and TE", post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", &chunked));
    add("two CL", post(&format!("Content-Length: 0\r\nContent-Length: {length}\r\n"), &hidden));
    add(
        "two CL turned",
        post(&format!("Content-Length: {length}\r\nContent-Length: 0\r\n"), &hidden),
    );
    for (name, value) in [
        ("CL with plus", "+0"),
        ("CL negative", "-1"),
        ("CL hex", "0x0"),
        ("CL with letters", "0a"),
        ("CL list", "0, 5"),
        ("CL equal list", "0, 0"),
        ("CL empty", ""),
        ("CL with point", "0.0"),
        ("CL with underscore", "0_0"),
        ("CL beyond u64", "18446744073709551616"),
        ("CL beyond u128", "340282366920938463463374607431768211456"),
        ("CL with space", "0 0"),
        ("CL quoted", "\"0\""),
    ] {
        add(name, post(&format!("Content-Length: {value}\r\n"), &hidden));
    }
    for (name, value) in [
        ("TE xchunked", "xchunked"),
        ("TE identity", "identity"),
        ("TE gzip", "gzip"),
        ("TE chunked twice", "chunked, chunked"),
        ("TE chunked, identity", "chunked, identity"),
        ("TE with vertical tab", "\u{b}chunked"),
        ("TE quoted", "\"chunked\""),
        ("TE with semicolon", "chunked;x=1"),
        ("TE with NUL", "chunked\0"),
        ("TE empty", ""),
        ("TE cow", "cow"),
    ] {
        let headers =
            format!("Content-Length: {}\r\nTransfer-Encoding: {value}\r\n", chunked.len());
        add(name, post(&headers, &chunked));
    }
    for (name, header) in [
        ("space before colon", "Transfer-Encoding : chunked\r\n"),
        ("space before name", " Transfer-Encoding: chunked\r\n"),
        ("tab before colon", "Transfer-Encoding\t: chunked\r\n"),
        ("folded value", "Transfer-Encoding:\r\n chunked\r\n"),
        ("folded header", "X: y\r\n Transfer-Encoding: chunked\r\n"),
        ("bare LF", "X: y\nTransfer-Encoding: chunked\r\n"),
        ("bare CR", "X: y\rTransfer-Encoding: chunked\r\n"),
        ("NUL in value", "X: y\0z\r\n"),
        ("NUL in name", "X\0: y\r\n"),
        ("no colon", "Transfer-Encoding chunked\r\n"),
        ("empty name", ": chunked\r\n"),
        ("name with parenthesis", "X(: y\r\n"),
        ("name not ASCII", "Transfer-Encod\u{ed}ng: chunked\r\n"),
    ] {
        let headers = format!("{header}Content-Length: 0\r\n");
        add(name, post(&headers, &hidden));
    }
    for (name, body) in [
        ("chunk size beyond u64", format!("10000000000000000\r\nx\r\n{chunked}")),
        ("chunk size with plus", format!("+0\r\n\r\n{hidden}")),
        ("chunk size with 0x", format!("0x0\r\n\r\n{hidden}")),
        ("chunk size negative", format!("-1\r\n\r\n{hidden}")),
        ("chunk size empty", format!("\r\n\r\n{hidden}")),
        ("chunk with bare LF", format!("0\n\n{hidden}")),
        ("chunk data too long", format!("1\r\nxx\r\n0\r\n\r\n{hidden}")),
        ("chunk extension without end", format!("0;{}", "x".repeat(200_000))),
        ("trailers without end", format!("0\r\n{}", "X: y\r\n".repeat(20_000))),
    ] {
        add(name, post("Transfer-Encoding: chunked\r\n", &body));
    }
    add("GET with CL body", get(&format!("Content-Length: {length}\r\n"), &hidden));
    add(
        "lone LF line ends",
        format!("POST /v1/jobs/claim HTTP/1.1\nHost: {host}\nContent-Length: 0\n\n{hidden}"),
    );
    add(
        "two Hosts",
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n{hidden}"),
    );
    add("no Host", format!("GET /v1/jobs HTTP/1.1\r\n\r\n{hidden}"));
    add(
        "absolute form elsewhere",
        format!(
            "GET http://evil.test/v1/jobs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n{hidden}"
        ),
    );
    add(
        "HTTP/1.0 with TE",
        format!(
            "POST /v1/jobs/claim HTTP/1.0\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"
        ),
    );
    add("HTTP/1.0", format!("GET /healthz HTTP/1.0\r\n\r\n{hidden}"));
    add("HTTP/3.7", format!("GET /healthz HTTP/3.7\r\nHost: {host}\r\n\r\n{hidden}"));
    add("HTTP/0.9", format!("GET /v1/jobs\r\n{hidden}"));
    add("two spaces", format!("GET  /v1/jobs HTTP/1.1\r\nHost: {host}\r\n\r\n{hidden}"));
    add(
        "tab in the request line",
        format!("GET\t/v1/jobs HTTP/1.1\r\nHost: {host}\r\n\r\n{hidden}"),
    );
    add("NUL in the path", format!("GET /v1/\0jobs HTTP/1.1\r\nHost: {host}\r\n\r\n{hidden}"));
    add("method with a space", format!("GE T /v1/jobs HTTP/1.1\r\nHost: {host}\r\n\r\n{hidden}"));
    add("many headers", get(&"X: y\r\n".repeat(500), &hidden));
    add("a long header", get(&format!("X: {}\r\n", "y".repeat(1_000_000)), &hidden));
    add(
        "a long path",
        format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n{hidden}", "x".repeat(1_000_000)),
    );
    rows
}

/// Case 74, smuggling · one request in, one answer out, else close
#[test]
fn case_74_smuggling_vectors() {
    let server = Server::start();
    let mut client = server.client();
    let vectors = smuggling(&server.address().to_string());
    assert!(vectors.len() >= 60, "{} vectors", vectors.len());
    for (name, bytes) in &vectors {
        let mut connection = Connection::open(server.address()).unwrap();
        // The server may close while a long one is still being sent.
        let _ = connection.send_raw(bytes.as_bytes());
        connection.half_close();
        let answer = connection.drain(Duration::from_secs(20));
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("HTTP/1.1 5"), "{name}: {answer}");
        let made = list(&mut client, "task=hidden").len();
        if hides_by_right(name) {
            continue;
        }
        assert_eq!(made, 0, "{name}: the hidden request was run; answers:\n{answer}");
        let answers = answer.matches("HTTP/1.").count();
        assert!(answers <= 1, "{name}: {answers} answers:\n{answer}");
    }
    client.get("/healthz");
    assert!(!server.process().log().contains("panicked"));
}

/// Vectors in which the second request stands behind a whole first one by every reading, so that
/// it is not hidden at all.
fn hides_by_right(_name: &str) -> bool {
    false
}

/// Case 74, noise · random bytes on the port
#[test]
fn case_74_random_bytes_on_the_port() {
    let server = Server::start();
    let mut chance = StdRng::seed_from_u64(74);
    let whole = request(server.address(), "POST", "/v1/jobs", &[], Some(br#"{"task":"noise"}"#));
    for round in 0..300 {
        let mut bytes = whole.clone();
        if round % 3 == 0 {
            bytes = (0..chance.random_range(1..500)).map(|_| chance.random()).collect();
        } else {
            for _ in 0..chance.random_range(1..6) {
                let at = chance.random_range(0..bytes.len());
                bytes[at] = chance.random();
            }
        }
        let mut connection = Connection::open(server.address()).unwrap();
        let _ = connection.send_raw(&bytes);
        connection.half_close();
        let answer = connection.drain(Duration::from_secs(20));
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains("HTTP/1.1 5"), "{:?}: {answer}", String::from_utf8_lossy(&bytes));
    }
    create(&mut server.client(), &json!({"task": "t"}));
    assert!(!server.process().log().contains("panicked"));
}
