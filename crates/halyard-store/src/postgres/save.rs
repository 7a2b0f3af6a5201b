//! Writing jobs over their rows. Nearly all of them were claimed, renewed or completed, and a
//! statement that names only the columns which that changes costs a quarter less than one of all.

use halyard_core::job::{Job, Start};
use halyard_core::{DurationMs, TimeMs};
use uuid::Uuid;

use super::difference::Changed;
use super::loaded::{Hands, integer};
use super::rows::signed;
use super::statements::Parameter;
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

fn of_start<'c, T>(changed: &[&Changed<'c>], read: impl Fn(&'c Start) -> T) -> Vec<Option<T>> {
    of(changed, |Changed { job, .. }| job.start.as_ref().map(&read))
}

/// The columns that find a row as it was loaded, and the job's state.
struct Guards {
    seq: Vec<i64>,
    state_before: Vec<i16>,
    token_before: Vec<Option<Uuid>>,
    state: Vec<i16>,
}

impl Guards {
    fn of(changed: &[&Changed<'_>]) -> Self {
        Self {
            seq: of(changed, |Changed { job, .. }| job.seq),
            state_before: of(changed, |it| small(it.state.number())),
            token_before: of(changed, |it| it.token.map(|token| Uuid::from_u128(token.0))),
            state: of(changed, |Changed { job, .. }| small(job.state.number())),
        }
    }

    fn parameters(&self) -> [Parameter<'_>; 4] {
        [&self.seq, &self.state_before, &self.token_before, &self.state]
    }
}

/// The columns of newest starts.
struct Starts<'c> {
    state: Vec<Option<i16>>,
    attempt_id: Vec<Option<Uuid>>,
    token: Vec<Option<Uuid>>,
    claim: Vec<Option<Uuid>>,
    worker: Vec<Option<&'c str>>,
    queued_at: Vec<Option<TimeMs>>,
    started_at: Vec<Option<TimeMs>>,
    lease_ms: Vec<Option<DurationMs>>,
    expires_at: Vec<Option<TimeMs>>,
    deadline: Vec<Option<TimeMs>>,
}

impl<'c> Starts<'c> {
    fn of(changed: &[&Changed<'c>]) -> Self {
        Self {
            state: of_start(changed, |start| small(start.state.number())),
            attempt_id: of_start(changed, |start| Uuid::from_u128(start.marks.attempt_id.0)),
            token: of_start(changed, |start| Uuid::from_u128(start.marks.token.0)),
            claim: of(changed, |it| it.job.start.as_ref()?.claim.map(Uuid::from_bytes)),
            worker: of_start(changed, |start| &*start.worker),
            queued_at: of_start(changed, |start| start.queued_at),
            started_at: of_start(changed, |start| start.started_at),
            lease_ms: of_start(changed, |start| start.lease_ms),
            expires_at: of_start(changed, |start| start.expires_at),
            deadline: of_start(changed, |start| start.deadline),
        }
    }

    fn parameters(&self) -> [Parameter<'_>; 10] {
        [
            &self.state,
            &self.attempt_id,
            &self.token,
            &self.claim,
            &self.worker,
            &self.queued_at,
            &self.started_at,
            &self.lease_ms,
            &self.expires_at,
            &self.deadline,
        ]
    }
}

async fn save_starts(hands: Hands<'_>, changed: &[&Changed<'_>]) -> Ran<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    let (guards, starts) = (Guards::of(changed), Starts::of(changed));
    let attempt = of(changed, |Changed { job, .. }| integer(job.attempt));
    let count = of(changed, |Changed { job, .. }| i64::from(job.starts));
    let values: [&[Parameter<'_>]; 3] =
        [&guards.parameters(), &[&attempt, &count], &starts.parameters()];
    hands.execute(&hands.sql.jobs_start, &values.concat()).await
}

async fn save_ends(hands: Hands<'_>, changed: &[&Changed<'_>]) -> Ran<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    let guards = Guards::of(changed);
    let start_state = of_start(changed, |start| small(start.state.number()));
    let finished_at = of(changed, |Changed { job, .. }| job.finished_at);
    let values: [&[Parameter<'_>]; 2] = [&guards.parameters(), &[&start_state, &finished_at]];
    hands.execute(&hands.sql.jobs_end, &values.concat()).await
}

async fn save_whole(hands: Hands<'_>, changed: &[&Changed<'_>]) -> Ran<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    let (guards, starts) = (Guards::of(changed), Starts::of(changed));
    let others: [Parameter<'_>; 17] = [
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
    ];
    let values: [&[Parameter<'_>]; 3] = [&guards.parameters(), &others, &starts.parameters()];
    hands.execute(&hands.sql.jobs_save, &values.concat()).await
}
