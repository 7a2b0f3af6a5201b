//! Create, batch and run as new: what was sent becomes jobs, what became of them an answer.

use std::borrow::Cow;

use halyard_api::Faults;
use halyard_api::jobs::batch::{self, BatchResult};
use halyard_api::jobs::create::{CreatedJob, Received};
use halyard_api::jobs::run_as_new;
use halyard_api::problem::{Code, Problem};
use halyard_core::admission::{self, Application, BackoffWish, NewJob};
use halyard_core::id::JobId;
use halyard_core::key::IdClash;
use halyard_json::Text;
use halyard_store::verbs::{Created, JobDetail, Keyed};
use http::StatusCode;

use super::{add_faults, if_failed_of, job, key_reused, refuse_if_any, text_or_null};
use crate::engine::chance;
use crate::http::refused::Refused;

/// A job that was sent, checked. What is wrong with its shape and with its values is told at once.
///
/// # Errors
/// Everything that is wrong with it.
pub fn one(
    (sent, mut faults): (Received<'_>, Faults),
    key_ttl_ms: i64,
    now: i64,
) -> Result<NewJob, Refused> {
    if sent.is_read {
        match admit(sent, chance::job_id(now), key_ttl_ms, now) {
            Ok(job) if faults.is_empty() => return Ok(job),
            Ok(_) => {}
            Err(found) => add_faults(&mut faults, "", found),
        }
    }
    Err(faults.into())
}

/// As [`one`], for each of a batch; one bad item refuses all.
///
/// # Errors
/// Everything that is wrong with any of them.
pub fn many(
    (sent, mut faults): (batch::Received<'_>, Faults),
    key_ttl_ms: i64,
    now: i64,
) -> Result<Vec<NewJob>, Refused> {
    let mut jobs = Vec::with_capacity(sent.jobs.len());
    let ids = chance::job_ids(now, sent.jobs.len());
    for (index, (item, new_id)) in sent.jobs.into_iter().zip(ids).enumerate() {
        if !item.is_read {
            continue;
        }
        faults.next_item();
        match admit(item, new_id, key_ttl_ms, now) {
            Ok(job) => jobs.push(job),
            Err(found) => add_faults(&mut faults, &format!("/jobs/{index}"), found),
        }
    }
    refuse_if_any(faults)?;
    Ok(jobs)
}

fn admit(
    sent: Received<'_>,
    new_id: JobId,
    key_ttl_ms: i64,
    now: i64,
) -> Result<NewJob, Vec<admission::Fault>> {
    let backoff = sent.backoff.unwrap_or_default();
    let tags = sent.tags.unwrap_or_default();
    let application = Application {
        task: &sent.task,
        queue: sent.queue.as_deref(),
        payload: text_or_null(sent.payload),
        idempotency_key: sent.idempotency_key.as_deref(),
        if_failed: if_failed_of(sent.if_failed),
        idempotency_ttl_ms: sent.idempotency_ttl_ms,
        id: sent.id.as_deref(),
        run_at: sent.run_at.map(halyard_api::Timestamp::as_ms),
        delay_ms: sent.delay_ms,
        priority: sent.priority,
        max_attempts: sent.max_attempts,
        max_crashes: sent.max_crashes,
        timeout_ms: sent.timeout_ms,
        backoff: BackoffWish {
            initial_ms: backoff.initial_ms,
            factor: backoff.factor,
            max_ms: backoff.max_ms,
            jitter: backoff.jitter,
        },
        tags: tags.iter().map(Cow::as_ref).collect(),
        traceparent: sent.traceparent.as_deref(),
    };
    admission::admit(application, new_id, key_ttl_ms, now)
}

/// The payload of a run as new, when it has one of its own.
///
/// # Errors
/// It breaks a rule.
pub fn own_payload(sent: &run_as_new::Received<'_>) -> Result<Option<Text>, Refused> {
    let payload = sent.payload.map(|value| value.to_text());
    if let Some(payload) = &payload
        && let Err(found) = admission::admit_payload(payload)
    {
        let mut faults = Faults::default();
        add_faults(&mut faults, "", found);
        return Err(faults.into());
    }
    Ok(payload)
}

/// What became of one create.
#[derive(Debug)]
pub struct Made {
    /// 201 or 200.
    pub status: StatusCode,
    /// The job.
    pub job: CreatedJob,
    /// Its id and life, for whoever waits for its end; `None` when it has ended or its row is
    /// gone.
    pub lives: Option<(JobId, u32)>,
}

impl Made {
    /// What its job has become while the create waited.
    pub fn becomes(&mut self, later: &JobDetail) {
        let CreatedJob { replayed, revived, purged, .. } = self.job;
        self.job = CreatedJob::new(job::job(&later.view), replayed, revived, purged);
    }
}

/// What became of a create that may have been a repeated request.
///
/// # Errors
/// Why it was refused.
pub fn made(answer: Keyed<Vec<Created>>) -> Result<Made, Refused> {
    let created = match answer {
        Keyed::Fresh(created) | Keyed::Replayed(created) => created,
        Keyed::Reused(first) => return Err(key_reused(first).into()),
    };
    match created.into_iter().next() {
        Some(created) => made_one(created),
        None => unreachable!("a store answers each create"),
    }
}

/// The results of a batch, and whether an earlier request had them.
///
/// # Errors
/// The whole request was refused.
pub fn results(
    answer: Keyed<Vec<Created>>,
    request_id: &str,
) -> Result<(Vec<BatchResult>, bool), Refused> {
    let (created, replayed) = match answer {
        Keyed::Fresh(created) => (created, false),
        Keyed::Replayed(created) => (created, true),
        Keyed::Reused(first) => return Err(key_reused(first).into()),
    };
    let results = created
        .into_iter()
        .map(|created| match made_one(created) {
            Ok(made) => BatchResult {
                status: made.status.as_u16(),
                job: Some(Box::new(made.job)),
                error: None,
            },
            Err(Refused(mut problem)) => {
                request_id.clone_into(&mut problem.request_id);
                BatchResult { status: problem.status, job: None, error: Some(problem) }
            }
        })
        .collect();
    Ok((results, replayed))
}

fn made_one(created: Created) -> Result<Made, Refused> {
    match created {
        Created::New(view) => Ok(Made {
            status: StatusCode::CREATED,
            lives: lives(&view.job),
            job: CreatedJob::new(job::job(&view), false, false, false),
        }),
        Created::Replayed { view, revived } => Ok(Made {
            status: StatusCode::OK,
            lives: lives(&view.job),
            job: CreatedJob::new(job::job(&view), true, revived, false),
        }),
        Created::Purged(tombstone) => Ok(Made {
            status: StatusCode::OK,
            lives: None,
            job: CreatedJob::new(job::purged(&tombstone), true, false, true),
        }),
        Created::KeyReused { job_id, changed } => {
            let detail = match &changed {
                Some(changed) => format!(
                    "the idempotency key belongs to job {job_id}, whose payload differs at {}",
                    places(changed)
                ),
                None => format!(
                    "the idempotency key belongs to job {job_id}, whose payload was another one"
                ),
            };
            let mut problem = Problem::new(Code::IdempotencyKeyReused, detail, "");
            problem.job_id = Some(job_id.to_string());
            problem.changed = Some(changed);
            Err(problem.into())
        }
        Created::IdTaken { id, clash } => {
            let of = match clash {
                IdClash::Work => "with another task or payload",
                IdClash::NoKey => "that was made without an idempotency key",
                IdClash::OtherKey => "that was made with another idempotency key",
            };
            let detail = format!("the id {id} belongs to a job {of}");
            let mut problem = Problem::new(Code::IdTaken, detail, "");
            problem.job_id = Some(id.to_string());
            Err(problem.into())
        }
        Created::Gone(id) => {
            let detail = format!(
                "job {id}, which this request had made, is kept no longer: it was deleted, or its \
                 retention is over"
            );
            Err(Refused::new(Code::JobNotFound, detail))
        }
    }
}

fn lives(job: &halyard_core::job::Job) -> Option<(JobId, u32)> {
    (!job.state.is_terminal()).then_some((job.id, job.life))
}

/// The first of some JSON pointers, in words.
fn places(changed: &[String]) -> String {
    let first: Vec<String> = changed
        .iter()
        .take(3)
        .map(|place| if place.is_empty() { "the root".to_owned() } else { place.clone() })
        .collect();
    let more = if changed.len() > first.len() { " and elsewhere" } else { "" };
    first.join(", ") + more
}

/// The job that a run as new made.
///
/// # Errors
/// Why there is none.
pub fn run_as_new(answer: Keyed<Created>, old: &str) -> Result<Made, Refused> {
    let created = match answer {
        Keyed::Fresh(Created::Gone(_)) => return Err(Refused::no_such_job(old)),
        Keyed::Fresh(created) | Keyed::Replayed(created) => created,
        Keyed::Reused(first) => return Err(key_reused(first).into()),
    };
    made_one(created)
}
