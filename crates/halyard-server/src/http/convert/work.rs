//! The worker calls: claim, heartbeat, finish, checkpoints.

use std::borrow::Cow;
use std::time::Duration;

use halyard_api::jobs::checkpoints::{self, CheckpointAnswer};
use halyard_api::jobs::claim::{self, ClaimAnswer};
use halyard_api::jobs::finish::{
    self, FinishAnswer, FinishResult, FinishStatus, ReceivedOutcome, ReceivedResult,
};
use halyard_api::jobs::heartbeat::{self, HeartbeatAnswer, HeartbeatResult, HeartbeatStatus};
use halyard_api::problem::{Code, Problem};
use halyard_api::{Faults, Timestamp, workers};
use halyard_core::checkpoint::Written;
use halyard_core::error::ErrorReport;
use halyard_core::id::{JobId, Token};
use halyard_core::job::Name;
use halyard_core::outcome::{Finish, Report};
use halyard_core::{limits, name};
use halyard_store::verbs::{Beat, Beats, CheckpointWrite, Claim, Claims, Outcome};
use http::StatusCode;
use sha2::{Digest, Sha256};

use super::{
    checked_name, checked_number, checked_text, job, refuse_if_any, report_word, shown, state_word,
    text_or_null,
};
use crate::engine::chance;
use crate::engine::workers::Identity;
use crate::http::refused::Refused;

/// A claim and who makes it.
#[derive(Debug)]
pub struct ClaimCall {
    /// Who claims.
    pub worker: Identity,
    /// What.
    pub claim: Claim,
    /// How long it waits.
    pub wait: Duration,
}

/// Checks a claim.
///
/// # Errors
/// Everything that is wrong with it.
pub fn claim(sent: claim::Received<'_>) -> Result<ClaimCall, Refused> {
    let mut faults = Faults::default();
    let worker = identity(sent.worker, &mut faults);
    let queues = names(&sent.queues, "/queues", &mut faults);
    let tasks = sent.tasks.map(|tasks| names(&tasks, "/tasks", &mut faults));
    let jobs_max = i64::try_from(limits::BATCH_MAX).unwrap_or(i64::MAX);
    let max = checked_number(sent.max, 1, 1..=jobs_max, "/max", &mut faults);
    let lease_ms = lease_ms(sent.lease_ms, &mut faults);
    let wait_ms = sent.wait_ms.unwrap_or(0);
    if wait_ms < 0 {
        let max = limits::WAIT_MS_MAX;
        let message = format!("wait_ms is {wait_ms}; it must be 0 or more, and is cut at {max}");
        faults.push(Code::InvalidField, "/wait_ms", message);
    }
    let claim_id = checked_text(sent.claim_id, name::check_claim_id, "/claim_id", &mut faults);
    refuse_if_any(faults)?;
    let mark = claim_id.map(|claim_id| {
        let mut hash = Sha256::new();
        hash.update(worker.id.as_bytes());
        hash.update([0]);
        hash.update(claim_id.as_bytes());
        let mut mark = [0; 16];
        mark.iter_mut().zip(hash.finalize()).for_each(|(place, byte)| *place = byte);
        mark
    });
    let claim = Claim {
        worker: worker.id.clone(),
        queues,
        tasks,
        max: usize::try_from(max).unwrap_or(1),
        lease_ms,
        mark,
        repeat: sent.repeat,
        invitation: None,
        seed: chance::seed(),
    };
    Ok(ClaimCall { worker, claim, wait: super::wait(Some(wait_ms.unsigned_abs())) })
}

fn identity(sent: workers::Received<'_>, faults: &mut Faults) -> Identity {
    Identity {
        id: checked_name(&sent.id, "/worker/id", faults),
        name: checked_text(sent.name, name::check_label, "/worker/name", faults),
        sdk: checked_text(sent.sdk, name::check_label, "/worker/sdk", faults),
    }
}

fn names(sent: &[Cow<'_, str>], pointer: &str, faults: &mut Faults) -> Vec<Name> {
    let each = sent.iter().enumerate();
    each.map(|(index, name)| checked_name(name, &format!("{pointer}/{index}"), faults)).collect()
}

fn lease_ms(sent: Option<i64>, faults: &mut Faults) -> i64 {
    let range = limits::LEASE_MS_MIN..=limits::LEASE_MS_MAX;
    checked_number(sent, limits::LEASE_MS_DEFAULT, range, "/lease_ms", faults)
}

/// The answer of a claim.
pub fn claimed(claims: &Claims) -> ClaimAnswer {
    let jobs = claims.jobs.iter().filter_map(|claimed| job::claimed(claimed, claims.now));
    ClaimAnswer { jobs: jobs.collect() }
}

/// A heartbeat and who sent it.
#[derive(Debug)]
pub struct HeartbeatCall {
    /// Who is alive.
    pub worker: Identity,
    /// Says that it is shutting down.
    pub draining: bool,
    /// What it holds.
    pub beats: Vec<Beat>,
    /// For how long from now.
    pub lease_ms: i64,
    /// The ids as they were given.
    pub ids: Vec<String>,
}

/// Checks a heartbeat.
///
/// # Errors
/// Everything that is wrong with it.
pub fn heartbeat(sent: heartbeat::Received<'_>) -> Result<HeartbeatCall, Refused> {
    let mut faults = Faults::default();
    let worker = identity(sent.worker, &mut faults);
    let lease_ms = lease_ms(sent.lease_ms, &mut faults);
    refuse_if_any(faults)?;
    let beats = sent
        .leases
        .iter()
        .map(|lease| Beat { id: JobId::parse(&lease.id), token: Token::parse(&lease.token) })
        .collect();
    let ids = sent.leases.into_iter().map(|lease| lease.id.into_owned()).collect();
    Ok(HeartbeatCall { worker, draining: sent.draining, beats, lease_ms, ids })
}

/// The answer of a heartbeat.
pub fn renewed(beats: &Beats, ids: Vec<String>) -> HeartbeatAnswer {
    let results = ids.into_iter().zip(&beats.leases).map(|(id, lease)| match lease {
        Some(renewed) => HeartbeatResult {
            id,
            status: HeartbeatStatus::Ok,
            expires_at: Some(Timestamp::from_ms(renewed.expires_at)),
            expires_in_ms: Some(renewed.expires_at.saturating_sub(beats.now).max(0)),
            cancel_requested: renewed.cancel_requested,
        },
        None => HeartbeatResult {
            id,
            status: HeartbeatStatus::LeaseLost,
            expires_at: None,
            expires_in_ms: None,
            cancel_requested: false,
        },
    });
    HeartbeatAnswer { results: results.collect() }
}

/// Checks reports; gives them with the ids as they were given.
///
/// # Errors
/// Everything that is wrong with them.
pub fn finish(sent: finish::Received<'_>) -> Result<(Vec<Outcome>, Vec<String>), Refused> {
    let mut faults = Faults::default();
    let mut ids = Vec::with_capacity(sent.outcomes.len());
    let mut outcomes = Vec::with_capacity(sent.outcomes.len());
    for (index, sent) in sent.outcomes.into_iter().enumerate() {
        faults.next_item();
        outcomes.push(Outcome {
            id: JobId::parse(&sent.id),
            token: Token::parse(&sent.token),
            report: report(sent.outcome, index, &mut faults),
        });
        ids.push(sent.id.into_owned());
    }
    refuse_if_any(faults)?;
    Ok((outcomes, ids))
}

fn report(sent: ReceivedOutcome<'_>, index: usize, faults: &mut Faults) -> Report {
    match sent {
        ReceivedOutcome::Completed(result) => Report::Completed(match result {
            ReceivedResult::Refused(reason) => Err(reason),
            ReceivedResult::Value(None) => Ok(None),
            ReceivedResult::Value(Some(value)) => kept_result(value).map(Some),
        }),
        ReceivedOutcome::Failed { error, retryable, retry_after_ms } => Report::Failed {
            error: ErrorReport::reported(
                error.r#type.as_deref(),
                error.message.as_deref(),
                error.stack.as_deref(),
                retryable,
            ),
            // A failure report always fits, so what is out of range is cut and not refused.
            retry_after_ms: retry_after_ms.map(|ms| ms.clamp(0, limits::RETRY_AFTER_MS_MAX)),
        },
        ReceivedOutcome::Released => Report::Released,
        ReceivedOutcome::Snoozed { delay_ms } => {
            let range = limits::SNOOZE_MS_MIN..=limits::SNOOZE_MS_MAX;
            let pointer = format!("/outcomes/{index}/delay_ms");
            let least = limits::SNOOZE_MS_MIN;
            let delay_ms = checked_number(Some(delay_ms), least, range, &pointer, faults);
            Report::Snoozed { delay_ms }
        }
        ReceivedOutcome::Cancelled => Report::Cancelled,
    }
}

/// A result that can be kept, or why it cannot.
fn kept_result(value: halyard_json::Value<'_>) -> Result<halyard_json::Text, String> {
    let (bytes, max) = (value.raw().len(), limits::RESULT_BYTES_MAX);
    if bytes > max {
        return Err(format!("the result has {bytes} bytes; at most {max} are kept"));
    }
    if value.height() > limits::VALUE_DEPTH_MAX {
        let max = limits::VALUE_DEPTH_MAX;
        return Err(format!("the result is nested deeper than {max} levels"));
    }
    Ok(value.to_text())
}

/// The answer of a finish.
pub fn finished(results: Vec<Finish>, ids: Vec<String>) -> FinishAnswer {
    let results = ids.into_iter().zip(results).map(|(id, result)| {
        let (status, state, repeated, recorded) = match result {
            Finish::Ok { state, repeated } => (FinishStatus::Ok, Some(state), repeated, None),
            Finish::Conflict { state, recorded } => {
                (FinishStatus::Conflict, Some(state), false, recorded)
            }
            Finish::LeaseLost { state } => (FinishStatus::LeaseLost, Some(state), false, None),
            Finish::NotFound => (FinishStatus::NotFound, None, false, None),
        };
        FinishResult {
            id,
            status,
            state: state.map(state_word),
            repeated,
            recorded_outcome: recorded.map(report_word),
        }
    });
    FinishAnswer { results: results.collect() }
}

/// Checks a checkpoint.
///
/// # Errors
/// Everything that is wrong with it.
pub fn checkpoint(id: JobId, sent: &checkpoints::Received<'_>) -> Result<CheckpointWrite, Refused> {
    let mut faults = Faults::default();
    if let Err(rule) = name::check_checkpoint_name(&sent.name) {
        let message = format!("name is {}; it {rule}", shown(&sent.name));
        faults.push(Code::InvalidField, "/name", message);
    }
    let value = text_or_null(sent.value);
    if value.height() > limits::VALUE_DEPTH_MAX {
        let max = limits::VALUE_DEPTH_MAX;
        let message = format!("value is nested deeper than {max} levels");
        faults.push(Code::InvalidField, "/value", message);
    }
    refuse_if_any(faults)?;
    let token = Token::parse(&sent.token);
    Ok(CheckpointWrite { id, token, name: Name::from(&*sent.name), value })
}

/// The answer of a checkpoint: 201 or 200, and the checkpoint.
///
/// # Errors
/// Why it was refused.
pub fn written(written: Written, id: JobId) -> Result<(StatusCode, CheckpointAnswer), Refused> {
    let (status, checkpoint, cancel_requested) = match written {
        Written::New { checkpoint, cancel_requested } => {
            (StatusCode::CREATED, checkpoint, cancel_requested)
        }
        Written::Repeated { checkpoint, cancel_requested } => {
            (StatusCode::OK, checkpoint, cancel_requested)
        }
        Written::Conflict(first) => {
            let name = shown(&first.name);
            let detail = format!("the checkpoint {name} exists with another value");
            let mut problem = Problem::new(Code::CheckpointConflict, detail, "");
            problem.job_id = Some(id.to_string());
            problem.checkpoint = Some(Box::new(job::checkpoint(&first)));
            return Err(problem.into());
        }
        Written::LeaseLost => {
            let detail = "the token is not that of a live lease of this job; nothing was saved";
            let mut problem = Problem::new(Code::LeaseLost, detail, "");
            problem.job_id = Some(id.to_string());
            return Err(problem.into());
        }
        Written::TooLarge(limit) => return Err(Refused::new(Code::PayloadTooLarge, limit)),
        Written::NotFound => return Err(Refused::no_such_job(&id.to_string())),
    };
    let checkpoint = job::checkpoint(&checkpoint);
    let answer = CheckpointAnswer {
        name: checkpoint.name,
        value: checkpoint.value,
        life: checkpoint.life,
        attempt: checkpoint.attempt,
        start: checkpoint.start,
        created_at: checkpoint.created_at,
        cancel_requested,
    };
    Ok((status, answer))
}
