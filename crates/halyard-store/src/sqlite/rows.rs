//! Rows to nouns and back. Columns are read by position, in the order of the table.

use halyard_core::backoff::Backoff;
use halyard_core::chance::StartMarks;
use halyard_core::checkpoint::Checkpoint;
use halyard_core::error::{ErrorKind, ErrorReport};
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::{AttemptId, JobId, Token};
use halyard_core::job::{
    Attempt, Details, Job, Name, ReportKind, RetryReason, Start, StartState, State,
};
use halyard_json::Text;
use rusqlite::types::{FromSql, FromSqlError, ValueRef};
use rusqlite::{Row, Statement, params};

use super::writer::Ran;

/// Reads a row's columns one after another.
pub(super) struct Columns<'r, 's> {
    row: &'r Row<'s>,
    at: usize,
}

impl<'r, 's> Columns<'r, 's> {
    pub(super) fn of(row: &'r Row<'s>) -> Self {
        Self::from(row, 0)
    }

    pub(super) fn from(row: &'r Row<'s>, at: usize) -> Self {
        Self { row, at }
    }

    pub(super) fn next<T: FromSql>(&mut self) -> Ran<T> {
        let value = self.row.get(self.at)?;
        self.at += 1;
        Ok(value)
    }

    /// A column that holds the number of an enum's variant, a name or bytes.
    fn read<T>(&mut self, read: impl FnOnce(ValueRef<'_>) -> Option<T>) -> Ran<T> {
        let at = self.at;
        self.at += 1;
        let value = self.row.get_ref(at)?;
        read(value).ok_or_else(|| {
            rusqlite::Error::FromSqlConversionFailure(
                at,
                value.data_type(),
                Box::new(FromSqlError::InvalidType),
            )
        })
    }

    fn maybe<T>(&mut self, read: impl FnOnce(ValueRef<'_>) -> Option<T>) -> Ran<Option<T>> {
        self.read(|value| match value {
            ValueRef::Null => Some(None),
            value => read(value).map(Some),
        })
    }

    pub(super) fn name(&mut self) -> Ran<Name> {
        self.read(name)
    }

    pub(super) fn id(&mut self) -> Ran<JobId> {
        self.uuid().map(JobId)
    }

    pub(super) fn maybe_uuid(&mut self) -> Ran<Option<u128>> {
        self.maybe(bytes16)
    }

    pub(super) fn uuid(&mut self) -> Ran<u128> {
        self.read(bytes16)
    }

    /// A column that holds the name of an enum's variant.
    pub(super) fn named<T>(&mut self, parse: fn(&str) -> Option<T>) -> Ran<T> {
        self.read(|value| value.as_str().ok().and_then(parse))
    }

    pub(super) fn state(&mut self) -> Ran<State> {
        self.read(|value| number(value).and_then(State::from_number))
    }
}

fn name(value: ValueRef<'_>) -> Option<Name> {
    value.as_str().ok().map(Name::from)
}

fn number(value: ValueRef<'_>) -> Option<u8> {
    value.as_i64().ok().and_then(|number| u8::try_from(number).ok())
}

fn bytes16(value: ValueRef<'_>) -> Option<u128> {
    value.as_blob().ok()?.try_into().ok().map(u128::from_be_bytes)
}

/// Counts are stored as SQLite's signed integers.
pub(super) fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}

/// How many rows a statement may take.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Counts are stored as SQLite's signed integers.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn job(row: &Row<'_>) -> Ran<Job> {
    let mut next = Columns::of(row);
    Ok(Job {
        seq: next.next()?,
        id: next.id()?,
        task: next.name()?,
        queue: next.name()?,
        state: next.state()?,
        priority: next.next()?,
        created_at: next.next()?,
        run_at: next.next()?,
        life: next.next()?,
        attempt: next.next()?,
        starts: next.next()?,
        max_attempts: next.next()?,
        crashes: next.next()?,
        max_crashes: next.next()?,
        releases: next.next()?,
        snoozes: next.next()?,
        timeout_ms: next.next()?,
        backoff: Backoff {
            initial_ms: next.next()?,
            factor: next.next()?,
            max_ms: next.next()?,
            jitter: next.next()?,
        },
        queued_at: next.next()?,
        error_start: next.next()?,
        cancel_requested: next.next()?,
        finished_at: next.next()?,
        holds_key: next.next()?,
        key_ttl_ms: next.next()?,
        checkpoints: next.next()?,
        checkpoints_bytes: next.next().map(unsigned)?,
        replays: next.next().map(unsigned)?,
        rejected: next.next().map(unsigned)?,
        replaced_by: next.maybe(|value| bytes16(value).map(JobId))?,
        start: start(row, &mut next)?,
    })
}

/// The newest start: it has the number of the job's `starts`.
fn start(row: &Row<'_>, next: &mut Columns<'_, '_>) -> Ran<Option<Start>> {
    const STARTS: usize = 10;
    let state = next.maybe(|value| number(value).and_then(StartState::from_number))?;
    let Some(state) = state else { return Ok(None) };
    Ok(Some(Start {
        state,
        number: row.get(STARTS)?,
        marks: StartMarks {
            attempt_id: next.read(|value| bytes16(value).map(AttemptId))?,
            token: next.read(|value| bytes16(value).map(Token))?,
        },
        claim: next.next()?,
        worker: next.name()?,
        queued_at: next.next()?,
        started_at: next.next()?,
        lease_ms: next.next()?,
        expires_at: next.next()?,
        deadline: next.next()?,
    }))
}

/// Columns of a job's row.
pub(super) const JOB_COLUMNS: usize = 42;

/// Everything of a body but its payload; the body's columns begin at `at`.
pub(super) fn details(row: &Row<'_>, at: usize) -> Ran<Details> {
    let mut next = Columns::from(row, at + 1);
    let tags: Option<String> = next.next()?;
    Ok(Details {
        // Tags hold no line breaks.
        tags: tags.map_or_else(Vec::new, |tags| tags.lines().map(Name::from).collect()),
        traceparent: next.next()?,
        idempotency_key: next.maybe(name)?,
        rerun_of: next.maybe(|value| bytes16(value).map(JobId))?,
    })
}

/// A body: details and payload; its columns begin at `at`.
pub(super) fn body(row: &Row<'_>, at: usize) -> Ran<(Details, Text)> {
    Ok((details(row, at)?, Columns::from(row, at + 5).read(json)?))
}

/// JSON that was checked when it came in.
pub(super) fn json(value: ValueRef<'_>) -> Option<Text> {
    value.as_str().ok().map(Text::trusted)
}

pub(super) fn result(row: &Row<'_>) -> Ran<Text> {
    Columns::of(row).read(json)
}

pub(super) fn checkpoint(row: &Row<'_>) -> Ran<Checkpoint> {
    let mut next = Columns::from(row, 2);
    Ok(Checkpoint {
        name: next.name()?,
        life: next.next()?,
        attempt: next.next()?,
        start: next.next()?,
        created_at: next.next()?,
        value: next.read(json)?,
    })
}

pub(super) fn attempt(row: &Row<'_>) -> Ran<Attempt> {
    let mut next = Columns::from(row, 1);
    Ok(Attempt {
        number: next.next()?,
        id: next.read(|value| bytes16(value).map(AttemptId))?,
        token: next.read(|value| bytes16(value).map(Token))?,
        life: next.next()?,
        attempt: next.next()?,
        state: next.read(|value| number(value).and_then(StartState::from_number))?,
        worker: next.name()?,
        queued_at: next.next()?,
        started_at: next.next()?,
        finished_at: next.next()?,
        retry_delay_ms: next.next()?,
        retry_reason: next.maybe(|value| number(value).and_then(RetryReason::from_number))?,
        report: next.maybe(|value| number(value).and_then(ReportKind::from_number))?,
        result: next.next::<Option<[u8; 32]>>()?.map(Fingerprint),
        state_after: next.state()?,
        error: error(&mut next)?,
    })
}

/// Four columns: type, kind, message, stack.
pub(super) fn error(next: &mut Columns<'_, '_>) -> Ran<Option<ErrorReport>> {
    let Some(error_type) = next.next::<Option<String>>()? else { return Ok(None) };
    Ok(Some(ErrorReport {
        error_type,
        kind: next.read(|value| ErrorKind::parse(value.as_str().ok()?))?,
        message: next.next()?,
        stack: next.next()?,
    }))
}

/// Tags as one text, a line each; `None` without any.
pub(super) fn tags_text(tags: &[Name]) -> Option<String> {
    (!tags.is_empty()).then(|| tags.join("\n"))
}

pub(super) fn insert_job(statement: &mut Statement<'_>, job: &Job) -> Ran<usize> {
    statement.execute(params![
        job.seq,
        job.id.0.to_be_bytes(),
        &*job.task,
        &*job.queue,
        job.state.number(),
        job.priority,
        job.created_at,
        job.run_at,
        job.max_attempts,
        job.max_crashes,
        job.timeout_ms,
        job.backoff.initial_ms,
        job.backoff.factor,
        job.backoff.max_ms,
        job.backoff.jitter,
        job.queued_at,
        job.holds_key,
        job.key_ttl_ms,
    ])
}

/// What a row had before a verb changed the job: the guard of its writing.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    state: State,
    token: Option<Token>,
    life: u32,
    attempt: u32,
    cancel_requested: bool,
}

impl Guard {
    pub(super) fn of(job: &Job) -> Self {
        Self {
            state: job.state,
            token: job.start.as_ref().map(|start| start.marks.token),
            life: job.life,
            attempt: job.attempt,
            cancel_requested: job.cancel_requested,
        }
    }

    pub(super) fn state(self) -> State {
        self.state
    }

    /// Says whether listeners must hear of what became of the job.
    pub(super) fn shows_change(self, job: &Job) -> bool {
        let then = (self.state, self.life, self.attempt, self.cancel_requested);
        then != (job.state, job.life, job.attempt, job.cancel_requested)
    }
}

pub(super) fn save_job(statement: &mut Statement<'_>, job: &Job, guard: Guard) -> Ran<usize> {
    let start = job.start.as_ref();
    statement.execute(params![
        job.state.number(),
        job.run_at,
        job.life,
        job.attempt,
        job.starts,
        job.crashes,
        job.releases,
        job.snoozes,
        job.queued_at,
        job.error_start,
        job.cancel_requested,
        job.finished_at,
        job.holds_key,
        job.checkpoints,
        signed(job.checkpoints_bytes),
        job.replaced_by.map(|id| id.0.to_be_bytes()),
        start.map(|start| start.state.number()),
        start.map(|start| start.marks.attempt_id.0.to_be_bytes()),
        start.map(|start| start.marks.token.0.to_be_bytes()),
        start.and_then(|start| start.claim),
        start.map(|start| &*start.worker),
        start.map(|start| start.queued_at),
        start.map(|start| start.started_at),
        start.map(|start| start.lease_ms),
        start.map(|start| start.expires_at),
        start.map(|start| start.deadline),
        job.seq,
        guard.state.number(),
        guard.token.map(|token| token.0.to_be_bytes()),
    ])
}

pub(super) fn insert_attempt(
    statement: &mut Statement<'_>,
    seq: i64,
    attempt: &Attempt,
) -> Ran<usize> {
    let error = attempt.error.as_ref();
    statement.execute(params![
        seq,
        attempt.number,
        attempt.id.0.to_be_bytes(),
        attempt.token.0.to_be_bytes(),
        attempt.life,
        attempt.attempt,
        attempt.state.number(),
        &*attempt.worker,
        attempt.queued_at,
        attempt.started_at,
        attempt.finished_at,
        attempt.retry_delay_ms,
        attempt.retry_reason.map(RetryReason::number),
        attempt.report.map(ReportKind::number),
        attempt.result.map(|result| result.0),
        attempt.state_after.number(),
        error.map(|error| &error.error_type),
        error.map(|error| error.kind.as_str()),
        error.map(|error| &error.message),
        error.and_then(|error| error.stack.as_ref()),
    ])
}

/// A queue that was paused once, and whether it is.
pub(super) fn queue(row: &Row<'_>) -> Ran<(Name, bool)> {
    let mut next = Columns::of(row);
    Ok((next.name()?, next.next()?))
}
