//! The bytes that the tests send, made beforehand as far as they can be.

use std::fmt::Write as _;
use std::net::SocketAddr;

use anyhow::Context;

/// Every test's queue.
pub(super) const QUEUE: &str = "bench";
/// Every test's task; the big file's own rows have others.
pub(super) const TASK: &str = "charge-subscription";

/// What every job carries: 100 bytes.
pub(super) const PAYLOAD: &str = concat!(
    r#"{"subscription_id":"sub_1PgafmB7WZ01zgkW6dKueIc5","period":"2026-11","#,
    r#""amount":4900,"currency":"eur"}"#
);

/// Digits of a key's changing part.
const KEY_DIGITS: usize = 16;

/// A whole `GET`.
pub(super) fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes()
}

/// A whole `POST` of JSON.
fn post(address: SocketAddr, path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// One job without a key: the same bytes make a new job each time.
pub(super) fn create(address: SocketAddr) -> Vec<u8> {
    post(address, "/v1/jobs", &job(TASK))
}

/// Many jobs in one request.
pub(super) fn batch(address: SocketAddr, task: &str, jobs: usize) -> Vec<u8> {
    let jobs = vec![job(task); jobs].join(",");
    post(address, "/v1/jobs/batch", &format!(r#"{{"jobs":[{jobs}]}}"#))
}

fn job(task: &str) -> String {
    format!(r#"{{"task":"{task}","queue":"{QUEUE}","payload":{PAYLOAD}}}"#)
}

/// One job with a key, another one each time.
#[derive(Debug)]
pub(super) struct KeyedCreate {
    request: Vec<u8>,
    digits_at: usize,
}

impl KeyedCreate {
    /// The request; [`KeyedCreate::with`] gives it a key.
    pub(super) fn new(address: SocketAddr) -> Self {
        let digits = "0".repeat(KEY_DIGITS);
        let key = format!("charge:sub_{digits}");
        let body = format!(
            r#"{{"task":"{TASK}","queue":"{QUEUE}","payload":{PAYLOAD},"idempotency_key":"{key}"}}"#
        );
        let request = post(address, "/v1/jobs", &body);
        Self { digits_at: request.len() - r#""}"#.len() - KEY_DIGITS, request }
    }

    /// The request with key number `number`. Keys are spread over their whole range, as real ones
    /// are: in order they would all fall on the same pages of the index.
    pub(super) fn with(&mut self, number: u64) -> &[u8] {
        let mut spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for digit in self.request.iter_mut().skip(self.digits_at).take(KEY_DIGITS) {
            let nibble = (spread & 0xF) as u8;
            *digit = if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
            spread >>= 4;
        }
        &self.request
    }
}

/// A claim of up to `max` jobs of one task that waits `wait_ms` for the first.
pub(super) fn claim(address: SocketAddr, task: &str, max: usize, wait_ms: u64) -> Vec<u8> {
    let from = format!(r#""worker":{{"id":"bench"}},"queues":["{QUEUE}"],"tasks":["{task}"]"#);
    let body = format!(r#"{{{from},"max":{max},"wait_ms":{wait_ms}}}"#);
    post(address, "/v1/jobs/claim", &body)
}

/// Reports of jobs that were done, written into one buffer.
#[derive(Debug)]
pub(super) struct Finish {
    address: SocketAddr,
    outcomes: String,
    request: Vec<u8>,
}

impl Finish {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self { address, outcomes: String::new(), request: Vec::new() }
    }

    /// Reports every job of a claim's answer as completed; `None` when there is none. Says how
    /// many there are.
    ///
    /// Of each job only the two values that a report needs are looked for, by the words before
    /// them: a lean client's shortcut, which holds because the payload is this module's own.
    pub(super) fn all_of(&mut self, claimed: &[u8]) -> anyhow::Result<Option<(usize, &[u8])>> {
        let mut rest = std::str::from_utf8(claimed).context("the answer is not UTF-8")?;
        self.outcomes.clear();
        let mut jobs = 0;
        while let Some((id, behind)) = value_after(rest, r#""id":""#) {
            let (token, behind) =
                value_after(behind, r#""lease":{"token":""#).context("a job without its lease")?;
            rest = behind;
            let comma = if jobs == 0 { "" } else { "," };
            write!(
                self.outcomes,
                r#"{comma}{{"id":"{id}","token":"{token}","outcome":"completed"}}"#
            )?;
            jobs += 1;
        }
        if jobs == 0 {
            return Ok(None);
        }
        self.request = post(
            self.address,
            "/v1/jobs/finish",
            &format!(r#"{{"outcomes":[{}]}}"#, self.outcomes),
        );
        Ok(Some((jobs, &self.request)))
    }
}

/// What stands between `opening` and the next quotation mark, and all behind it.
fn value_after<'t>(text: &'t str, opening: &str) -> Option<(&'t str, &'t str)> {
    text.get(text.find(opening)? + opening.len()..)?.split_once('"')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use std::collections::HashSet;

    use halyard_api::body::Body;
    use halyard_api::jobs::finish as finish_call;
    use halyard_api::jobs::{batch as batch_call, claim as claim_call, create as create_call};

    use super::*;

    fn address() -> SocketAddr {
        ([127, 0, 0, 1], 7373).into()
    }

    /// The body, after its length was compared with what the head says.
    fn body(request: &[u8]) -> Vec<u8> {
        let text = std::str::from_utf8(request).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{head}");
        body.as_bytes().to_vec()
    }

    #[test]
    fn the_payload_has_100_bytes() {
        assert_eq!(PAYLOAD.len(), 100);
    }

    #[test]
    fn the_server_would_take_them() {
        let bytes = body(&create(address()));
        create_call::read(&Body::parse(&bytes).unwrap()).unwrap();
        let bytes = body(&batch(address(), "other", 3));
        batch_call::read(&Body::parse(&bytes).unwrap()).unwrap();
        let bytes = body(&claim(address(), TASK, 1_000, 20_000));
        claim_call::read(&Body::parse(&bytes).unwrap()).unwrap();
    }

    #[test]
    fn keys_differ() {
        let mut create = KeyedCreate::new(address());
        let mut known = HashSet::new();
        for number in 0..1_000 {
            let bytes = body(create.with(number));
            let parsed: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            create_call::read(&Body::parse(&bytes).unwrap()).unwrap();
            assert!(known.insert(parsed["idempotency_key"].as_str().unwrap().to_owned()));
        }
    }

    #[test]
    fn reports() {
        let claimed = concat!(
            r#"{"jobs":[{"id":"job_1","payload":{"subscription_id":"x"},"rerun_of":"job_0","#,
            r#""lease":{"token":"a","expires_in_ms":1}},"#,
            r#"{"id":"job_2","lease":{"token":"b"}}]}"#
        );
        let mut finish = Finish::new(address());
        let (jobs, request) = finish.all_of(claimed.as_bytes()).unwrap().unwrap();
        assert_eq!(jobs, 2);
        let bytes = body(request);
        finish_call::read(&Body::parse(&bytes).unwrap()).unwrap();
        let parsed: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let expected = serde_json::json!({"outcomes": [
            {"id": "job_1", "token": "a", "outcome": "completed"},
            {"id": "job_2", "token": "b", "outcome": "completed"},
        ]});
        assert_eq!(parsed, expected);
        assert!(finish.all_of(br#"{"jobs":[]}"#).unwrap().is_none());
    }
}
