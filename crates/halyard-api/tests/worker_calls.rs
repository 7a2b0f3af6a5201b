//! What worker calls take from programs of other times: unknown members, empty lists, repeats.

use halyard_api::jobs::{
    batch, bulk, checkpoints, claim, create, finish, heartbeat, retry, run_as_new,
};
use halyard_api::problem::Code::{self, InvalidField};
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

/// The body has exactly these faults: code and pointer.
fn check(reader: Read, body: &str, wanted: &[(Code, &str)]) {
    let faults = Body::parse(body.as_bytes()).and_then(|body| reader(&body));
    let faults = faults.err().unwrap_or_default();
    let found: Vec<_> = faults.errors().iter().map(|e| (e.code, e.pointer.as_str())).collect();
    assert_eq!(found, wanted, "{body:.300}");
}

/// Members that a worker call does not know are passed over, whatever they hold. Known ones are
/// judged wherever they stand, also behind such.
#[test]
fn unknown_members_of_worker_calls_are_ignored_whatever_they_hold() {
    let deep = "[".repeat(5_000) + &"]".repeat(5_000);
    for new in [
        r#""x":"\u0000""#,
        r#""x":{"a\ud800":["\udc00"]}"#,
        r#""x\u0000":1,"x\ud800":2"#,
        r#""x":{"a":1,"a":2}"#,
        r#""x":1,"x":2"#,
        &format!("\"x\":{deep}"),
    ] {
        let worker = format!(r#"{new},"worker":{{{new},"id":"w"}}"#);
        let report = format!(r#"{new},"id":"a","token":"t","outcome":"failed","retryable":false"#);
        let lease = format!(r#"{new},"id":"a","token":"t""#);
        for (reader, body, twice) in [
            (CLAIM, format!(r#"{{{worker},"queues":["q"],{new}}}"#), ""),
            (HEARTBEAT, format!(r#"{{{worker},"leases":[{{{lease}}}],{new}}}"#), ""),
            (FINISH, format!(r#"{{{new},"outcomes":[{{{report},{new}}}],{new}}}"#), ""),
            (CHECKPOINT, format!(r#"{{{new},"token":"t","name":"n","value":[],{new}}}"#), ""),
            (CLAIM, format!(r#"{{{worker},"queues":["q"],"max":1,"max":1}}"#), "/max"),
            (HEARTBEAT, format!(r#"{{{worker},"leases":[{{{lease},"id":"b"}}]}}"#), "/leases/0/id"),
            (FINISH, format!(r#"{{"outcomes":[{{{report},"token":"u"}}]}}"#), "/outcomes/0/token"),
            (CHECKPOINT, format!(r#"{{{new},"token":"t","name":"n","name":"n"}}"#), "/name"),
        ] {
            let wanted = (InvalidField, twice);
            check(
                reader,
                &body,
                if twice.is_empty() { &[] } else { std::slice::from_ref(&wanted) },
            );
        }
        for reader in [CREATE, RUN_AS_NEW, BULK, RETRY] {
            let body = format!("{{{new}}}");
            let read = Body::parse(body.as_bytes()).and_then(|body| reader(&body));
            assert!(read.is_err(), "{new:.300}");
        }
    }
    let other = r#"{"outcomes":[{"id":"a","token":"t","outcome":"released","error":"\u0000",
        "result":{"a":1,"a":2},"retryable":["\ud800"],"retry_after_ms":"\u0000"}]}"#;
    check(FINISH, other, &[]);
}

#[test]
fn empty_lists_are_taken_where_nothing_needs_one() {
    check(HEARTBEAT, r#"{"worker":{"id":"w"},"leases":[]}"#, &[]);
    check(FINISH, r#"{"outcomes":[]}"#, &[]);
    check(BATCH, r#"{"jobs":[]}"#, &[]);
    check(BULK, r#"{"action":"retry","ids":[]}"#, &[]);
}

#[test]
fn a_repeated_claim_names_the_first() {
    let claim = |members: &str| format!(r#"{{"worker":{{"id":"w"}},"queues":["q"],{members}}}"#);
    check(CLAIM, &claim(r#""repeat":true,"claim_id":"c""#), &[]);
    check(CLAIM, &claim(r#""repeat":false"#), &[]);
    for members in [r#""repeat":true"#, r#""claim_id":null,"repeat":true"#] {
        check(CLAIM, &claim(members), &[(InvalidField, "/repeat")]);
    }
    let both = claim(r#""repeat":true,"claim_id":1"#);
    check(CLAIM, &both, &[(InvalidField, "/claim_id")]);
}
