//! Bodies that are refused: with which code, where, and in which words.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use halyard_api::jobs::{
    batch, bulk, cancel, checkpoints, claim, create, finish, heartbeat, retry, run_as_new, run_now,
};
use halyard_api::problem::Code::{self, InvalidField, MalformedJson, MissingField, UnknownField};
use halyard_api::{Body, Faults};

type Read = fn(&Body<'_>) -> Result<(), Faults>;

const CREATE: Read = |body| create::read(body).map(drop);
const BATCH: Read = |body| batch::read(body).map(drop);
const RETRY: Read = |body| retry::read(body).map(drop);
const RUN_AS_NEW: Read = |body| run_as_new::read(body).map(drop);
const BULK: Read = |body| bulk::read(body).map(drop);
const CLAIM: Read = |body| claim::read(body).map(drop);
const HEARTBEAT: Read = |body| heartbeat::read(body).map(drop);
const CHECKPOINT: Read = |body| checkpoints::read(body).map(drop);
const FINISH: Read = |body| finish::read(body).map(drop);

fn read(read: Read, body: impl AsRef<[u8]>) -> Vec<(Code, String, String)> {
    let body = Body::parse(body.as_ref());
    let faults = body.and_then(|body| read(&body)).err().unwrap_or_default();
    let told =
        |e: &halyard_api::problem::FieldError| (e.code, e.pointer.clone(), e.message.clone());
    faults.errors().iter().map(told).collect()
}

/// The body has exactly these faults: code, pointer and words.
fn check(reader: Read, body: &str, wanted: &[(Code, &str, &str)]) {
    let found = read(reader, body);
    let found: Vec<_> = found.iter().map(|(c, p, m)| (*c, p.as_str(), m.as_str())).collect();
    assert_eq!(found, wanted, "{body}");
}

#[test]
fn accepted() {
    for (reader, body) in [
        (CREATE, r#"{"task":"t"}"#),
        (CREATE, r#" {"task":"t","queue":null,"payload":null,"tags":null,"backoff":null} "#),
        (CREATE, r#"{"task":"\u0074","tags":[],"backoff":{},"payload":1e999,"priority":-0}"#),
        (CREATE, r#"{"task":"t","run_at":null,"delay_ms":1}"#),
        (CREATE, r#"{"task":"t","run_at":"2026-11-29T08:15:30+01:00","delay_ms":null}"#),
        (BATCH, r#"{"jobs":[]}"#),
        (BATCH, r#"{"jobs":[{"task":"t"},{"task":"t"}]}"#),
        (RETRY, r#"{}"#),
        (RETRY, r#"{"life":1,"from":"a","fresh":false,"allow_completed":true}"#),
        (RUN_AS_NEW, r#"{"payload":[]}"#),
        (BULK, r#"{"action":"run_now","ids":["a"],"lives":{"a":2,"b":null},"filter":null}"#),
        (CLAIM, r#"{"worker":{"id":"w","pid":7},"queues":["a"],"later":[1]}"#),
        (
            CLAIM,
            r#"{"worker":{"id":"w"},"queues":["a"],"tasks":null,"wait_ms":99999999999999999999}"#,
        ),
        (HEARTBEAT, r#"{"worker":{"id":"w"},"draining":true}"#),
        (HEARTBEAT, r#"{"worker":{"id":"w"},"leases":[{"id":"a","token":"b","x":1}]}"#),
        (CHECKPOINT, r#"{"token":"a","name":"b","value":{"c":null},"x":1}"#),
    ] {
        check(reader, body, &[]);
    }
}

#[test]
fn not_json() {
    let faults = |body: &[u8]| read(CREATE, body);
    for (body, words) in [
        (&b""[..], "the body: there is no JSON value, at byte 0"),
        (b"{\"task\":\"t\"", "the body: the text ends too early, at byte 11"),
        (b"{'task':'t'}", "the body: a member name in double quotes is expected, at byte 1"),
        (b"{\"task\":\"\xff\"}", "the body: the text is not UTF-8, at byte 9"),
        (b"{\"task\":NaN}", "the body: a value is expected, at byte 8"),
        (b"{\"task\":\"a\0b\"}", "the body: a control character in a string must be escaped"),
    ] {
        let found = faults(body);
        let (code, _, message) = found.first().unwrap();
        assert_eq!((*code, found.len()), (MalformedJson, 1), "{message}");
        assert!(message.starts_with(words), "{message}");
    }
}

/// A create with this member is refused with these words about it.
fn check_member(member: &str, pointer: &str, words: &str) {
    let body = format!("{{\"task\":\"t\",{member}}}");
    check(CREATE, &body, &[(InvalidField, pointer, words)]);
}

#[test]
fn wrong_types() {
    check(CREATE, "[]", &[(InvalidField, "", "the body must be an object, not []")]);
    check(CREATE, "null", &[(InvalidField, "", "the body must be an object, not null")]);
    check(CREATE, "{}", &[(MissingField, "/task", "task is required")]);
    check(CREATE, r#"{"task":null}"#, &[(MissingField, "/task", "task is required")]);
    check(CREATE, r#"{"task":7}"#, &[(InvalidField, "/task", "task must be a string, not 7")]);
    for (member, pointer, words) in [
        (r#""backoff":5"#, "/backoff", "backoff must be an object, not 5"),
        (r#""tags":"a""#, "/tags", r#"tags must be an array, not "a""#),
        (r#""tags":["a",null]"#, "/tags/1", "tags[1] must be a string, not null"),
        (
            r#""if_failed":"Retry""#,
            "/if_failed",
            "if_failed must be one of return, retry, replace, not \"Retry\"; \
             did you mean \"retry\"?",
        ),
        (
            r#""if_failed":true"#,
            "/if_failed",
            "if_failed must be one of return, retry, replace, not true",
        ),
    ] {
        check_member(member, pointer, words);
    }
}

#[test]
fn numbers() {
    for (member, pointer, words) in [
        (
            r#""priority":"high""#,
            "/priority",
            r#"priority must be an integer, written without fraction and exponent, not "high""#,
        ),
        (
            r#""priority":1.0"#,
            "/priority",
            "priority must be an integer, written without fraction and exponent, not 1.0",
        ),
        (
            r#""delay_ms":1e3"#,
            "/delay_ms",
            "delay_ms must be an integer, written without fraction and exponent, not 1e3",
        ),
        (
            r#""delay_ms":9223372036854775808"#,
            "/delay_ms",
            "delay_ms must be an integer that fits in 64 bits, not 9223372036854775808",
        ),
        (
            r#""backoff":{"factor":"2"}"#,
            "/backoff/factor",
            r#"backoff.factor must be a number that a 64-bit float can hold, not "2""#,
        ),
        (
            r#""backoff":{"jitter":1e999}"#,
            "/backoff/jitter",
            "backoff.jitter must be a number that a 64-bit float can hold, not 1e999",
        ),
    ] {
        check_member(member, pointer, words);
    }
}

#[test]
fn times() {
    for (member, pointer, words) in [
        (r#""run_at":1795940130"#, "/run_at", "run_at must be a string, not 1795940130"),
        (
            r#""run_at":"2026-11-29T08:15:30""#,
            "/run_at",
            r#"run_at must end with an offset from UTC: Z or +hh:mm, not "2026-11-29T08:15:30""#,
        ),
        (
            r#""run_at":"2026-02-30T08:15:30Z""#,
            "/run_at",
            r#"run_at must be a day that the calendar has, not "2026-02-30T08:15:30Z""#,
        ),
        (
            r#""run_at":"2026-11-29T08:15:60Z""#,
            "/run_at",
            "run_at must have a time of day from 00:00:00 to 23:59:59, without leap seconds, \
             not \"2026-11-29T08:15:60Z\"",
        ),
        (
            r#""run_at":"2026-11-29T08:15:30Z","delay_ms":0"#,
            "/delay_ms",
            "delay_ms must be left out beside run_at, not 0",
        ),
    ] {
        check_member(member, pointer, words);
    }
}

#[test]
fn members_that_contradict() {
    let fresh = r#"{"from":"a","fresh":true}"#;
    check(
        RETRY,
        fresh,
        &[(InvalidField, "/from", r#"from must be left out beside fresh, not "a""#)],
    );
    let lives = r#"{"action":"retry","ids":["a"],"lives":{"a":"2"}}"#;
    check(
        BULK,
        lives,
        &[(
            InvalidField,
            "/lives/a",
            r#"lives.a must be an integer, written without fraction and exponent, not "2""#,
        )],
    );
    let tasks = r#"{"worker":{"id":"w"},"queues":["a"],"tasks":[]}"#;
    check(
        CLAIM,
        tasks,
        &[(InvalidField, "/tasks", "tasks must have at least one element, not []")],
    );
}

#[test]
fn long_and_dangerous_values_are_cut_and_escaped() {
    let body = format!("{{\"task\":[\"{}\"]}}", "x".repeat(5000));
    let wanted = format!("task must be a string, not [\"{}…", "x".repeat(78));
    check(CREATE, &body, &[(InvalidField, "/task", &wanted)]);
    let body = "{\"task\":[\"\u{202e}\u{7f}\",\n1]}";
    let wanted = r#"task must be a string, not ["\u{202e}\u{7f}",\n1]"#;
    check(CREATE, body, &[(InvalidField, "/task", wanted)]);
    let name = "n".repeat(5000);
    let wanted = format!("{}… is not known here", "n".repeat(80));
    check(RUN_AS_NEW, &format!("{{\"{name}\":1}}"), &[(UnknownField, "", &wanted)]);
}

#[test]
fn several_at_once() {
    check(
        CREATE,
        r#"{"queu":"q","idempotencyKey":"k","backoff":{"initial":1},"priority":{},"a/b~c":null}"#,
        &[
            (UnknownField, "/queu", r#"queu is not known here; did you mean "queue"?"#),
            (
                UnknownField,
                "/idempotencyKey",
                r#"idempotencyKey is not known here; did you mean "idempotency_key"?"#,
            ),
            (
                UnknownField,
                "/backoff/initial",
                r#"backoff.initial is not known here; did you mean "initial_ms"?"#,
            ),
            (
                InvalidField,
                "/priority",
                "priority must be an integer, written without fraction and exponent, not {}",
            ),
            (UnknownField, "/a~1b~0c", "a/b~c is not known here"),
            (MissingField, "/task", "task is required"),
        ],
    );
    check(
        BULK,
        r#"{"action":"run-now"}"#,
        &[
            (
                InvalidField,
                "/action",
                "action must be one of retry, cancel, delete, run_now, not \"run-now\"; \
                 did you mean \"run_now\"?",
            ),
            (MissingField, "/ids", "ids is required"),
        ],
    );
    check(
        CLAIM,
        r#"{"worker":{"name":3},"repeat":1}"#,
        &[
            (InvalidField, "/worker/name", "worker.name must be a string, not 3"),
            (MissingField, "/worker/id", "worker.id is required"),
            (InvalidField, "/repeat", "repeat must be true or false, not 1"),
            (MissingField, "/queues", "queues is required"),
        ],
    );
    check(
        HEARTBEAT,
        r#"{"worker":{"id":"w"},"leases":[{"id":"a"},{"id":1,"token":"t"},7]}"#,
        &[
            (MissingField, "/leases/0/token", "leases[0].token is required"),
            (InvalidField, "/leases/1/id", "leases[1].id must be a string, not 1"),
            (InvalidField, "/leases/2", "leases[2] must be an object, not 7"),
        ],
    );
}

#[test]
fn without_members() {
    let cancel: Read = |body| cancel::read(body);
    let run_now: Read = |body| run_now::read(body);
    for reader in [cancel, run_now] {
        check(reader, "{}", &[]);
        check(reader, r#"{"life":1}"#, &[(UnknownField, "/life", "life is not known here")]);
        check(reader, "[]", &[(InvalidField, "", "the body must be an object, not []")]);
    }
    for reader in [cancel, run_now, RETRY, RUN_AS_NEW] {
        let body = Body::parse_optional(b"").unwrap();
        assert_eq!(reader(&body), Ok(()));
    }
    assert!(Body::parse_optional(b"{").is_err());
}

/// NUL and control characters in names (the control characters are judged by the core).
#[test]
fn refused_text_names_its_field() {
    let nul = "the character U+0000 is not accepted";
    for (reader, body, pointer, words) in [
        (CREATE, r#"{"task":"a\u0000b"}"#, "/task", nul),
        (CREATE, r#"{"task":"t","idempotency_key":"\u0000"}"#, "/idempotency_key", nul),
        (CREATE, r#"{"task":"t","payload":{"a":[0,"\u0000"]}}"#, "/payload/a/1", nul),
        (CREATE, r#"{"task":"t","payload":{"\u0000":1}}"#, "/payload", nul),
        (CREATE, r#"{"task":"\ud800"}"#, "/task", "half of a surrogate pair stands alone"),
        (CREATE, r#"{"task":"t","task":"t"}"#, "/task", "the member \"task\" appears twice"),
        (BATCH, r#"{"jobs":[{"task":"t"},{"task":"t","tags":["\u0000"]}]}"#, "/jobs/1/tags/0", nul),
        (BATCH, r#"{"jobs":[],"jobs":[]}"#, "/jobs", "the member \"jobs\" appears twice"),
        (RETRY, r#"{"from":"\u0000"}"#, "/from", nul),
        (RUN_AS_NEW, r#"{"payload":"\u0000"}"#, "/payload", nul),
        (BULK, r#"{"action":"cancel","ids":["\u0000"]}"#, "/ids/0", nul),
        (BULK, r#"{"action":"cancel","ids":[],"filter":"\u0000"}"#, "/filter", nul),
        (CLAIM, r#"{"worker":{"id":"\u0000"},"queues":["q"]}"#, "/worker/id", nul),
        (
            HEARTBEAT,
            r#"{"worker":{"id":"w"},"leases":[{"id":"\u0000","token":""}]}"#,
            "/leases/0/id",
            nul,
        ),
        (CHECKPOINT, r#"{"token":"t","name":"n","value":"\u0000"}"#, "/value", nul),
        (
            FINISH,
            r#"{"outcomes":[{"id":"\u0000","token":"t","outcome":"released"}]}"#,
            "/outcomes/0/id",
            nul,
        ),
    ] {
        let found = read(reader, body);
        let (code, at, message) = found.first().unwrap();
        assert_eq!((found.len(), *code, at.as_str()), (1, InvalidField, pointer), "{body}");
        assert!(message.contains(words), "{message}");
    }
    let deep = format!("{{\"task\":\"t\",\"payload\":{}{}}}", "[".repeat(300), "]".repeat(300));
    let found = read(CREATE, deep);
    assert!(found.first().unwrap().2.contains("more than 200 arrays and objects are nested"));
}

/// Duplicate keys inside one batch, one bad item
#[test]
fn every_bad_item_of_a_batch_has_its_pointer() {
    let item = |index: usize| match index {
        3 => r#"{"task":"t","payload":"\u0000"}"#,
        50 => r#"{"task":5}"#,
        97 => r#"{"tusk":"t"}"#,
        _ => r#"{"task":"t"}"#,
    };
    let jobs: Vec<&str> = (0..100).map(item).collect();
    let found = read(BATCH, format!("{{\"jobs\":[{}]}}", jobs.join(",")));
    let pointers: Vec<&str> = found.iter().map(|(_, pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/jobs/3/payload", "/jobs/50/task", "/jobs/97/tusk", "/jobs/97/task"]);
}

#[test]
fn answers_stay_bounded() {
    let junk: Vec<String> = (0..20).map(|n| format!("\"member_{n}\":{n}")).collect();
    let item = format!("{{{}}}", junk.join(","));
    let found = read(BATCH, format!("{{\"jobs\":[{}]}}", vec![item; 1000].join(",")));
    assert!(found.len() < 2_000, "{}", found.len());
    for index in 0..1000 {
        let start = format!("/jobs/{index}/");
        assert!(found.iter().any(|(_, pointer, _)| pointer.starts_with(&start)), "{index}");
    }
}

#[test]
fn arrays_are_bounded_before_they_are_read() {
    let many = |count| vec!["1"; count].join(",");
    for (reader, before, pointer) in [
        (CREATE, r#"{"task":"t","tags":["#, "/tags"),
        (BATCH, r#"{"jobs":["#, "/jobs"),
        (BULK, r#"{"action":"delete","ids":["#, "/ids"),
        (HEARTBEAT, r#"{"worker":{"id":"w"},"leases":["#, "/leases"),
        (FINISH, r#"{"outcomes":["#, "/outcomes"),
        (CLAIM, r#"{"worker":{"id":"w"},"queues":["#, "/queues"),
    ] {
        let found = read(reader, format!("{before}{}]}}", many(1001)));
        let (code, at, message) = found.first().unwrap();
        assert_eq!((found.len(), *code, at.as_str()), (1, InvalidField, pointer));
        assert!(message.contains("must have at most 1000 elements"), "{message}");
        let found = read(reader, format!("{before}{}]}}", many(1000)));
        assert!(found.iter().all(|(_, at, _)| at.as_str() != pointer), "{found:?}");
    }
    let lives: Vec<String> = (0..1001).map(|n| format!("\"{n}\":1")).collect();
    let body = format!("{{\"action\":\"retry\",\"ids\":[],\"lives\":{{{}}}}}", lives.join(","));
    let found = read(BULK, body);
    assert_eq!(found.first().unwrap().1, "/lives");
}
