//! Requests that no proper client sends: slow ones and broken ones.

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

/// The length of a large body, in bytes.
const LARGE: usize = 16 * 1024 * 1024;

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
    // A client that closes its half behind a whole request is answered, or taken for gone.
    let mut half = Connection::open(host).unwrap();
    half.send_raw(&whole).unwrap();
    half.half_close();
    let answered = usize::from(half.receive().is_ok_and(|answer| answer.status == 201));
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
    let made = list(&mut client, "task=slow").len();
    assert!((answered..=1).contains(&made), "{made} jobs of one whole request");
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

/// A connection on which a batch of 16 MiB was begun, and this much of its body sent.
fn stuck(server: &Server, sent: usize) -> Connection {
    let host = server.address();
    let head = format!(
        "POST /v1/jobs/batch HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {LARGE}\r\n\r\n"
    );
    let mut connection = Connection::open(host).unwrap();
    connection.send_raw(head.as_bytes()).unwrap();
    // A server that refuses early may close before all is written.
    let _ = connection.send_raw(&vec![b' '; sent]);
    connection
}

/// Large bodies that never come to their end take up the room that all of them share: then others
/// are told to come back, small calls go on, and the room is given back with the connections.
#[test]
fn too_many_large_bodies_are_told_to_come_back() {
    let server = Server::start();
    let mut client = server.client();
    let large = json!({"task": "large", "payload": "x".repeat(500_000)});
    let mut all = Vec::new();
    let refused = until("the room to be taken", || {
        // Bodies that come at the same time may be refused all together and give their room back.
        all.push(stuck(&server, LARGE - 1));
        let answer = server.client().post("/v1/jobs", &large);
        (answer.status != 201).then_some(answer)
    });
    assert!(refused.header("retry-after").is_some_and(|wait| wait.parse::<u64>().is_ok()));
    assert_eq!(refused.refused(503, "overloaded")["retryable"], true);
    create(&mut client, &json!({"task": "small"}));
    client.get("/v1/jobs").expect(200);
    all.clear();
    until("the room to be given back", || {
        (server.client().post("/v1/jobs", &large).status == 201).then_some(())
    });
    assert_eq!(list(&mut client, "task=small").len(), 1);
}

/// What a client declares and does not send takes nothing from others.
#[test]
fn bodies_take_room_as_they_come() {
    let server = Server::start();
    let large = json!({"task": "large", "payload": "x".repeat(500_000)});
    let mut all = Vec::new();
    for _ in 0..60 {
        all.push(stuck(&server, 200_000));
        server.client().post("/v1/jobs", &large).expect(201);
    }
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
