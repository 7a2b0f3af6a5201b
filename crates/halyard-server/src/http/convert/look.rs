//! What people look at: lists, queues, tasks, workers, keys, stats, events.

use halyard_api::events::JobEvent;
use halyard_api::job::Counts;
use halyard_api::jobs::list::{ListAnswer, ListJobs};
use halyard_api::keys::KeyHolder;
use halyard_api::problem::Code;
use halyard_api::queues::Queue;
use halyard_api::stats::{Minute, Stats, Totals};
use halyard_api::tasks::Task;
use halyard_api::workers::Worker;
use halyard_api::{Timestamp, state};
use halyard_core::job::{Name, State};
use halyard_core::key::Holder;
use halyard_core::limits;
use halyard_store::verbs::{self, Filter, Page, QueueStatus, TaskStatus};
use sha2::{Digest, Sha256};

use super::{job, state_of, state_word};
use crate::engine::workers as seen;
use crate::http::refused::{Refused, shown};

/// Which jobs to list. The cursor must be one that the same filters gave.
///
/// # Errors
/// The cursor is unreadable or from another list.
pub fn filter(sent: &ListJobs) -> Result<Filter, Refused> {
    let after = sent.cursor.as_deref().map(|cursor| place(cursor, sent)).transpose()?;
    let name = |text: &Option<String>| text.as_deref().map(Name::from);
    Ok(Filter {
        states: sent.state.iter().copied().map(state_of).collect(),
        queue: name(&sent.queue),
        task: name(&sent.task),
        tag: name(&sent.tag),
        key: name(&sent.idempotency_key),
        created_from: sent.created_after.map(|at| at.as_ms().saturating_add(1)),
        created_before: sent.created_before.map(Timestamp::as_ms),
        ascending: match sent.order {
            Some(state::Order::Asc) => true,
            Some(state::Order::Desc) | None => false,
        },
        limit: page_limit(sent.limit),
        after,
    })
}

/// How long a page is.
pub fn page_limit(sent: Option<u64>) -> usize {
    let most = limits::PAGE_MAX as u64;
    sent.map_or(limits::PAGE_DEFAULT, |limit| {
        usize::try_from(limit.min(most)).unwrap_or(limits::PAGE_MAX)
    })
}

/// A page of jobs, with the cursor of the next one.
pub fn page(page: &Page, sent: &ListJobs) -> ListAnswer {
    ListAnswer {
        data: page.jobs.iter().map(job::summary).collect(),
        next_cursor: page.next.map(|place| format!("{place:x}.{}", mark(sent))),
        partial: page.partial,
    }
}

fn place(cursor: &str, sent: &ListJobs) -> Result<i64, Refused> {
    let parts = cursor.split_once('.');
    let place = parts.and_then(|(place, _)| i64::from_str_radix(place, 16).ok());
    match (place, parts) {
        (Some(place), Some((_, of))) if place > 0 && of == mark(sent) => Ok(place),
        (Some(_), Some(_)) => Err(Refused::field(
            Code::CursorMismatch,
            "?cursor",
            format!("cursor {} belongs to a list with other filters or order", shown(cursor)),
        )),
        _ => Err(Refused::field(
            Code::CursorMismatch,
            "?cursor",
            format!("cursor {} is none that this server gave", shown(cursor)),
        )),
    }
}

/// Tells lists with other filters apart: the first 64 bits of SHA-256 over them.
fn mark(sent: &ListJobs) -> String {
    let filters = ListJobs { limit: None, cursor: None, ..sent.clone() };
    let digest = Sha256::digest(format!("{filters:?}"));
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Jobs by state.
pub fn counts(of: &verbs::Counts) -> Counts {
    let [scheduled, queued, running, retrying, completed, failed, cancelled] = *of;
    Counts { scheduled, queued, running, retrying, completed, failed, cancelled }
}

/// A queue; `alive` are the living workers.
pub fn queue(of: &QueueStatus, alive: &[seen::Worker]) -> Queue {
    let serving = alive.iter().filter(|worker| !worker.draining && worker.serves(&of.name));
    Queue {
        name: of.name.to_string(),
        paused: of.paused,
        counts: counts(&of.counts),
        oldest_queued_at: of.oldest_queued_at.map(Timestamp::from_ms),
        workers: serving.count() as u64,
    }
}

/// A task; `alive` are the living workers.
pub fn task(of: &TaskStatus, alive: &[seen::Worker]) -> Task {
    let handling =
        alive.iter().filter(|worker| !worker.draining && worker.handles(&of.name, &of.queues));
    Task {
        name: of.name.to_string(),
        queues: of.queues.iter().map(ToString::to_string).collect(),
        counts: counts(&of.counts),
        workers: handling.count() as u64,
    }
}

/// A worker that holds `running` leases.
pub fn worker(of: &seen::Worker, running: u64) -> Worker {
    let strings = |names: &[Name]| names.iter().map(ToString::to_string).collect();
    Worker {
        id: of.identity.id.to_string(),
        name: of.identity.name.clone(),
        sdk: of.identity.sdk.clone(),
        queues: strings(&of.queues),
        tasks: of.tasks.as_deref().map(strings),
        running,
        draining: of.draining,
        first_seen_at: Timestamp::from_ms(of.first_seen_at),
        last_seen_at: Timestamp::from_ms(of.last_seen_at),
    }
}

/// Who holds a key.
pub fn holder(of: &Holder, task: String, key: String) -> KeyHolder {
    KeyHolder {
        task,
        key,
        job_id: of.job_id.to_string(),
        state: state_word(of.state),
        purged: of.purged,
        expires_at: of.expires_at.map(Timestamp::from_ms),
    }
}

/// What was counted.
pub fn stats(of: &verbs::Stats) -> Stats {
    let verbs::Totals {
        created,
        replayed,
        keys_refused,
        completed,
        failed,
        cancelled,
        retried,
        leases_lost,
        timed_out,
        reports_rejected,
    } = of.totals;
    Stats {
        counts: counts(&of.counts),
        totals: Totals {
            created,
            replayed,
            keys_refused,
            completed,
            failed,
            cancelled,
            retried,
            leases_lost,
            timed_out,
            reports_rejected,
        },
        minutes: of.minutes.iter().map(minute).collect(),
    }
}

fn minute(of: &verbs::Minute) -> Minute {
    let verbs::Minute { at, created, completed, failed } = *of;
    Minute { at: Timestamp::from_ms(at), created, completed, failed }
}

/// The word of a state.
pub fn state_name(index: usize) -> &'static str {
    State::ALL.get(index).map_or("", |state| state.as_str())
}

/// A change of a job.
pub fn event(of: &verbs::Change) -> JobEvent {
    JobEvent {
        id: of.id.to_string(),
        task: of.task.to_string(),
        queue: of.queue.to_string(),
        state: of.state.map(state_word),
        life: u64::from(of.life),
        attempt: u64::from(of.attempt),
    }
}
