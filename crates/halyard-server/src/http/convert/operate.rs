//! What people do to jobs by hand: retry, cancel, run now, delete, bulk.

use halyard_api::jobs::bulk::{self, BulkResult};
use halyard_api::jobs::retry;
use halyard_api::problem::{Code, Problem};
use halyard_api::{Faults, job, state};
use halyard_core::id::JobId;
use halyard_core::name::check_filter;
use halyard_core::operate::{Refusal, Retry};
use halyard_store::verbs::{Acted, Bulk, BulkAction, Keyed};

use super::{checked_text, job::job, key_reused, place, refuse_if_any, shown};
use crate::http::refused::Refused;

/// How to retry.
///
/// # Errors
/// A life that cannot be.
pub fn how(sent: retry::Received<'_>) -> Result<Retry, Refused> {
    let mut faults = Faults::default();
    let life = sent.life.and_then(|life| checked_life(life, "/life", &mut faults));
    refuse_if_any(faults)?;
    Ok(Retry {
        life,
        from: sent.from.map(std::borrow::Cow::into_owned),
        fresh: sent.fresh,
        allow_completed: sent.allow_completed,
    })
}

/// A life that may have been seen. One beyond all that are counted is none that exists.
fn checked_life(life: i64, pointer: &str, faults: &mut Faults) -> Option<u32> {
    if life < 1 {
        let message = format!("{} is {life}; lives are numbered from 1", place(pointer));
        faults.push(Code::InvalidField, pointer, message);
    }
    Some(u32::try_from(life).unwrap_or(u32::MAX))
}

/// A job after an action; true when an earlier call had done it. `None` is a deleted job.
pub type Done = (Option<job::Job>, bool);

/// What an action did.
///
/// # Errors
/// Why nothing changed.
pub fn acted(acted: Acted, id: &str) -> Result<Done, Refused> {
    match acted {
        Acted::Done { view, repeated, .. } => Ok((view.map(|view| job(&view)), repeated)),
        Acted::Refused(refusal) => Err(refused(refusal, id).into()),
        Acted::NotFound => Err(Refused::no_such_job(id)),
    }
}

/// As [`acted`], of a request that may have been repeated; then the third part is true.
///
/// # Errors
/// Why nothing changed.
pub fn acted_once(answer: Keyed<Acted>, id: &str) -> Result<(Done, bool), Refused> {
    match answer {
        Keyed::Fresh(acted) => Ok((self::acted(acted, id)?, false)),
        Keyed::Replayed(acted) => Ok((self::acted(acted, id)?, true)),
        Keyed::Reused(first) => Err(key_reused(first).into()),
    }
}

fn refused(refusal: Refusal, id: &str) -> Problem {
    let (code, detail) = match refusal {
        Refusal::Running => (
            Code::JobRunning,
            "the job is running; cancel it first, or wait for its end".to_owned(),
        ),
        Refusal::NotRetryable(state) => (
            Code::JobNotRetryable,
            format!(
                "the job is {}; failed and cancelled jobs can be retried, completed ones with \
                 allow_completed",
                state.as_str()
            ),
        ),
        Refusal::Finished(state) => {
            (Code::JobFinished, format!("the job has ended; it is {}", state.as_str()))
        }
        Refusal::KeyTaken(holder) => {
            let detail = format!("job {holder} holds the idempotency key of this job by now");
            let mut problem = Problem::new(Code::IdempotencyKeyTaken, detail, "");
            problem.job_id = Some(holder.to_string());
            return problem;
        }
        Refusal::LifeAhead(current) => {
            let message = format!("life must be at most {current}, the life the job is in");
            return Faults::one(Code::InvalidField, "/life", message).into_problem("");
        }
        Refusal::NoSuchCheckpoint(name) => {
            let message =
                format!("from is {}; the job has no checkpoint of that name", shown(&name));
            return Faults::one(Code::InvalidField, "/from", message).into_problem("");
        }
    };
    let mut problem = Problem::new(code, detail, "");
    problem.job_id = Some(id.to_owned());
    problem
}

/// One action to many jobs.
///
/// # Errors
/// Everything that is wrong with the request.
pub fn bulk(sent: &bulk::Received<'_>) -> Result<Bulk, Refused> {
    let mut faults = Faults::default();
    let filter = checked_text(sent.filter.clone(), check_filter, "/filter", &mut faults);
    let targets = sent
        .ids
        .iter()
        .map(|id| {
            let life = sent.lives.get(id).copied();
            let pointer = || format!("/lives/{id}");
            (JobId::parse(id), life.and_then(|life| checked_life(life, &pointer(), &mut faults)))
        })
        .collect();
    refuse_if_any(faults)?;
    let action = match sent.action {
        state::BulkAction::Retry => BulkAction::Retry,
        state::BulkAction::Cancel => BulkAction::Cancel,
        state::BulkAction::Delete => BulkAction::Delete,
        state::BulkAction::RunNow => BulkAction::RunNow,
    };
    Ok(Bulk { action, targets, filter })
}

/// The results of a bulk action, and whether an earlier request had them.
///
/// # Errors
/// The whole request was refused.
pub fn bulk_results(
    answer: Keyed<Vec<Acted>>,
    ids: &[impl AsRef<str>],
    request_id: &str,
) -> Result<(Vec<BulkResult>, bool), Refused> {
    let (all, replayed) = match answer {
        Keyed::Fresh(all) => (all, false),
        Keyed::Replayed(all) => (all, true),
        Keyed::Reused(first) => return Err(key_reused(first).into()),
    };
    let results = ids.iter().zip(all).map(|(id, acted)| {
        let id = id.as_ref();
        match self::acted(acted, id) {
            Ok((job, _)) => BulkResult {
                id: id.to_owned(),
                status: if job.is_some() { 200 } else { 204 },
                job: job.map(Box::new),
                error: None,
            },
            Err(Refused(mut problem)) => {
                request_id.clone_into(&mut problem.request_id);
                BulkResult {
                    id: id.to_owned(),
                    status: problem.status,
                    job: None,
                    error: Some(problem),
                }
            }
        }
    });
    Ok((results.collect(), replayed))
}
