//! Answers that are errors, read loosely.
//!
//! The body may come from a newer server with codes unknown here, or from a proxy that speaks no
//! JSON at all; either way the caller gets an error that says as much as there is to say.

use halyard_api::job::Checkpoint;
use serde::Deserialize;

use crate::error::{ApiError, CheckpointConflict, Error, FieldError, IdempotencyConflict};

/// Characters of a body without a problem document that are shown in the error.
const EXCERPT_CHARS: usize = 200;
const OLDER: &str = "perhaps the server is older than this package";

/// The options whose names on the wire are others.
const OPTIONS: [(&str, &str); 5] = [
    ("delay_ms", "delay"),
    ("idempotency_ttl_ms", "idempotency_ttl"),
    ("initial_ms", "initial"),
    ("max_ms", "max"),
    ("timeout_ms", "timeout"),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    title: String,
    code: String,
    detail: String,
    request_id: String,
    errors: Vec<FieldError>,
    job_id: Option<String>,
    changed: Option<Vec<String>>,
    checkpoint: Option<Box<Checkpoint>>,
}

/// The error that an answer with this status and body stands for.
pub(crate) fn read(status: u16, request_id: Option<&str>, body: &[u8]) -> Error {
    let mut problem = serde_json::from_slice::<Problem>(body).unwrap_or_default();
    if problem.detail.is_empty() {
        problem.detail = match std::mem::take(&mut problem.title) {
            title if title.is_empty() => excerpt(body),
            title => title,
        };
    }
    if !problem.errors.is_empty() {
        problem.detail = in_options(&problem.detail);
    }
    for fault in &mut problem.errors {
        fault.message = in_options(&fault.message);
    }
    if matches!(problem.code.as_str(), "not_found" | "method_not_allowed" | "unknown_field") {
        problem.detail = format!("{}; {OLDER}", problem.detail);
    }
    if problem.request_id.is_empty() {
        problem.request_id = request_id.unwrap_or_default().to_owned();
    }
    match (problem.code.as_str(), problem.job_id, problem.checkpoint) {
        ("idempotency_key_reused", Some(existing_job_id), _) => {
            Error::IdempotencyConflict(Box::new(IdempotencyConflict {
                existing_job_id,
                changed: problem.changed,
                detail: problem.detail,
                request_id: problem.request_id,
            }))
        }
        ("checkpoint_conflict", _, Some(checkpoint)) => {
            let Checkpoint { name, value, .. } = *checkpoint;
            Error::CheckpointConflict(Box::new(CheckpointConflict { name, value }))
        }
        (_, job_id, _) => Error::Api(Box::new(ApiError {
            status,
            code: problem.code,
            detail: problem.detail,
            request_id: problem.request_id,
            job_id,
            errors: problem.errors,
        })),
    }
}

/// `delay_ms is 7` as `delay (delay_ms) is 7`: a caller knows the option, the log the wire. What
/// stands in quotes was given by somebody.
fn in_options(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut word = String::new();
    let (mut quoted, mut escaped) = (false, false);
    for char in text.chars().map(Some).chain([None]) {
        if let Some(char) = char.filter(|char| !quoted && (char.is_alphanumeric() || *char == '_'))
        {
            word.push(char);
            continue;
        }
        let option = OPTIONS.iter().find(|(name, _)| *name == word);
        match option {
            Some((name, option)) => told.extend([*option, " (", *name, ")"]),
            None => told.push_str(&word),
        }
        word.clear();
        quoted ^= char == Some('"') && !escaped;
        escaped = quoted && char == Some('\\') && !escaped;
        told.extend(char);
    }
    told
}

fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let start: String = text.trim().chars().take(EXCERPT_CHARS).collect();
    if start.is_empty() { "answered without a body".to_owned() } else { start }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    fn check(status: u16, body: &str, shown: &str, code: Option<&str>) {
        let error = read(status, Some("req_1"), body.as_bytes());
        assert_eq!(error.to_string(), shown, "{body}");
        assert_eq!(error.code(), code, "{body}");
        assert_eq!(error.status(), Some(status), "{body}");
    }

    #[test]
    fn bodies() {
        check(502, "<html>Bad Gateway</html>", "<html>Bad Gateway</html> (502)", Some(""));
        check(500, "", "answered without a body (500)", Some(""));
        check(404, r#"{"code":"job_not_found","detail":"no x"}"#, "no x (404 job_not_found)", {
            Some("job_not_found")
        });
        check(400, r#"{"code":"new_code","title":"New","more":1}"#, "New (400 new_code)", {
            Some("new_code")
        });
        check(
            422,
            r#"{"code":"idempotency_key_reused","detail":"no","job_id":"job_1","changed":null}"#,
            "no (422 idempotency_key_reused)",
            Some("idempotency_key_reused"),
        );
    }

    #[test]
    fn refusals() {
        let file = include_str!("../../scenarios/refusals.json");
        let file: serde_json::Value = serde_json::from_str(file).expect("the table");
        let rows = file["refusals"].as_array().expect("rows");
        let here = rows.iter().filter(|row| row["absent"]["rust"].is_null());
        assert!(here.clone().count() >= 9);
        for row in here {
            let body =
                row["body"].as_str().map_or_else(|| row["problem"].to_string(), str::to_owned);
            let status = row["status"].as_u64().and_then(|status| status.try_into().ok());
            let error = read(status.expect("a status"), None, body.as_bytes());
            assert_eq!(row["told"], error.to_string(), "{}", row["what"]);
        }
    }

    #[test]
    fn conflict_of_a_key() {
        let body = br#"{"code":"idempotency_key_reused","job_id":"job_1","changed":["/a"]}"#;
        let Error::IdempotencyConflict(conflict) = read(422, None, body) else {
            panic!("not a conflict");
        };
        assert_eq!(conflict.existing_job_id, "job_1");
        assert_eq!(conflict.changed, Some(vec!["/a".to_owned()]));
    }

    #[test]
    fn conflict_of_a_checkpoint() {
        let body = br#"{"code":"checkpoint_conflict","checkpoint":{"name":"a","value":{"n":1.0},
            "life":1,"attempt":1,"start":1,"created_at":"2026-11-29T08:15:30.250Z"}}"#;
        let Error::CheckpointConflict(conflict) = read(409, None, body) else {
            panic!("not a conflict");
        };
        assert_eq!(conflict.name, "a");
        assert_eq!(conflict.value.as_deref().map(|value| value.get()), Some(r#"{"n":1.0}"#));
    }
}
