//! Reports of workers: what is read from them, and that nothing which an error or a result holds
//! refuses a request.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use halyard_api::Body;
use halyard_api::jobs::finish::{self, ReceivedOutcome, ReceivedResult};
use halyard_api::problem::Code::{self, InvalidField, MissingField};

fn body(members: &str) -> String {
    format!("{{\"outcomes\":[{{\"id\":\"job_1\",\"token\":\"t\",{members}}}]}}")
}

/// What the only report of the body says, in one line.
fn check(members: &str, wanted: &str) {
    let text = body(members);
    let body = Body::parse(text.as_bytes()).unwrap();
    let received = finish::read(&body).unwrap();
    let report = received.outcomes.first().unwrap();
    assert_eq!((&*report.id, &*report.token), ("job_1", "t"));
    let found = match &report.outcome {
        ReceivedOutcome::Completed(ReceivedResult::Value(value)) => {
            format!("completed {}", value.map_or("nothing", |value| value.raw()))
        }
        ReceivedOutcome::Completed(ReceivedResult::Refused(words)) => format!("refused {words}"),
        ReceivedOutcome::Failed { error, retryable, retry_after_ms } => {
            let texts = (error.r#type.as_deref(), error.message.as_deref(), error.stack.as_deref());
            format!("failed {texts:?} {retryable} {retry_after_ms:?}")
        }
        ReceivedOutcome::Released => "released".to_owned(),
        ReceivedOutcome::Snoozed { delay_ms } => format!("snoozed {delay_ms}"),
        ReceivedOutcome::Cancelled => "cancelled".to_owned(),
    };
    assert_eq!(found, wanted, "{members}");
}

#[test]
fn outcomes() {
    check(r#""outcome":"released","error":{},"delay_ms":"later""#, "released");
    check(r#""outcome":"cancelled","result":"\u0000""#, "cancelled");
    check(r#""outcome":"snoozed","delay_ms":5000,"new":[]"#, "snoozed 5000");
    check(r#""outcome":"completed""#, "completed nothing");
    check(r#""outcome":"completed","result":null"#, "completed nothing");
    check(r#""outcome":"completed","result":{"a": 1.0}"#, r#"completed {"a": 1.0}"#);
    check(r#""result":[],"outcome":"completed""#, "completed []");
    check(
        r#""outcome":"completed","result":{"a":["\u0000"]}"#,
        r#"refused the result's value at "/a/0": the character U+0000 is not accepted"#,
    );
    check(
        r#""outcome":"completed","result":{"a":1,"a":2}"#,
        r#"refused the result's value at "/a": the member "a" appears twice in one object"#,
    );
}

/// Bad characters in the error text
#[test]
fn errors_of_any_form() {
    let failed = |error: &str, wanted: &str| {
        check(&format!("\"outcome\":\"failed\",\"error\":{error}"), wanted);
    };
    failed(
        r#"{"type":"E","message":"m","stack":"s","cause":{"a":1}}"#,
        r#"failed (Some("E"), Some("m"), Some("s")) true None"#,
    );
    failed("{}", "failed (None, None, None) true None");
    failed("null", "failed (None, None, None) true None");
    failed(r#""boom""#, r#"failed (None, Some("boom"), None) true None"#);
    failed("[1, 2]", r#"failed (None, Some("[1, 2]"), None) true None"#);
    failed(
        r#"{"type":7,"message":{"a": "b"},"stack":null}"#,
        r#"failed (Some("7"), Some("{\"a\": \"b\"}"), None) true None"#,
    );
    failed(
        r#"{"type":"\u0000","message":"a\ud800b","stack":"\udc00\u001b[0m"}"#,
        r#"failed (Some("�"), Some("a�b"), Some("�\u{1b}[0m")) true None"#,
    );
    failed(r#"{"message":"a","message":"b"}"#, r#"failed (None, Some("b"), None) true None"#);
    check(
        r#""outcome":"failed","retryable":false,"retry_after_ms":99999999999999999999"#,
        "failed (None, None, None) false Some(9223372036854775807)",
    );
    check(
        r#""outcome":"failed","retryable":null,"retry_after_ms":-1"#,
        "failed (None, None, None) true Some(-1)",
    );
    for (sent, read) in [
        ("-99999999999999999999", i64::MIN),
        ("-9223372036854775809.5", i64::MIN),
        ("1e30", i64::MAX),
        ("1E400", i64::MAX),
        ("-1e400", i64::MIN),
        ("9007199254740993", 9_007_199_254_740_993),
        ("0.001", 1),
        ("1500.0", 1_500),
        ("1500.5", 1_501),
        ("-0.5", 0),
        ("1.5e3", 1_500),
        ("1e-400", 0),
    ] {
        check(
            &format!(r#""outcome":"failed","retry_after_ms":{sent}"#),
            &format!("failed (None, None, None) true Some({read})"),
        );
    }
    let deep = format!("{{\"message\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let text = body(&format!("\"outcome\":\"failed\",\"error\":{deep}"));
    assert!(finish::read(&Body::parse(text.as_bytes()).unwrap()).is_ok());
}

#[test]
fn neighbours_of_a_bad_result_are_unaffected() {
    let deep = "[".repeat(300) + &"]".repeat(300);
    for bad in [r#""\u0000""#, r#"{"a":1,"a":1}"#, r#"["\ud800"]"#, &deep] {
        let text = format!(
            r#"{{"outcomes":[{{"id":"a","token":"t","outcome":"completed","result":1}},
              {{"id":"b","token":"t","outcome":"completed","result":{bad}}},
              {{"id":"c","token":"t","outcome":"completed","result":[[]]}}]}}"#
        );
        let body = Body::parse(text.as_bytes()).unwrap();
        let reports = finish::read(&body).unwrap().outcomes;
        let refused = |report: &finish::ReceivedReport<'_>| {
            matches!(&report.outcome, ReceivedOutcome::Completed(ReceivedResult::Refused(_)))
        };
        assert_eq!(reports.iter().map(refused).collect::<Vec<_>>(), [false, true, false], "{bad}");
    }
}

#[test]
fn malformed_entries_refuse_the_request() {
    for (text, wanted) in [
        (r#"{}"#, vec![(MissingField, "/outcomes")]),
        (r#"{"outcomes":null}"#, vec![(MissingField, "/outcomes")]),
        (r#"{"outcomes":{}}"#, vec![(InvalidField, "/outcomes")]),
        (r#"{"outcomes":[1]}"#, vec![(InvalidField, "/outcomes/0")]),
        (
            r#"{"outcomes":[{}]}"#,
            vec![
                (MissingField, "/outcomes/0/id"),
                (MissingField, "/outcomes/0/token"),
                (MissingField, "/outcomes/0/outcome"),
            ],
        ),
        (&body(r#""outcome":"done""#), vec![(InvalidField, "/outcomes/0/outcome")]),
        (&body(r#""outcome":"snoozed""#), vec![(MissingField, "/outcomes/0/delay_ms")]),
        (
            &body(r#""outcome":"snoozed","delay_ms":1.5"#),
            vec![(InvalidField, "/outcomes/0/delay_ms")],
        ),
        (
            &body(r#""outcome":"failed","retryable":"no""#),
            vec![(InvalidField, "/outcomes/0/retryable")],
        ),
        (&body(r#""outcome":"released","id":"x""#), vec![(InvalidField, "/outcomes/0/id")]),
        (r#"{"outcomes":[],"outcomes":[]}"#, vec![(InvalidField, "/outcomes")]),
    ] {
        let body = Body::parse(text.as_bytes()).unwrap();
        let faults = finish::read(&body).unwrap_err();
        let found: Vec<(Code, &str)> =
            faults.errors().iter().map(|e| (e.code, e.pointer.as_str())).collect();
        assert_eq!(found, wanted, "{text}");
    }
}
