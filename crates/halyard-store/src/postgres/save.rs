//! Writing jobs over their rows. Nearly all of them were claimed, renewed or completed, and a
//! statement that names only the columns which that changes costs a quarter less than one of all.

use halyard_core::job::{Job, Start};
use uuid::Uuid;

use super::difference::Changed;
use super::loaded::{Hands, integer};
use super::rows::signed;
use super::write::{of, small, uuid};
use super::{Ran, Trouble};

/// What differs between a job and its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Its newest start, with the counts of starts.
    Started,
    /// How that start and the job ended.
    Ended,
    /// Anything.
    Other,
}

fn kind(Changed { before, job, .. }: &Changed<'_>) -> Kind {
    let Some(before) = *before else { return Kind::Other };
    let started = || Job {
        state: job.state,
        attempt: job.attempt,
        starts: job.starts,
        start: job.start.clone(),
        ..before.clone()
    };
    let ended = || {
        let start = before.start.clone().zip(job.start.as_ref());
        Job {
            state: job.state,
            finished_at: job.finished_at,
            start: start.map(|(start, now)| Start { state: now.state, ..start }),
            ..before.clone()
        }
    };
    if job.start.is_none() {
        Kind::Other
    } else if **job == ended() {
        Kind::Ended
    } else if **job == started() {
        Kind::Started
    } else {
        Kind::Other
    }
}

/// Writes jobs over their rows, each of which must be as it was loaded.
pub(super) async fn save(hands: Hands<'_>, changed: &[Changed<'_>]) -> Ran<()> {
    let (mut started, mut ended, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for one in changed {
        match kind(one) {
            Kind::Started => started.push(one),
            Kind::Ended => ended.push(one),
            Kind::Other => others.push(one),
        }
    }
    let saved = tokio::try_join!(biased;
        save_starts(hands, &started), save_ends(hands, &ended), save_whole(hands, &others)
    )?;
    let is_all = saved.0 + saved.1 + saved.2 == changed.len() as u64;
    if is_all { Ok(()) } else { Err(Trouble::ChangedMeanwhile) }
}

fn of_start<T>(changed: &[&Changed<'_>], read: impl Fn(&Start) -> T) -> Vec<Option<T>> {
    of(changed, |Changed { job, .. }| job.start.as_ref().map(&read))
}

fn tokens_before(changed: &[&Changed<'_>]) -> Vec<Option<Uuid>> {
    of(changed, |it| it.token.map(|token| Uuid::from_u128(token.0)))
}

async fn save_starts(hands: Hands<'_>, changed: &[&Changed<'_>]) -> Ran<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    hands
        .execute(
            &hands.sql.jobs_start,
            &[
                &of(changed, |Changed { job, .. }| job.seq),
                &of(changed, |it| small(it.state.number())),
                &tokens_before(changed),
                &of(changed, |Changed { job, .. }| small(job.state.number())),
                &of(changed, |Changed { job, .. }| integer(job.attempt)),
                &of(changed, |Changed { job, .. }| i64::from(job.starts)),
                &of_start(changed, |start| small(start.state.number())),
                &of_start(changed, |start| Uuid::from_u128(start.marks.attempt_id.0)),
                &of_start(changed, |start| Uuid::from_u128(start.marks.token.0)),
                &of(changed, |Changed { job, .. }| {
                    job.start.as_ref().and_then(|start| start.claim).map(Uuid::from_bytes)
                }),
                &of(changed, |Changed { job, .. }| job.start.as_ref().map(|start| &*start.worker)),
                &of_start(changed, |start| start.queued_at),
                &of_start(changed, |start| start.started_at),
                &of_start(changed, |start| start.lease_ms),
                &of_start(changed, |start| start.expires_at),
                &of_start(changed, |start| start.deadline),
            ],
        )
        .await
}

async fn save_ends(hands: Hands<'_>, changed: &[&Changed<'_>]) -> Ran<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    hands
        .execute(
            &hands.sql.jobs_end,
            &[
                &of(changed, |Changed { job, .. }| job.seq),
                &of(changed, |it| small(it.state.number())),
                &tokens_before(changed),
                &of(changed, |Changed { job, .. }| small(job.state.number())),
                &of_start(changed, |start| small(start.state.number())),
                &of(changed, |Changed { job, .. }| job.finished_at),
            ],
        )
        .await
}

async fn save_whole(hands: Hands<'_>, changed: &[&Changed<'_>]) -> Ran<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    hands
        .execute(
            &hands.sql.jobs_save,
            &[
                &of(changed, |Changed { job, .. }| job.seq),
                &of(changed, |it| small(it.state.number())),
                &tokens_before(changed),
                &of(changed, |Changed { job, .. }| small(job.state.number())),
                &of(changed, |Changed { job, .. }| job.run_at),
                &of(changed, |Changed { job, .. }| integer(job.life)),
                &of(changed, |Changed { job, .. }| integer(job.attempt)),
                &of(changed, |Changed { job, .. }| i64::from(job.starts)),
                &of(changed, |Changed { job, .. }| integer(job.crashes)),
                &of(changed, |Changed { job, .. }| i64::from(job.releases)),
                &of(changed, |Changed { job, .. }| i64::from(job.snoozes)),
                &of(changed, |Changed { job, .. }| job.queued_at),
                &of(changed, |Changed { job, .. }| job.error_start.map(i64::from)),
                &of(changed, |Changed { job, .. }| job.cancel_requested),
                &of(changed, |Changed { job, .. }| job.finished_at),
                &of(changed, |Changed { job, .. }| job.holds_key),
                &of(changed, |Changed { job, .. }| integer(job.checkpoints)),
                &of(changed, |Changed { job, .. }| signed(job.checkpoints_bytes)),
                &of(changed, |Changed { job, .. }| signed(job.replays)),
                &of(changed, |Changed { job, .. }| signed(job.rejected)),
                &of(changed, |Changed { job, .. }| job.replaced_by.map(uuid)),
                &of_start(changed, |start| small(start.state.number())),
                &of_start(changed, |start| Uuid::from_u128(start.marks.attempt_id.0)),
                &of_start(changed, |start| Uuid::from_u128(start.marks.token.0)),
                &of(changed, |Changed { job, .. }| {
                    job.start.as_ref().and_then(|start| start.claim).map(Uuid::from_bytes)
                }),
                &of(changed, |Changed { job, .. }| job.start.as_ref().map(|start| &*start.worker)),
                &of_start(changed, |start| start.queued_at),
                &of_start(changed, |start| start.started_at),
                &of_start(changed, |start| start.lease_ms),
                &of_start(changed, |start| start.expires_at),
                &of_start(changed, |start| start.deadline),
            ],
        )
        .await
}
