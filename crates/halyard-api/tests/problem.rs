//! Problems: the closed list of codes, and the body they are answered in.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what failed by panicking"
)]

use std::collections::BTreeSet;

use halyard_api::Faults;
use halyard_api::problem::{Code, Problem};
use serde_json::json;

/// The table of the API's documentation.
const CODES: &[(u16, &[&str])] = &[
    (
        400,
        &["malformed_json", "unknown_field", "invalid_field", "missing_field", "cursor_mismatch"],
    ),
    (401, &["unauthenticated"]),
    (403, &["forbidden", "read_only"]),
    (404, &["job_not_found", "queue_not_found", "not_found"]),
    (405, &["method_not_allowed"]),
    (
        409,
        &[
            "lease_lost",
            "checkpoint_conflict",
            "job_running",
            "job_not_retryable",
            "job_finished",
            "idempotency_key_taken",
            "id_taken",
        ],
    ),
    (413, &["payload_too_large"]),
    (415, &["unsupported_media_type"]),
    (421, &["unknown_host"]),
    (422, &["idempotency_key_reused"]),
    (503, &["overloaded", "draining", "storage_unavailable"]),
];

#[test]
fn codes_are_those_of_the_documentation() {
    let mut documented = BTreeSet::new();
    for (status, codes) in CODES {
        for word in *codes {
            let code = Code::from_word(word).unwrap();
            assert_eq!((code.as_str(), code.status()), (*word, *status));
            assert_eq!(code.retryable(), *status == 503, "{word}");
            assert!(code.documentation().ends_with(&format!("#{word}")));
            documented.insert(*word);
        }
    }
    let known: BTreeSet<&str> = Code::WORDS.iter().copied().collect();
    assert_eq!(known, documented);
    let titles: BTreeSet<&str> = Code::ALL.iter().map(|code| code.title()).collect();
    assert_eq!(titles.len(), Code::ALL.len(), "each code has its own title");
}

/// The problem is written like this and read back as it was.
fn check(problem: &Problem, wanted: serde_json::Value) {
    let written = serde_json::to_value(problem).unwrap();
    assert_eq!(written, wanted);
    let read: Problem = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
    assert_eq!(read.changed, problem.changed);
}

#[test]
fn on_the_wire() {
    let mut problem = Problem::new(Code::IdempotencyKeyReused, "other payload", "req_1");
    let mut wanted = json!({
        "type": "/docs/errors#idempotency_key_reused",
        "title": "The idempotency key was used for something else",
        "status": 422,
        "code": "idempotency_key_reused",
        "detail": "other payload",
        "request_id": "req_1",
        "retryable": false,
    });
    check(&problem, wanted.clone());
    problem.job_id = Some("job_1".to_owned());
    problem.changed = Some(None);
    wanted["job_id"] = json!("job_1");
    wanted["changed"] = json!(null);
    check(&problem, wanted.clone());
    problem.changed = Some(Some(vec!["/amount".to_owned()]));
    wanted["changed"] = json!(["/amount"]);
    check(&problem, wanted);

    let mut faults = Faults::one(Code::MissingField, "/task", "task is required");
    faults.push(Code::InvalidField, "/priority", "priority must be an integer, not true");
    let wanted = json!({
        "type": "/docs/errors#missing_field",
        "title": "A required field is missing",
        "status": 400,
        "code": "missing_field",
        "detail": "task is required (and one fault more)",
        "request_id": "req_2",
        "retryable": false,
        "errors": [
            {"code": "missing_field", "pointer": "/task", "message": "task is required"},
            {"code": "invalid_field", "pointer": "/priority",
             "message": "priority must be an integer, not true"},
        ],
    });
    check(&faults.into_problem("req_2"), wanted);
}

#[test]
fn every_code_has_its_place_in_the_documentation() {
    let page = include_str!("../../../docs/errors.md");
    for code in Code::ALL {
        let heading = format!("\n### {}\n", code.as_str());
        assert!(page.contains(&heading), "docs/errors.md has no heading for {}", code.as_str());
    }
}
