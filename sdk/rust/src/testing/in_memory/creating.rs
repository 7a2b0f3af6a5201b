//! What a create gets: the table of the API, from its top.

use halyard_api::Timestamp;
use halyard_api::job::{Backoff, Job};
use halyard_api::jobs::create::{CreatedJob, Received};
use halyard_api::problem::Code;
use halyard_api::state::{IfFailed, State};
use halyard_json::Text;
use serde_json::value::RawValue;

use crate::ids;

use super::jobs::{Jobs, Refused, refused};

/// How long a key lives after its job has ended, unless the create says otherwise.
pub(super) const KEY_TTL_MS: i64 = 30 * 24 * 3_600 * 1_000;
/// Pointers that a refusal names.
const CHANGED_MAX: usize = 20;

/// A create's status and job.
pub(super) type Created = Result<(u16, CreatedJob), Refused>;

pub(super) fn create(jobs: &mut Jobs, create: &Received<'_>) -> Created {
    let payload = create.payload.map_or("null", |payload| payload.raw());
    let fingerprint = crate::processed::fingerprint_of(payload);
    let key = create.idempotency_key.as_deref();
    let Some(holder) = key.and_then(|key| jobs.holder(&create.task, key)) else {
        if let Some(id) = create.id.as_deref()
            && let Ok(held) = jobs.find(id)
        {
            // A repeat has the same work, and no key but the one that the job was made with.
            let same_work = held.job.task == create.task && held.fingerprint == fingerprint;
            let same_key = key.is_none() || key == held.job.idempotency_key.as_deref();
            return if same_work && same_key {
                Ok(replay(&mut held.job))
            } else {
                Err(id_taken(id))
            };
        }
        return Ok(make(jobs, create));
    };
    let (id, state) = (holder.job.id.clone(), holder.job.state);
    let own = create.id.as_deref() == Some(&*id);
    let over = matches!(state, State::Failed | State::Cancelled);
    if over && !own && create.if_failed == Some(IfFailed::Replace) {
        let made = make(jobs, create);
        jobs.find(&id)?.job.replaced_by = Some(made.1.id.clone());
        return Ok(made);
    }
    if holder.fingerprint != fingerprint {
        let held = holder.job.payload.as_deref().map_or("null", RawValue::get);
        let changed =
            halyard_json::changed(&Text::trusted(held), &Text::trusted(payload), CHANGED_MAX);
        let detail = format!("the key is that of {id}, whose payload is another");
        let mut reused = refused(Code::IdempotencyKeyReused, detail);
        reused.job_id = Some(id);
        reused.changed = Some(Some(changed));
        return Err(reused);
    }
    let now = jobs.now;
    let held = jobs.find(&id)?;
    let revived = state == State::Failed && !own && create.if_failed == Some(IfFailed::Retry);
    if revived {
        held.revive(now);
    }
    let (status, mut job) = replay(&mut held.job);
    job.revived = revived;
    Ok((status, job))
}

fn replay(job: &mut Job) -> (u16, CreatedJob) {
    job.replays += 1;
    (200, CreatedJob::new(job.clone(), true, false, false))
}

fn id_taken(id: &str) -> Refused {
    refused(Code::IdTaken, format!("{id} is the id of another job"))
}

/// Makes the job that a create asks for.
fn make(jobs: &mut Jobs, create: &Received<'_>) -> (u16, CreatedJob) {
    let now = jobs.now;
    let asked = create.run_at.map(Timestamp::as_ms);
    let run_at = asked.unwrap_or(now + create.delay_ms.unwrap_or(0)).max(now);
    let backoff = create.backoff.unwrap_or_default();
    let count = |asked: Option<i64>, usual: u64| {
        asked.and_then(|asked| u64::try_from(asked).ok()).unwrap_or(usual)
    };
    let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    let job = Job {
        id: owned(&create.id).unwrap_or_else(|| ids::make("job")),
        task: create.task.clone().into_owned(),
        queue: owned(&create.queue).unwrap_or_else(|| "default".to_owned()),
        state: if run_at > now { State::Scheduled } else { State::Queued },
        priority: create.priority.unwrap_or(0),
        tags: create.tags.iter().flatten().map(|tag| tag.clone().into_owned()).collect(),
        traceparent: owned(&create.traceparent),
        idempotency_key: owned(&create.idempotency_key),
        idempotency_expires_at: None,
        replays: 0,
        rejected: 0,
        life: 1,
        attempt: 0,
        starts: 0,
        max_attempts: count(create.max_attempts, 20),
        crashes: 0,
        max_crashes: count(create.max_crashes, 5),
        timeout_ms: create.timeout_ms.unwrap_or(900_000),
        error: None,
        cancel_requested: false,
        replaced_by: None,
        rerun_of: None,
        created_at: Timestamp::from_ms(now),
        run_at: Timestamp::from_ms(run_at),
        started_at: None,
        finished_at: None,
        payload: create.payload.and_then(|text| RawValue::from_string(text.raw().to_owned()).ok()),
        result: None,
        backoff: Backoff {
            initial_ms: backoff.initial_ms.unwrap_or(5_000),
            factor: backoff.factor.unwrap_or(2.0),
            max_ms: backoff.max_ms.unwrap_or(3_600_000),
            jitter: backoff.jitter.unwrap_or(0.2),
        },
    };
    if let Some(key) = &job.idempotency_key {
        jobs.keys.insert((job.task.clone(), key.clone()), job.id.clone());
    }
    jobs.add(job.clone(), create.idempotency_ttl_ms.unwrap_or(KEY_TTL_MS));
    (201, CreatedJob::new(job, false, false, false))
}
