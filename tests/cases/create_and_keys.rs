//! Creating jobs, and idempotency keys.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::Duration;

use halyard_tests::ids::job_id;
use halyard_tests::server::Server;
use halyard_tests::until;
use halyard_tests::wire::{Client, Connection};
use serde_json::{Value, json};

use crate::acting::{
    act, claim, claim_one, completed, create, essence, finish_ok, id, job, list, spin,
};

/// Case 1 · Same key from 64 callers on two servers
#[test]
fn case_01_same_key_from_64_callers() {
    const CALLERS: usize = 64;
    let server = Server::start();
    let mut clients: Vec<Client> = (0..CALLERS).map(|_| server.client()).collect();
    for round in 0..20 {
        let barrier = Barrier::new(CALLERS);
        let answers: Vec<(u64, String)> = std::thread::scope(|scope| {
            let callers: Vec<_> = clients
                .iter_mut()
                .enumerate()
                .map(|(caller, client)| {
                    // Every second round, half of the callers come through a batch.
                    let batch = round % 2 == 1 && caller % 2 == 1;
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        ask_for_key(client, round, batch)
                    })
                })
                .collect();
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        let ids: BTreeSet<&String> = answers.iter().map(|(_, id)| id).collect();
        assert_eq!(ids.len(), 1, "round {round}: {ids:?}");
        let made = answers.iter().filter(|(status, _)| *status == 201).count();
        let same = answers.iter().filter(|(status, _)| *status == 200).count();
        assert_eq!((made, same), (1, CALLERS - 1), "round {round}");
    }
    assert_eq!(list(&mut clients[0], "task=t").len(), 20);
}

/// Status and id of one create, alone or in a batch.
fn ask_for_key(client: &mut Client, round: usize, batch: bool) -> (u64, String) {
    let key = format!("k{round}");
    let body = json!({"task": "t", "payload": {"n": round}, "idempotency_key": key});
    if batch {
        let all = client.post("/v1/jobs/batch", &json!({"jobs": [body]})).expect(200);
        let result = &all["results"][0];
        (result["status"].as_u64().unwrap(), id(&result["job"]))
    } else {
        let answer = client.post("/v1/jobs", &body);
        (u64::from(answer.status), id(&answer.json()))
    }
}

/// Case 2 · Reply to create lost after the commit
#[test]
fn case_02_reply_to_create_lost_after_the_commit() {
    let server = Server::start();
    let mut client = server.client();
    for round in 0..60_u64 {
        let task = format!("t{round}");
        let mut body = json!({"task": task, "payload": {"n": round}});
        if round % 2 == 0 {
            body["idempotency_key"] = json!("k");
        } else {
            body["id"] = json!(job_id());
        }
        let bytes = body.to_string().into_bytes();
        let mut connection = Connection::open(server.address()).unwrap();
        if round % 3 == 0 {
            // Cut before the commit: the request is not whole.
            let whole = halyard_tests::wire::request(
                server.address(),
                "POST",
                "/v1/jobs",
                &[],
                Some(&bytes),
            );
            connection.send_raw(&whole[..whole.len() - 5]).unwrap();
        } else {
            connection.send("POST", "/v1/jobs", &[], Some(&bytes)).unwrap();
        }
        // Cut at once, or a little later, when the commit may be over.
        spin(Duration::from_micros(200 * (round % 7)));
        connection.reset();
        let repeat = client.post("/v1/jobs", &body);
        assert!(matches!(repeat.status, 200 | 201), "{}", repeat.text());
        if round % 3 == 0 {
            assert_eq!(repeat.status, 201, "half a request made a job");
        }
    }
    // Only now is it sure that no lost call is still under way: the server has stopped in order.
    let mut server = server;
    assert!(server.stop().success());
    server.restart();
    let mut client = server.client();
    for round in 0..60 {
        assert_eq!(list(&mut client, &format!("task=t{round}")).len(), 1, "round {round}");
    }
}

/// Case 3 · Same key, another body or operation
#[test]
fn case_03_same_key_another_body_or_operation() {
    let server = Server::start();
    let mut client = server.client();
    let first = json!({
        "task": "x", "queue": "a", "payload": {"p": 1, "q": 2}, "idempotency_key": "k",
    });
    let made = create(&mut client, &first);
    let before = essence(&mut client, &id(&made));

    let spaced = br#"{ "idempotency_key":"k", "payload": {"q" : 2.0,
        "p":1 }, "queue":"a","task":"x" }"#;
    let same = client.call_raw("POST", "/v1/jobs", Some(spaced));
    assert_eq!(same.header("idempotent-replayed"), Some("true"));
    let same = same.expect(200);
    assert_eq!((&same["id"], &same["replayed"]), (&made["id"], &json!(true)));

    let mut other = first.clone();
    other["payload"]["p"] = json!(2);
    let refused = client.post("/v1/jobs", &other).refused(422, "idempotency_key_reused");
    assert_eq!(refused["job_id"], made["id"]);
    assert_eq!(refused["changed"], json!(["/p"]));
    let batch = client.post("/v1/jobs/batch", &json!({"jobs": [other]})).expect(200);
    assert_eq!(batch["results"][0]["status"], 422);
    assert_eq!(batch["results"][0]["error"]["code"], "idempotency_key_reused");
    assert_eq!(batch["results"][0]["error"]["job_id"], made["id"]);

    for (name, value) in [("queue", json!("b")), ("run_at", json!("2000-01-01T00:00:00.000Z"))] {
        let mut other = first.clone();
        other[name] = value;
        assert_eq!(client.post("/v1/jobs", &other).expect(200)["id"], made["id"], "{name}");
    }
    assert_eq!(essence(&mut client, &id(&made)), before, "a duplicate changed the job");
    let mut other = first.clone();
    other["task"] = json!("y");
    assert_ne!(create(&mut client, &other)["id"], made["id"]);
    assert_eq!(list(&mut client, "").len(), 2);
}

/// Case 4 · Key longer than an index row
#[test]
fn case_04_key_longer_than_an_index_row() {
    let server = Server::start();
    let mut client = server.client();
    let mut keyed = |key: &str| {
        client.post("/v1/jobs", &json!({"task": "t", "payload": key.len(), "idempotency_key": key}))
    };
    for length in [1, 255] {
        keyed(&"x".repeat(length)).expect(201);
    }
    for length in [256, 2_700, 3_300, 10_000] {
        let refused = keyed(&"x".repeat(length)).refused(400, "invalid_field");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("idempotency_key") && detail.contains("255"), "{detail}");
        assert!(detail.len() < 1_000, "the detail repeats all of a long value");
    }
    keyed(&"\u{1f600}".repeat(255)).expect(201);
    keyed(&"\u{1f600}".repeat(256)).refused(400, "invalid_field");
    // Composed and decomposed forms of one word are two keys.
    keyed("caf\u{e9}").expect(201);
    keyed("cafe\u{301}").expect(201);

    let tags = |tag: String| json!({"task": "t", "tags": [tag]});
    create(&mut client, &tags("x".repeat(128)));
    let refused = client.post("/v1/jobs", &tags("x".repeat(129))).refused(400, "invalid_field");
    assert_eq!(refused["errors"][0]["pointer"], "/tags/0");
    let lease = claim_one(&mut client, &json!({}));
    let mut named = |name: String| {
        let body = json!({"token": lease.token, "name": name});
        client.post(&format!("/v1/jobs/{}/checkpoints", lease.id), &body)
    };
    named("\u{1f600}".repeat(128)).expect(201);
    let refused = named("x".repeat(129)).refused(400, "invalid_field");
    assert!(refused["detail"].as_str().unwrap().contains("128"), "{refused}");
}

/// Case 5 · NUL and control characters in names
#[test]
fn case_05_nul_and_control_characters_in_names() {
    let server = Server::start();
    let mut client = server.client();
    let create = |member: &str| format!(r#"{{"task":"t",{member}}}"#);
    let claim = |member: &str| format!(r#"{{"queues":["default"],{member}}}"#);
    let names = |text: &str| {
        [
            ("/v1/jobs", create(&format!(r#""idempotency_key":"a{text}b""#)), "idempotency_key"),
            ("/v1/jobs", create(&format!(r#""queue":"a{text}b""#)), "queue"),
            ("/v1/jobs", format!(r#"{{"task":"a{text}b"}}"#), "task"),
            ("/v1/jobs", create(&format!(r#""tags":["a{text}b"]"#)), "tags"),
            ("/v1/jobs/claim", claim(&format!(r#""worker":{{"id":"a{text}b"}}"#)), "worker"),
        ]
    };
    let payloads = |text: &str| {
        [
            ("/v1/jobs", create(&format!(r#""payload":{{"x":[{{"y":"a{text}b"}}]}}"#)), "payload"),
            ("/v1/jobs", create(&format!(r#""payload":{{"x":[{{"a{text}b":1}}]}}"#)), "payload"),
        ]
    };
    for text in [r"\u0000", r"\ud800", r"\udc00\ud800"] {
        for (path, body, field) in names(text).into_iter().chain(payloads(text)) {
            let refused = client.call_raw("POST", path, Some(body.as_bytes()));
            let refused = refused.refused(400, "invalid_field");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(field), "{body}: {detail}");
        }
    }
    for text in [r"\u0001", r"\r\n", r"\u001b[31m", r"\u007f", r"\u0085"] {
        for (path, body, field) in names(text) {
            let refused = client.call_raw("POST", path, Some(body.as_bytes()));
            let refused = refused.refused(400, "invalid_field");
            assert!(refused["detail"].as_str().unwrap().contains(field), "{body}: {refused}");
        }
    }
    assert_eq!(list(&mut client, ""), Vec::<Value>::new(), "a refused call stored something");

    let body = create(r#""payload":{"x\u0001":"\u0001\r\n\u202e"}"#);
    let made = client.call_raw("POST", "/v1/jobs", Some(body.as_bytes())).expect(201);
    let kept = job(&mut client, &id(&made))["payload"].clone();
    assert_eq!(kept, json!({"x\u{1}": "\u{1}\r\n\u{202e}"}));
    for (path, body, field) in names(r"\u202e") {
        let answer = client.call_raw("POST", path, Some(body.as_bytes()));
        match field {
            "idempotency_key" => assert_eq!(answer.status, 201, "{}", answer.text()),
            _ => drop(answer.refused(400, "invalid_field")),
        }
    }
}

/// Case 7 · Duplicate keys inside one batch, one bad item
#[test]
fn case_07_duplicate_keys_inside_one_batch_one_bad_item() {
    let server = Server::start();
    let mut client = server.client();
    let mut items: Vec<Value> = (0..100)
        .map(|n| json!({"task": "t", "payload": n, "idempotency_key": format!("k{n}")}))
        .collect();
    items[97] = items[3].clone();
    items[50]["task"] = json!(7);
    let refused = client.post("/v1/jobs/batch", &json!({"jobs": items}));
    let refused = refused.refused(400, "invalid_field");
    assert_eq!(refused["errors"][0]["pointer"], "/jobs/50/task");
    assert_eq!(list(&mut client, ""), Vec::<Value>::new(), "a refused batch stored something");

    items.remove(50);
    let body = json!({ "jobs": items });
    let first = client.post("/v1/jobs/batch", &body).expect(200);
    let first = first["results"].as_array().unwrap();
    assert_eq!(first.len(), 99);
    for (index, result) in first.iter().enumerate() {
        assert_eq!(result["status"], if index == 96 { 200 } else { 201 }, "item {index}");
    }
    assert_eq!(first[96]["job"]["id"], first[3]["job"]["id"]);
    assert_eq!(list(&mut client, "").len(), 98);

    let second = client.post("/v1/jobs/batch", &body).expect(200);
    for (index, result) in second["results"].as_array().unwrap().iter().enumerate() {
        assert_eq!(result["status"], 200);
        assert_eq!(result["job"]["id"], first[index]["job"]["id"]);
        assert_eq!(result["job"]["replayed"], true);
    }
    assert_eq!(list(&mut client, "").len(), 98);
}

/// Case 9 · Uniqueness on every way in
#[test]
fn case_09_uniqueness_on_every_way_in() {
    let server = Server::start();
    let mut client = server.client();
    let keyed = json!({"task": "t", "payload": {"n": 1}, "idempotency_key": "k"});
    let first = id(&create(&mut client, &keyed));
    assert_eq!(client.post("/v1/jobs", &keyed).expect(200)["id"], first.as_str());
    let batch = client.post("/v1/jobs/batch", &json!({"jobs": [keyed, keyed]})).expect(200);
    for result in batch["results"].as_array().unwrap() {
        assert_eq!((&result["status"], &result["job"]["id"]), (&json!(200), &json!(first)));
    }
    // With a client's id and with a request key too, the body's key names the one job.
    let mut with_id = keyed.clone();
    with_id["id"] = json!(job_id());
    assert_eq!(client.post("/v1/jobs", &with_id).expect(200)["id"], first.as_str());
    let mut with_header = client.with_header("Idempotency-Key", "request-1");
    assert_eq!(with_header.post("/v1/jobs", &keyed).expect(200)["id"], first.as_str());
    // A handler of that very job asks for it.
    let lease = claim_one(&mut client, &json!({}));
    assert_eq!(client.post("/v1/jobs", &keyed).expect(200)["id"], first.as_str());
    finish_ok(&mut client, &lease, &completed(json!(null)));
    assert_eq!(client.post("/v1/jobs", &keyed).expect(200)["id"], first.as_str());
    // "Run as new" says that it makes another job, without the key.
    let again = act(&mut client, &first, "run-as-new", &json!({})).expect(201);
    assert_ne!(again["id"], first.as_str());
    assert_eq!((&again["idempotency_key"], &again["rerun_of"]), (&json!(null), &json!(first)));
    let holder = client.get("/v1/keys?task=t&key=k").expect(200);
    assert_eq!(holder["job_id"], first.as_str());
    assert_eq!(list(&mut client, "task=t&idempotency_key=k").len(), 1);
}

/// Case 10 · Odd run_at values
#[test]
fn case_10_odd_run_at_values() {
    let server = Server::start();
    let mut client = server.client();
    let make = |client: &mut Client, run_at: &Value| {
        client.post("/v1/jobs", &json!({"task": "t", "payload": run_at, "run_at": run_at}))
    };
    let refused = [
        json!("9999-12-31T00:00:00.000Z"),
        json!(1e18),
        json!(1_764_425_000),
        json!(1_764_425_000_000_i64),
        json!("1764425000"),
        json!("2026-11-29T10:00:00"),
        json!("2026-11-29"),
        json!("2026-02-30T00:00:00Z"),
        json!("2026-13-01T00:00:00Z"),
        json!("2026-01-01T24:00:01Z"),
        json!("tomorrow"),
        json!(""),
        json!(false),
        json!({}),
    ];
    for run_at in &refused {
        let body = make(&mut client, run_at).refused(400, "invalid_field");
        assert_eq!(body["errors"][0]["pointer"], "/run_at", "{run_at}");
    }
    let both = json!({"task": "t", "run_at": "2000-01-01T00:00:00Z", "delay_ms": 1});
    client.post("/v1/jobs", &both).refused(400, "invalid_field");
    assert_eq!(list(&mut client, "").len(), 0);

    let mut now = vec![
        json!(null),
        json!("2000-01-01T00:00:00.000Z"),
        json!("1969-12-31T23:59:59Z"),
        json!("2000-01-01T00:00:00+02:00"),
    ];
    // A leap second is the beginning of the next minute, or refused: never a job that waits.
    let leap = make(&mut client, &json!("2016-12-31T23:59:60Z"));
    if leap.status == 201 {
        now.push(json!("2016-12-31T23:59:60Z"));
    } else {
        leap.refused(400, "invalid_field");
    }
    for run_at in now.iter().take(4) {
        assert_eq!(make(&mut client, run_at).expect(201)["state"], "queued", "{run_at}");
    }
    let soon = create(&mut client, &json!({"task": "t", "delay_ms": 700}));
    assert_eq!(soon["state"], "scheduled");
    let at = soon["run_at"].clone();
    assert_eq!(make(&mut client, &at).expect(201)["run_at"], at);
    let mut seen = 0;
    until("all of them to be claimed", || {
        seen += claim(&mut client, &json!({"max": 10, "wait_ms": 500})).len();
        (seen == now.len() + 2).then_some(())
    });
}
