//! What may come in, and everything that is wrong with what may not.

use halyard_core::admission::{Application, BackoffWish, Due, Fault, NewJob, admit, admit_payload};
use halyard_core::backoff::Backoff;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::key::IfFailed;
use halyard_core::limits::{DAY, PAYLOAD_BYTES_MAX, VALUE_DEPTH_MAX};
use halyard_json::Text;

use crate::nouns::{NOW, id, text};

/// The least that a create may say.
pub(crate) fn application<'a>() -> Application<'a> {
    Application {
        task: "t",
        queue: None,
        payload: Text::null(),
        idempotency_key: None,
        if_failed: IfFailed::Return,
        idempotency_ttl_ms: None,
        id: None,
        run_at: None,
        delay_ms: None,
        priority: None,
        max_attempts: None,
        max_crashes: None,
        timeout_ms: None,
        backoff: BackoffWish::default(),
        tags: Vec::new(),
        traceparent: None,
    }
}

fn admitted(application: Application<'_>) -> Result<NewJob, Vec<Fault>> {
    admit(application, id(1), 30 * DAY, NOW)
}

#[track_caller]
fn check_refused(application: Application<'_>, fields: &[&str]) -> Vec<Fault> {
    let faults = admitted(application).expect_err("it was let in");
    let found: Vec<&str> = faults.iter().map(|fault| &*fault.field).collect();
    assert_eq!(found, fields, "{faults:?}");
    faults
}

#[test]
fn what_is_left_out_has_its_default() {
    let job = admitted(application()).unwrap();
    assert_eq!((job.id, &*job.task, &*job.queue), (id(1), "t", "default"));
    assert_eq!((job.due, job.priority, job.if_failed), (Due::Now, 0, IfFailed::Return));
    assert_eq!((job.max_attempts, job.max_crashes, job.timeout_ms), (20, 5, 900_000));
    let backoff = Backoff { initial_ms: 5_000, factor: 2.0, max_ms: 3_600_000, jitter: 0.2 };
    assert_eq!((job.backoff, job.key_ttl_ms), (backoff, 30 * DAY));
    assert_eq!((job.fingerprint, job.payload.as_str()), (None, "null"));
    assert!(!job.begin(1, NOW).holds_key);
    // The server's own default may be shorter than what a create may ask for.
    let short = admit(application(), id(1), 1_000, NOW).unwrap();
    assert_eq!(short.key_ttl_ms, 1_000);
}

#[test]
fn what_is_sent_is_kept() {
    let sent = Application {
        queue: Some("billing/eu:west-1.a_b"),
        payload: text(r#"{"n": 1.50}"#),
        idempotency_key: Some("k"),
        if_failed: IfFailed::Replace,
        id: Some("job_01jdvw3k8pf5tvn2c7m9a0r4xq"),
        backoff: BackoffWish { max_ms: Some(7), ..BackoffWish::default() },
        tags: vec!["a", "b", "a"],
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
        ..application()
    };
    let job = admitted(sent).unwrap();
    assert_eq!(Some(job.id), JobId::parse("job_01jdvw3k8pf5tvn2c7m9a0r4xq"));
    assert_eq!((&*job.queue, job.payload.as_str()), ("billing/eu:west-1.a_b", r#"{"n": 1.50}"#));
    assert_eq!(job.fingerprint, Some(Fingerprint::of(&text(r#"{"n":1.5}"#))));
    assert_eq!(job.backoff, Backoff { max_ms: 7, ..Backoff::default() });
    assert_eq!(job.details.tags.len(), 3);
    assert_eq!(job.details.idempotency_key.as_deref(), Some("k"));
    assert!(job.begin(1, NOW).holds_key);
}

#[test]
fn every_fault_is_named_at_once() {
    let bad = Application {
        task: "",
        queue: Some("-"),
        idempotency_key: Some(" k"),
        id: Some("job_1"),
        run_at: Some(i64::MAX),
        priority: Some(101),
        max_attempts: Some(0),
        backoff: BackoffWish { factor: Some(0.5), ..BackoffWish::default() },
        tags: vec!["good", "b\u{0}d", "é"],
        traceparent: Some("00-zz"),
        ..application()
    };
    let faults = check_refused(
        bad,
        &[
            "task",
            "queue",
            "idempotency_key",
            "tags/1",
            "tags/2",
            "traceparent",
            "id",
            "run_at",
            "priority",
            "max_attempts",
            "backoff/factor",
        ],
    );
    assert!(faults[0].message.contains("\"\""), "the value: {}", faults[0].message);
    assert!(faults[3].message.contains("\\0"), "escaped: {}", faults[3].message);
    assert!(faults.iter().all(|fault| !fault.too_large));
}

#[test]
fn keys_of_any_script() {
    let longest = "\u{1f511}".repeat(255);
    let good = [
        "k",
        "charge:sub_1:2026-11",
        "a b",
        "🔑",
        "👩‍👩‍👧",
        "é",
        "e\u{301}",
        "ключ",
        "مفتاح",
        "鍵",
        "%00",
        "\u{e000}",
        "\u{202e}abc",
        &longest,
    ];
    for key in good {
        let job = admitted(Application { idempotency_key: Some(key), ..application() }).unwrap();
        assert_eq!(job.details.idempotency_key.as_deref(), Some(key), "kept as it came");
    }
    let too_long = "k".repeat(256);
    let huge = "k".repeat(3 << 20);
    let bad = [
        "",
        " ",
        " k",
        "k ",
        "k\u{a0}",
        "\u{3000}k",
        "k\n",
        "\tk",
        "a\u{0}b",
        "a\u{7f}b",
        "a\u{85}b",
        "a\u{378}b",
        "a\u{fffe}b",
        "a\u{10ffff}b",
        &too_long,
        &huge,
    ];
    for key in bad {
        let sent = Application { idempotency_key: Some(key), ..application() };
        let faults = check_refused(sent, &["idempotency_key"]);
        assert!(faults[0].message.len() < 1_000, "an error stays short");
    }
}

#[test]
fn a_payload_has_a_size_and_a_depth() {
    let sized = |bytes: usize| Text::parse(&format!("\"{}\"", "x".repeat(bytes - 2)), 1).unwrap();
    assert_eq!(admit_payload(&sized(PAYLOAD_BYTES_MAX)), Ok(()));
    let sent = Application { payload: sized(PAYLOAD_BYTES_MAX + 1), ..application() };
    let faults = check_refused(sent, &["payload"]);
    assert!(faults[0].too_large && faults[0].message.contains("1048576"), "{faults:?}");

    let nested = |depth: u16| {
        let depth = usize::from(depth);
        let json = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        Text::parse(&json, VALUE_DEPTH_MAX + 1).unwrap()
    };
    assert_eq!(admit_payload(&nested(VALUE_DEPTH_MAX)), Ok(()));
    let sent = Application { payload: nested(VALUE_DEPTH_MAX + 1), ..application() };
    let faults = check_refused(sent, &["payload"]);
    assert!(!faults[0].too_large && faults[0].message.contains("64"), "{faults:?}");
    assert!(admit_payload(&nested(VALUE_DEPTH_MAX + 1)).is_err());
}

#[test]
fn ten_tags() {
    let tags = |many| Application { tags: vec!["x"; many], ..application() };
    assert!(admitted(tags(10)).is_ok());
    check_refused(tags(11), &["tags"]);
    let longest = "n".repeat(128);
    assert!(
        admitted(Application { task: &longest, tags: vec![&longest], ..application() }).is_ok()
    );
    let too_long = "n".repeat(129);
    let sent = Application { task: &too_long, tags: vec![&too_long], ..application() };
    check_refused(sent, &["task", "tags/0"]);
}

#[test]
fn a_trace_context_is_the_w3cs() {
    let good = [
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what-the-future-adds",
        "00-00000000000000000000000000000001-1000000000000000-00",
    ];
    for text in good {
        assert!(
            admitted(Application { traceparent: Some(text), ..application() }).is_ok(),
            "{text}"
        );
    }
    let longest = format!("01-{}-{}-00-{}", "a".repeat(32), "b".repeat(16), "c".repeat(72));
    assert_eq!(longest.len(), 128);
    let sent = Application { traceparent: Some(&longest), ..application() };
    assert!(admitted(sent).is_ok());
    let too_long = format!("{longest}c");
    let bad = [
        "",
        &too_long,
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "01-00000000000000000000000000000000-0000000000000000-00-more",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-\u{e9}",
    ];
    for text in bad {
        check_refused(Application { traceparent: Some(text), ..application() }, &["traceparent"]);
    }
}
