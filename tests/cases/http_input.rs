//! Bodies that are no good JSON, and callers from the wrong place.

use halyard_tests::server::{Server, Setup};
use halyard_tests::wire::{Answer, Client, Connection};
use serde_json::{Value, json};

use crate::acting::{create, id, job, list};

/// Case 70 · Buttons pressed by another site
#[test]
fn case_70_buttons_pressed_by_another_site() {
    let server = Server::start();
    let mut client = server.client();
    let own = server.address().to_string();
    let made = id(&create(&mut client, &json!({"task": "t"})));
    let cancel = format!("/v1/jobs/{made}/cancel");

    let elsewhere: [&[(&str, &str)]; 7] = [
        &[("Origin", "http://evil.test")],
        &[("Origin", "null")],
        &[("Origin", "http://127.0.0.1:1")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")],
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", "http://evil.test")],
    ];
    for headers in elsewhere {
        for body in [None, Some(&b"{}"[..])] {
            with(&client, headers).call_raw("POST", &cancel, body).refused(403, "forbidden");
        }
        with(&client, headers).delete(&format!("/v1/jobs/{made}")).refused(403, "forbidden");
        with(&client, headers).get(&format!("/v1/jobs/{made}")).refused(403, "forbidden");
    }
    // A form, or a "simple" request with JSON in it.
    for media in ["application/x-www-form-urlencoded", "text/plain"] {
        let mut form = with(&client, &[("Content-Type", media)]);
        form.call_raw("POST", "/v1/jobs", Some(br#"{"task":"t"}"#))
            .refused(415, "unsupported_media_type");
    }
    // No method is taken from anywhere but the request line, and no GET changes anything.
    with(&client, &[("X-HTTP-Method-Override", "DELETE")]).get(&format!("/v1/jobs/{made}"));
    assert_eq!(client.get(&cancel).status, 405);
    let answer = client.get(&format!("/v1/jobs/{made}"));
    assert!(answer.header("access-control-allow-origin").is_none());

    for host in
        ["evil.test", "localhost.evil.test", "127.0.0.1.nip.test", "evil.test:80", "10.0.0.1"]
    {
        let mut rebound = with(&client, &[("Host", host)]);
        rebound.post(&cancel, &json!({})).refused(421, "unknown_host");
        rebound.get("/v1/jobs").refused(421, "unknown_host");
        assert_eq!(with(&client, &[("Host", host)]).get("/healthz").status, 200);
    }
    assert_eq!(job(&mut client, &made)["state"], "queued", "another site had an effect");
    for host in [own.as_str(), "localhost", "localhost:1", "127.0.0.1", "[::1]:7373", "LOCALHOST"] {
        assert_eq!(with(&client, &[("Host", host)]).get("/v1/jobs").status, 200, "{host}");
    }
    let origin = format!("http://{own}");
    let mut same = with(&client, &[("Origin", &origin), ("Sec-Fetch-Site", "same-origin")]);
    assert_eq!(same.post(&cancel, &json!({})).expect(200)["state"], "cancelled");

    for head in [
        "GET /v1/jobs HTTP/1.1\r\n\r\n".to_owned(),
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {own}\r\nHost: {own}\r\n\r\n"),
        format!("GET /v1/jobs HTTP/1.1\r\nHost: {own}\r\nHost: evil.test\r\n\r\n"),
    ] {
        let mut connection = Connection::open(server.address()).unwrap();
        connection.send_raw(head.as_bytes()).unwrap();
        assert_eq!(connection.receive().unwrap().status, 400, "{head}");
    }
}

/// With a valid key, or by name, other hosts are answered.
#[test]
fn a_host_may_be_allowed() {
    const KEY: &str = "secret-key-0123456789abcdef";
    let server = Setup::new()
        .env("HALYARD_API_KEY", KEY)
        .env("HALYARD_ALLOWED_HOSTS", "jobs.example.test,other.test")
        .start();
    let bearer = format!("Bearer {KEY}");
    let call = |host: &str, key: &str| -> Answer {
        with(&server.client(), &[("Host", host), ("Authorization", key)]).get("/v1/jobs")
    };
    assert_eq!(call("jobs.example.test", &bearer).status, 200);
    assert_eq!(call("elsewhere.test", &bearer).status, 200);
    call("jobs.example.test", "Bearer wrong").refused(401, "unauthenticated");
    call("elsewhere.test", "Bearer wrong").refused(421, "unknown_host");
}

fn with(client: &Client, headers: &[(&str, &str)]) -> Client {
    headers.iter().fold(client.clone(), |client, (name, value)| client.with_header(name, value))
}

/// Bodies that are no JSON text of one value.
fn malformed() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 44] = [
        b" ",
        b"{",
        b"}",
        b"[",
        b"{\"task\"",
        b"{\"task\":",
        b"{\"task\":\"t\"",
        b"{\"task\":\"t\",}",
        b"{\"task\":\"t\"}}",
        b"{\"task\":\"t\"} x",
        b"{\"task\":\"t\"}{}",
        b"{task:\"t\"}",
        b"{'task':'t'}",
        b"{\"task\":'t'}",
        b"{\"task\":\"t}",
        b"{\"task\":\"\\x\"}",
        b"{\"task\":\"\\u12\"}",
        b"{\"task\":\"\x01\"}",
        b"{\"task\":\"\n\"}",
        b"{\"task\":\"\xff\"}",
        b"{\"task\":\"\xc0\xaf\"}",
        b"{\"task\":\"\xed\xa0\x80\"}",
        b"{\"task\":\"\xf4\x90\x80\x80\"}",
        b"{\"task\":\"t\",\"payload\":NaN}",
        b"{\"task\":\"t\",\"payload\":Infinity}",
        b"{\"task\":\"t\",\"payload\":-Infinity}",
        b"{\"task\":\"t\",\"payload\":01}",
        b"{\"task\":\"t\",\"payload\":+1}",
        b"{\"task\":\"t\",\"payload\":.5}",
        b"{\"task\":\"t\",\"payload\":1.}",
        b"{\"task\":\"t\",\"payload\":1e}",
        b"{\"task\":\"t\",\"payload\":0x1}",
        b"{\"task\":\"t\",\"payload\":-}",
        b"{\"task\":\"t\",\"payload\":[1,]}",
        b"{\"task\":\"t\",\"payload\":[,1]}",
        b"{\"task\":\"t\",\"payload\":[1 2]}",
        b"{\"task\":\"t\",\"payload\":{\"a\" 1}}",
        b"{\"task\":\"t\",\"payload\":tru}",
        b"{\"task\":\"t\",\"payload\":True}",
        b"{\"task\":\"t\",\"payload\":undefined}",
        b"{\"task\":\"t\" /* c */}",
        b"\xef\xbb\xbf{\"task\":\"t\"}",
        b"{\0}",
        b"\0",
    ];
    let mut bodies: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
    bodies.push(b"[".repeat(100_000));
    bodies.push(b"{\"a\":".repeat(100_000));
    let utf16: Vec<u8> = "{\"task\":\"t\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bodies.push(utf16);
    bodies
}

/// Case 74 · Malformed input must not stop the server
#[test]
fn case_74_malformed_input_must_not_stop_the_server() {
    let server = Server::start();
    let mut client = server.client();
    create(&mut client, &json!({"task": "warm"}));
    let before = server.process().memory();
    for path in
        ["/v1/jobs", "/v1/jobs/batch", "/v1/jobs/claim", "/v1/jobs/finish", "/v1/jobs/heartbeat"]
    {
        for body in malformed() {
            let answer = client.call_raw("POST", path, Some(&body));
            let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            assert_eq!(answer.status, 400, "{path} {shown:?}: {}", answer.text());
            assert_eq!(answer.code(), "malformed_json", "{path} {shown:?}: {}", answer.text());
        }
        for body in ["null", "7", "\"x\"", "[]", "true"] {
            client.call_raw("POST", path, Some(body.as_bytes())).refused(400, "invalid_field");
        }
    }
    // Well-formed, and still refused: two members of one name, too deep, too long.
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    let create = |payload: &str| format!(r#"{{"task":"t","payload":{payload}}}"#);
    let refused = [
        (r#"{"task":"t","task":"t"}"#.to_owned(), 400),
        (create(r#"{"a":1,"a":1}"#), 400),
        (create(r#"{"a":1,"\u0061":2}"#), 400),
        (create(r#"[[{"x":{"a":1,"b":2,"a":1}}]]"#), 400),
        (create(&deep(100_000)), 400),
        (create(&"1".repeat(10_000_000)), 413),
        (create(&format!("[{}1]", "1,".repeat(1_500_000))), 413),
    ];
    for (body, status) in &refused {
        let answer = server.client().call_raw("POST", "/v1/jobs", Some(body.as_bytes()));
        assert_eq!(answer.status, *status, "{}: {}", &body[..body.len().min(60)], answer.text());
    }
    assert_eq!(list(&mut client, "").len(), 1, "a malformed call made a job");
    let log = server.process().log();
    assert!(!log.contains("panicked"), "{log}");
    let long = log.lines().map(str::len).max().unwrap_or_default();
    assert!(long <= 4096, "a log line of {long} bytes");
    let grown = server.process().memory().saturating_sub(before);
    assert!(grown < 100 * 1024 * 1024, "{grown} bytes of memory more than before");
    client.get("/healthz");
}

/// Names with line breaks and escape codes reach neither header nor log as they are.
#[test]
fn odd_names_do_not_reach_headers_or_logs() {
    let server = Setup::new().env("HALYARD_LOG", "debug").start();
    let mut client = server.client();
    for path in ["/v1/%0d%0aX-Evil:%201", "/v1/jobs/%1b%5b31m", "/v1/queues/%e2%80%ae", "/%00"] {
        let answer = client.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.header("x-evil").is_none());
    }
    let odd = json!({
        "worker": {"id": "w", "name": "n\r\n\u{1b}[31mred", "sdk": "s\u{202e}"},
        "queues": ["default"],
    });
    let answer = client.post("/v1/jobs/claim", &odd);
    assert!(matches!(answer.status, 200 | 400), "{}", answer.text());
    client.with_header("X-Request-Id", "\u{1b}[31m").get("/v1/jobs");
    let log = server.process().log();
    let escapes = log.chars().filter(|one| *one == '\u{1b}').count();
    assert_eq!(escapes, 0, "an escape code in the log: {log:?}");
    let _: Value = client.get("/v1/jobs").expect(200);
}
