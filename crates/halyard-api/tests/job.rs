//! The job object: what each shape holds and leaves out, and that bodies keep their bytes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test says what failed by panicking"
)]

use std::collections::BTreeSet;

use halyard_api::job::{Job, JobDetail, JobSummary};
use halyard_api::jobs::claim::ClaimedJob;
use halyard_api::jobs::create::CreatedJob;
use halyard_api::jobs::retry::RetriedJob;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The job of the API's documentation, with the abbreviated parts filled in.
const DETAIL: &str = r#"{ "id": "job_01jdvw3k8pf5tvn2c7m9a0r4xq", "task": "charge-subscription",
  "queue": "billing", "state": "running", "priority": 0,
  "payload": {"subscription_id": "sub_1",  "period": "2026-11", "exact": 12345678901234567890.10},
  "result": null, "tags": [], "traceparent": null,
  "idempotency_key": "charge:sub_1:2026-11", "idempotency_expires_at": null, "replays": 3,
  "rejected": 0, "life": 1, "attempt": 2, "starts": 2, "max_attempts": 20, "crashes": 1,
  "max_crashes": 5, "timeout_ms": 900000,
  "backoff": {"initial_ms": 5000, "factor": 2.0, "max_ms": 3600000, "jitter": 0.2},
  "checkpoints": [{"name": "invoices", "value": null, "life": 1, "attempt": 1, "start": 1,
    "created_at": "2026-11-29T08:15:30.250Z"}],
  "attempts": [{"id": "att_1", "life": 1, "attempt": 2, "start": 2, "state": "running",
    "worker": "wrk_1", "queued_at": "2026-11-29T08:15:30.250Z",
    "started_at": "2026-11-29T08:15:30.250Z", "finished_at": null, "error": null,
    "retry_delay_ms": null, "retry_reason": null},
   {"id": "att_0", "life": 1, "attempt": 1, "start": 1, "state": "lost", "worker": "wrk_0",
    "queued_at": null, "started_at": "2026-11-29T08:14:30.250Z",
    "finished_at": "2026-11-29T08:15:30.250Z", "error": {"type": "Lost", "message": "gone",
    "stack": null, "kind": "lost"}, "retry_delay_ms": 7100, "retry_reason": "crash"}],
  "attempts_total": 2, "error": null, "cancel_requested": false, "replaced_by": null,
  "rerun_of": null, "created_at": "2026-11-29T08:15:30.250Z",
  "run_at": "2026-11-29T08:15:30.250Z", "started_at": "2026-11-29T08:15:30.250Z",
  "finished_at": null }"#;

fn names(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The shape `T` has all members of the documented job without `left_out` and with `added`.
fn check<T: Serialize + DeserializeOwned + ToSchema>(left_out: &[&str], added: Value) {
    let mut wanted: Value = serde_json::from_str(DETAIL).unwrap();
    for name in left_out {
        wanted.as_object_mut().unwrap().remove(*name).unwrap();
    }
    wanted.as_object_mut().unwrap().extend(added.as_object().unwrap().clone());
    let shape: T = serde_json::from_str(&serde_json::to_string(&wanted).unwrap()).unwrap();
    let written = serde_json::to_value(&shape).unwrap();
    assert_eq!(names(&written), names(&wanted));
    assert_eq!(written, wanted);

    // The schema lists the same members, and says of none that it may be absent or is never null
    // when it is otherwise.
    let schema = serde_json::to_value(T::schema()).unwrap();
    let required: BTreeSet<&str> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let listed = names(&schema["properties"]);
    let absent_at_times = BTreeSet::from(["purged", "revived"]);
    assert!(listed.is_superset(&names(&wanted)));
    assert_eq!(&listed - &required, &absent_at_times & &listed);
}

#[test]
fn shapes() {
    let listed = ["attempts", "attempts_total", "checkpoints"];
    check::<JobDetail>(&[], json!({}));
    check::<Job>(&listed, json!({}));
    check::<CreatedJob>(&listed, json!({"replayed": false}));
    check::<CreatedJob>(&listed, json!({"replayed": true, "revived": true}));
    check::<CreatedJob>(&listed, json!({"replayed": true, "purged": true, "payload": null}));
    check::<RetriedJob>(&listed, json!({"repeated": true}));
    check::<JobSummary>(
        &["payload", "result", "checkpoints", "attempts", "attempts_total", "backoff"],
        json!({}),
    );
    check::<ClaimedJob>(
        &["result", "attempts", "attempts_total"],
        json!({"lease": {
            "token": "t", "expires_at": "2026-11-29T08:16:30.250Z", "expires_in_ms": 60000,
            "deadline": "2026-11-29T08:30:30.250Z", "deadline_in_ms": 900000,
        }}),
    );
}

#[test]
fn bodies_keep_their_bytes() {
    let payload =
        r#"{"subscription_id": "sub_1",  "period": "2026-11", "exact": 12345678901234567890.10}"#;
    let detail: JobDetail = serde_json::from_str(DETAIL).unwrap();
    let job = detail.into_job();
    assert_eq!(job.payload.as_ref().unwrap().get(), payload);
    let created = CreatedJob::new(job, true, false, false);
    assert!(serde_json::to_string(&created).unwrap().contains(payload));
    assert!(created.replayed);
}
