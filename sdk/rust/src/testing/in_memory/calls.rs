//! Which call does what. Bodies and queries are read as the server reads them.

use halyard_api::body::Body;
use halyard_api::faults::Faults;
use halyard_api::job::JobSummary;
use halyard_api::jobs::batch::{self, BatchAnswer, BatchResult};
use halyard_api::jobs::list::{self, ListAnswer};
use halyard_api::jobs::{create, retry, run_as_new};
use halyard_api::keys;
use halyard_api::problem::Code;
use halyard_api::queues::QueuesAnswer;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::connection::MemoryCall;
use crate::ids;

use super::creating;
use super::jobs::{Jobs, Refused, refused};

type Reply = Result<(u16, Vec<u8>), Refused>;

/// The status and the body of the answer.
pub(super) fn answer(jobs: &mut Jobs, call: &MemoryCall<'_>) -> (u16, Vec<u8>) {
    reply(jobs, call).unwrap_or_else(|problem| (problem.status, written(&problem)))
}

fn reply(jobs: &mut Jobs, call: &MemoryCall<'_>) -> Reply {
    let path: Vec<&str> = call.path.iter().map(String::as_str).collect();
    match (call.method, path.as_slice()) {
        ("POST", ["v1", "jobs"]) => {
            let body = Body::parse(call.body).map_err(faults)?;
            let (status, job) = creating::create(jobs, &create::read(&body).map_err(faults)?)?;
            Ok((status, written(&job)))
        }
        ("POST", ["v1", "jobs", "batch"]) => create_batch(jobs, call),
        ("GET", ["v1", "jobs"]) => list_jobs(jobs, call),
        ("GET", ["v1", "jobs", id]) => ok(&jobs.find(id)?.detail()),
        ("DELETE", ["v1", "jobs", id]) => jobs.delete(id).map(|()| (204, Vec::new())),
        ("POST", ["v1", "jobs", id, "cancel"]) => ok(&jobs.cancel(id)?),
        ("POST", ["v1", "jobs", id, "run-now"]) => ok(&jobs.run_now(id)?),
        ("POST", ["v1", "jobs", id, "retry"]) => {
            let body = Body::parse_optional(call.body).map_err(faults)?;
            ok(&jobs.retry(id, &retry::read(&body).map_err(faults)?)?)
        }
        ("POST", ["v1", "jobs", id, "run-as-new"]) => {
            let body = Body::parse_optional(call.body).map_err(faults)?;
            let payload = run_as_new::read(&body).map_err(faults)?.payload;
            let payload =
                payload.and_then(|text| RawValue::from_string(text.raw().to_owned()).ok());
            Ok((201, written(&jobs.run_as_new(id, payload)?)))
        }
        ("DELETE", ["v1", "jobs", id, "idempotency-key"]) => {
            jobs.forget_key(id).map(|()| (204, Vec::new()))
        }
        ("GET", ["v1", "keys"]) => {
            let asked = keys::read_query(call.query).map_err(faults)?;
            ok(&jobs.key_holder(&asked.task, &asked.key)?)
        }
        ("GET", ["v1", "queues"]) => ok(&QueuesAnswer { data: jobs.queues() }),
        ("GET", ["v1", "queues", name]) => {
            let found = jobs.queues().into_iter().find(|queue| queue.name == *name);
            ok(&found.ok_or_else(|| refused(Code::QueueNotFound, "there is no such queue"))?)
        }
        (method, path) => {
            let path = path.join("/");
            let detail = format!(
                "TestHalyard has no {method} /{path}; a test that needs it starts the server \
                 (halyard::testing::start_server)"
            );
            Err(refused(Code::MethodNotAllowed, detail))
        }
    }
}

fn create_batch(jobs: &mut Jobs, call: &MemoryCall<'_>) -> Reply {
    let body = Body::parse(call.body).map_err(faults)?;
    let creates = batch::read(&body).map_err(faults)?.jobs;
    let one = |create| match creating::create(jobs, &create) {
        Ok((status, job)) => BatchResult { status, job: Some(Box::new(job)), error: None },
        Err(error) => BatchResult { status: error.status, job: None, error: Some(error) },
    };
    ok(&BatchAnswer { results: creates.into_iter().map(one).collect() })
}

fn list_jobs(jobs: &Jobs, call: &MemoryCall<'_>) -> Reply {
    let filter = list::read_query(call.query).map_err(faults)?;
    // A summary is a job with fewer members.
    let summary = |job| serde_json::to_value(job).and_then(serde_json::from_value::<JobSummary>);
    let data = jobs.list(&filter).iter().filter_map(|job| summary(job).ok()).collect();
    ok(&ListAnswer { data, next_cursor: None, partial: false })
}

fn ok(answer: &impl Serialize) -> Reply {
    Ok((200, written(answer)))
}

fn written(answer: &impl Serialize) -> Vec<u8> {
    // What is no JSON reads as an answer that is none of Halyard's.
    serde_json::to_vec(answer).unwrap_or_default()
}

fn faults(faults: Faults) -> Refused {
    Box::new(faults.into_problem(ids::make("req")))
}
