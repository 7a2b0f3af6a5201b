//! Two requests in one: what proxies and servers have read differently.
//!
//! Each vector carries a second request where a careless reader finds it, which would make a job of
//! task `hidden`. One request in, one answer out, else the connection closes.

use std::time::Duration;

use halyard_tests::server::Server;
use halyard_tests::wire::Connection;

use crate::acting::list;

/// The parts that the vectors are made of.
struct Parts {
    host: String,
    /// The second request.
    hidden: String,
    /// The end of a chunked body, and then the second request.
    chunked: String,
}

impl Parts {
    fn new(host: String) -> Self {
        let body = r#"{"task":"hidden"}"#;
        let hidden = format!(
            "POST /v1/jobs HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let chunked = format!("0\r\n\r\n{hidden}");
        Self { host, hidden, chunked }
    }

    /// A POST with these header lines and this body.
    fn post(&self, headers: &str, body: &str) -> String {
        let host = &self.host;
        format!(
            "POST /v1/jobs/claim HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             {headers}\r\n{body}"
        )
    }

    /// Any first line and header lines, then the second request.
    fn then_hidden(&self, head: &str) -> String {
        format!("{head}\r\n{}", self.hidden)
    }
}

type Vectors = Vec<(String, String)>;

/// Doubts about the length.
fn lengths(parts: &Parts, all: &mut Vectors) {
    let whole = parts.hidden.len();
    let mut add = |headers: &str, body: &str| {
        all.push((format!("{headers:?}"), parts.post(headers, body)));
    };
    add("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", &parts.chunked);
    add("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", &parts.chunked);
    add("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", &parts.chunked);
    add(&format!("Content-Length: 0\r\nContent-Length: {whole}\r\n"), &parts.hidden);
    add(&format!("Content-Length: {whole}\r\nContent-Length: 0\r\n"), &parts.hidden);
    for value in [
        "+0",
        "-1",
        "0x0",
        "0a",
        "0, 5",
        "0, 0",
        "",
        "0.0",
        "0_0",
        "0 0",
        "\"0\"",
        "18446744073709551616",
        "340282366920938463463374607431768211456",
    ] {
        add(&format!("Content-Length: {value}\r\n"), &parts.hidden);
    }
}

/// Doubts about the transfer coding.
fn codings(parts: &Parts, all: &mut Vectors) {
    for value in [
        "xchunked",
        "identity",
        "gzip",
        "cow",
        "",
        "chunked, chunked",
        "chunked, identity",
        "chunked;x=1",
        "\u{b}chunked",
        "\"chunked\"",
        "chunked\0",
    ] {
        let length = parts.chunked.len();
        let headers = format!("Content-Length: {length}\r\nTransfer-Encoding: {value}\r\n");
        all.push((format!("TE {value:?}"), parts.post(&headers, &parts.chunked)));
    }
    for body in [
        format!("10000000000000000\r\nx\r\n{}", parts.chunked),
        format!("+0\r\n\r\n{}", parts.hidden),
        format!("0x0\r\n\r\n{}", parts.hidden),
        format!("-1\r\n\r\n{}", parts.hidden),
        format!("\r\n\r\n{}", parts.hidden),
        format!("0\n\n{}", parts.hidden),
        format!("1\r\nxx\r\n{}", parts.chunked),
        format!("0;{}", "x".repeat(200_000)),
        format!("0\r\n{}", "X: y\r\n".repeat(20_000)),
    ] {
        let name = format!("chunks {:?}", body.chars().take(10).collect::<String>());
        all.push((name, parts.post("Transfer-Encoding: chunked\r\n", &body)));
    }
}

/// Doubts about what a header is.
fn headers(parts: &Parts, all: &mut Vectors) {
    for header in [
        "Transfer-Encoding : chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding\t: chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n",
        "X: y\nTransfer-Encoding: chunked\r\n",
        "X: y\rTransfer-Encoding: chunked\r\n",
        "X: y\0z\r\n",
        "X\0: y\r\n",
        "Transfer-Encoding chunked\r\n",
        ": chunked\r\n",
        "X(: y\r\n",
        "Transfer-Encod\u{ed}ng: chunked\r\n",
    ] {
        let headers = format!("{header}Content-Length: 0\r\n");
        all.push((format!("header {header:?}"), parts.post(&headers, &parts.hidden)));
    }
}

/// Doubts about the request line, the host and the version.
fn lines(parts: &Parts, all: &mut Vectors) {
    let (host, whole) = (&parts.host, parts.hidden.len());
    for head in [
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\nContent-Length: {whole}\r\n"),
        format!("POST /v1/jobs/claim HTTP/1.1\nHost: {host}\nContent-Length: 0\n"),
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n"),
        "GET /v1/jobs HTTP/1.1\r\n".to_owned(),
        format!("GET http://evil.test/v1/jobs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"),
        "GET /healthz HTTP/1.0\r\n".to_owned(),
        format!("GET /healthz HTTP/3.7\r\nHost: {host}\r\n"),
        "GET /v1/jobs\r\n".to_owned(),
        format!("GET  /v1/jobs HTTP/1.1\r\nHost: {host}\r\n"),
        format!("GET\t/v1/jobs HTTP/1.1\r\nHost: {host}\r\n"),
        format!("GET /v1/\0jobs HTTP/1.1\r\nHost: {host}\r\n"),
        format!("GE T /v1/jobs HTTP/1.1\r\nHost: {host}\r\n"),
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\n{}", "X: y\r\n".repeat(500)),
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n", "y".repeat(1_000_000)),
        format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n", "x".repeat(1_000_000)),
    ] {
        let name = head.chars().take(80).collect::<String>();
        all.push((format!("head {name:?}"), parts.then_hidden(&head)));
    }
    let old = format!("POST /v1/jobs/claim HTTP/1.0\r\nHost: {host}\r\nTransfer-Encoding: chunked");
    all.push(("HTTP/1.0 with TE".into(), format!("{old}\r\n\r\n{}", parts.chunked)));
}

/// Case 74, smuggling · one request in, one answer out, else close
#[test]
fn case_74_smuggling_vectors() {
    let server = Server::start();
    let mut client = server.client();
    let parts = Parts::new(server.address().to_string());
    let mut vectors = Vectors::new();
    lengths(&parts, &mut vectors);
    codings(&parts, &mut vectors);
    headers(&parts, &mut vectors);
    lines(&parts, &mut vectors);
    assert!(vectors.len() >= 60, "{} vectors", vectors.len());
    let mut wrong = Vec::new();
    let mut hidden = 0;
    for (name, bytes) in &vectors {
        let mut connection = Connection::open(server.address()).unwrap();
        // The server may close while a long one is still being sent.
        let _ = connection.send_raw(bytes.as_bytes());
        connection.half_close();
        let answer = connection.drain(Duration::from_secs(20));
        let answer = String::from_utf8_lossy(&answer);
        let made = list(&mut client, "task=hidden").len();
        let answers = answer.matches("HTTP/1.").count();
        if answer.contains("HTTP/1.1 5") || made > hidden || answers > 1 {
            let made = made - hidden;
            wrong.push(format!("{name}: {answers} answers, {made} hidden jobs:\n{answer}"));
        }
        hidden = made;
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), vectors.len(), wrong.join("\n\n"));
    client.get("/healthz");
    assert!(!server.process().log().contains("panicked"));
}
