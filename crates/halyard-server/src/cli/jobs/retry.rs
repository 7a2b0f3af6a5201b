//! `halyard jobs retry`.

use std::process::ExitCode;

use halyard::{ApiError, Error, Halyard, JobDetail, Retry, State};

use super::super::failure::Failure;
use super::super::screen::{Screen, clean};

/// Open a new life of a failed or cancelled job: same id, same key, checkpoints kept, attempts
/// counted anew.
///
/// Work behind a kept checkpoint is not done again. If a payment provider recorded a refusal under
/// the job's id, it answers the same again: run the job as a new one then, with
/// `halyard jobs run-as-new`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard jobs retry job_01jdvw3k8pf5tvn2c7m9a0r4xq --dry-run
  halyard jobs retry job_01jdvw3k8pf5tvn2c7m9a0r4xq --from invoices")]
pub(super) struct Args {
    /// The job.
    #[arg(value_name = "ID")]
    id: String,
    /// Drop this checkpoint and the later ones: begin again from there.
    #[arg(long, value_name = "CHECKPOINT")]
    from: Option<String>,
    /// Drop every checkpoint: begin at the beginning.
    #[arg(long, conflicts_with = "from")]
    fresh: bool,
    /// Retry a completed job too.
    #[arg(long)]
    allow_completed: bool,
    /// Say what would be done, or why it would be refused, and do nothing. It cannot see a key that
    /// ran out and was taken by another job since.
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn run(args: Args, client: Halyard, screen: Screen) -> anyhow::Result<ExitCode> {
    let job = client.jobs().get(&args.id).await?;
    let refused = refusal(&job, args.allow_completed);
    if args.dry_run {
        if let Some(refusal) = refused {
            return Err(refusal.into());
        }
        let plan = Plan::of(&job, args.from.as_deref(), args.fresh)?;
        if let Some(refusal) = key_refusal(&job, &client).await? {
            return Err(refusal.into());
        }
        if screen.is_json() {
            screen.json(&plan)?;
        } else {
            screen.lines(&plan.says)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    // What is refused for its state is for the server to say: it may be another by now.
    let plan = match refused {
        None => Some(Plan::of(&job, args.from.as_deref(), args.fresh)?),
        Some(_) => None,
    };
    // The life that was seen goes along: what was retried meanwhile is not retried twice.
    let how = Retry {
        life: Some(i64::try_from(job.life).unwrap_or(i64::MAX)),
        from: args.from,
        fresh: args.fresh.then_some(true),
        allow_completed: args.allow_completed.then_some(true),
    };
    let retried = client.jobs().retry(&args.id, how).await?;
    if screen.is_json() {
        screen.json(&retried)?;
    } else if retried.repeated {
        screen.lines(&format!("life {} had begun already ({})", retried.life, retried.state))?;
    } else {
        if let Some(plan) = plan {
            screen.lines(&plan.says)?;
        }
        screen.lines(&format!("life {} begins ({})", retried.life, retried.state))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why the server would refuse to retry a job in this state.
fn refusal(job: &JobDetail, allow_completed: bool) -> Option<Error> {
    let code = match job.state {
        State::Failed | State::Cancelled => return None,
        State::Completed if allow_completed => return None,
        State::Running => "job_running",
        State::Completed | State::Scheduled | State::Queued | State::Retrying => {
            "job_not_retryable"
        }
    };
    let detail = format!("a retry would be refused: the job is {}", job.state);
    Some(conflict(code, detail, Some(&job.id)))
}

/// Why the server would refuse to retry a job whose key another holds by now.
///
/// A job shows its key while it holds it. The way to the key of one that was replaced leads over
/// the job that replaced it.
async fn key_refusal(job: &JobDetail, client: &Halyard) -> Result<Option<Error>, Error> {
    let (mut key, mut next) = (job.idempotency_key.clone(), job.replaced_by.clone());
    while let (None, Some(heir)) = (&key, &next) {
        let heir = match client.jobs().get(heir).await {
            Ok(heir) => heir,
            Err(error) if error.code() == Some("job_not_found") => {
                let detail = format!(
                    "a retry may be refused: job {heir} replaced this one, its record is gone, and \
                     its key may not be free yet"
                );
                return Ok(Some(conflict("idempotency_key_taken", detail, None)));
            }
            Err(error) => return Err(error),
        };
        (key, next) = (heir.idempotency_key, heir.replaced_by);
    }
    let Some(key) = key else { return Ok(None) };
    let holder = client.jobs().by_key(&job.task, &key).await?;
    Ok(holder.filter(|holder| holder.job_id != job.id).map(|holder| {
        let detail = format!(
            "a retry would be refused: job {} ({}) holds the idempotency key of this job by now",
            holder.job_id, holder.state
        );
        conflict("idempotency_key_taken", detail, Some(&holder.job_id))
    }))
}

/// A refusal as the server would send it.
fn conflict(code: &str, detail: String, job: Option<&str>) -> Error {
    Error::Api(Box::new(ApiError {
        status: 409,
        code: code.to_owned(),
        detail,
        request_id: String::new(),
        job_id: job.map(str::to_owned),
        errors: Vec::new(),
    }))
}

/// What a retry will do.
#[derive(serde::Serialize)]
struct Plan {
    id: String,
    state: State,
    /// The life that is over.
    life: u64,
    /// Checkpoints that stay, in the order first written.
    kept: Vec<String>,
    /// Checkpoints whose work is done again.
    dropped: Vec<String>,
    /// All of it in a line.
    #[serde(skip)]
    says: String,
}

impl Plan {
    fn of(job: &JobDetail, from: Option<&str>, fresh: bool) -> Result<Self, Failure> {
        let names: Vec<&str> = job.checkpoints.iter().map(|checkpoint| &*checkpoint.name).collect();
        let kept = match from {
            _ if fresh => 0,
            None => names.len(),
            Some(from) => names.iter().position(|name| *name == from).ok_or_else(|| {
                let known = if names.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("it has {}", listed(&names))
                };
                Failure::refused(format!("the job has no checkpoint `{}`: {known}", clean(from)))
            })?,
        };
        let (kept, dropped) = names.split_at(kept);
        let keeping = match (names.is_empty(), kept.is_empty()) {
            (true, _) => "from the beginning: it has no checkpoints".to_owned(),
            (false, true) => "from the beginning".to_owned(),
            (false, false) => format!("keeping {}", listed(kept)),
        };
        let dropping = if dropped.is_empty() {
            String::new()
        } else {
            format!(", dropping {}", listed(dropped))
        };
        let id = clean(&job.id);
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Ok(Self {
            says: format!("{id} ({}, life {}): retry {keeping}{dropping}", job.state, job.life),
            id: job.id.clone(),
            state: job.state,
            life: job.life,
            kept: owned(kept),
            dropped: owned(dropped),
        })
    }
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{}`", clean(name))).collect();
    names.join(", ")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(checkpoints: &[&str]) -> JobDetail {
        let checkpoint = |name: &&str| {
            json!({
                "name": name, "value": null, "life": 1, "attempt": 1, "start": 1,
                "created_at": "2026-11-29T08:16:30.000Z",
            })
        };
        let job = json!({
            "id": "job_1", "task": "t", "queue": "q", "state": "failed", "priority": 0, "tags": [],
            "traceparent": null, "idempotency_key": null, "idempotency_expires_at": null,
            "replays": 0, "rejected": 0, "life": 2, "attempt": 1, "starts": 2, "max_attempts": 20,
            "crashes": 0, "max_crashes": 5, "timeout_ms": 1, "cancel_requested": false,
            "error": null, "replaced_by": null, "rerun_of": null,
            "created_at": "2026-11-29T08:15:00.000Z", "run_at": "2026-11-29T08:15:00.000Z",
            "started_at": null, "finished_at": null, "payload": null, "result": null,
            "backoff": {"initial_ms": 1, "factor": 2.0, "max_ms": 3, "jitter": 0.2},
            "checkpoints": checkpoints.iter().map(checkpoint).collect::<Vec<_>>(),
            "attempts": [], "attempts_total": 0,
        });
        serde_json::from_str(&job.to_string()).unwrap()
    }

    #[test]
    fn plans() {
        for (checkpoints, from, fresh, expected) in [
            (&[] as &[&str], None, false, "retry from the beginning: it has no checkpoints"),
            (&[], None, true, "retry from the beginning: it has no checkpoints"),
            (&["a", "b"], None, false, "retry keeping `a`, `b`"),
            (&["a", "b"], None, true, "retry from the beginning, dropping `a`, `b`"),
            (&["a", "b", "c"], Some("b"), false, "retry keeping `a`, dropping `b`, `c`"),
            (&["a", "b"], Some("a"), false, "retry from the beginning, dropping `a`, `b`"),
        ] {
            let plan = Plan::of(&job(checkpoints), from, fresh).unwrap();
            assert_eq!(plan.says, format!("job_1 (failed, life 2): {expected}"));
        }
        for (checkpoints, expected) in [
            (&["a\n", "b"] as &[&str], "the job has no checkpoint `x`: it has `a\\n`, `b`"),
            (&[], "the job has no checkpoint `x`: it has none"),
        ] {
            let refused = Plan::of(&job(checkpoints), Some("x"), false).err().unwrap();
            assert_eq!(refused.to_string(), expected);
        }
    }
}
