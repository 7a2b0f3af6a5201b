//! Rows to nouns. Columns are read by position, in the order of the table. A newer schema may have
//! more of them at the end of a table: so all columns of one (`*`) stand last in a statement, and
//! those of others in front of them are named.

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
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::{Ran, Trouble};

/// Columns of a body's row.
pub(super) const BODY_COLUMNS: usize = 7;
/// Where a job begins in a row of `ready.sql`: behind its body, its place, the bytes up to it, and
/// how many there were.
pub(super) const READY_JOB_AT: usize = BODY_COLUMNS + 3;
/// Columns of an error.
pub(super) const ERROR_COLUMNS: usize = 4;

/// Reads a row's columns one after another.
pub(super) struct Columns<'r> {
    row: &'r Row,
    at: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn from(row: &'r Row, at: usize) -> Self {
        Self { row, at }
    }

    /// A column as the driver reads it.
    pub(super) fn next<T: FromSql<'r>>(&mut self) -> Ran<T> {
        let value = self.row.try_get(self.at)?;
        self.at += 1;
        Ok(value)
    }

    /// Says whether the next column, a `smallint`, holds something, and stays before it.
    pub(super) fn is_something(&self) -> Ran<bool> {
        Ok(self.row.try_get::<_, Option<i16>>(self.at)?.is_some())
    }

    /// A column that says more than its type: an enum's number, a count, bytes of one length.
    fn read<T: FromSql<'r>, V>(&mut self, read: impl FnOnce(T) -> Option<V>) -> Ran<V> {
        let at = self.at;
        read(self.next()?).ok_or_else(|| self.senseless(at))
    }

    fn maybe<T: FromSql<'r>, V>(&mut self, read: impl FnOnce(T) -> Option<V>) -> Ran<Option<V>> {
        self.read(|value: Option<T>| match value {
            None => Some(None),
            Some(value) => read(value).map(Some),
        })
    }

    fn senseless(&self, at: usize) -> Trouble {
        let name = self.row.columns().get(at).map_or("", |column| column.name());
        Trouble::Senseless { at, name: name.to_owned() }
    }

    pub(super) fn name(&mut self) -> Ran<Name> {
        self.next::<&str>().map(Name::from)
    }

    pub(super) fn maybe_name(&mut self) -> Ran<Option<Name>> {
        Ok(self.next::<Option<&str>>()?.map(Name::from))
    }

    pub(super) fn id(&mut self) -> Ran<JobId> {
        Ok(JobId(self.uuid()?))
    }

    pub(super) fn maybe_id(&mut self) -> Ran<Option<JobId>> {
        Ok(self.next::<Option<Uuid>>()?.map(|id| JobId(id.as_u128())))
    }

    pub(super) fn token(&mut self) -> Ran<Token> {
        Ok(Token(self.uuid()?))
    }

    /// A column that holds the name of an enum's variant.
    pub(super) fn named<T>(&mut self, parse: fn(&str) -> Option<T>) -> Ran<T> {
        self.read(parse)
    }

    pub(super) fn maybe_uuid(&mut self) -> Ran<Option<u128>> {
        Ok(self.next::<Option<Uuid>>()?.map(|id| id.as_u128()))
    }

    pub(super) fn uuid(&mut self) -> Ran<u128> {
        Ok(self.next::<Uuid>()?.as_u128())
    }

    pub(super) fn state(&mut self) -> Ran<State> {
        self.read(|number| State::from_number(small(number)?))
    }

    /// A count in an `integer`.
    pub(super) fn count(&mut self) -> Ran<u32> {
        self.read(|number: i32| u32::try_from(number).ok())
    }

    /// A count in a `bigint`, since an `integer` holds half of them.
    fn long_count(&mut self) -> Ran<u32> {
        self.read(|number: i64| u32::try_from(number).ok())
    }

    fn maybe_long_count(&mut self) -> Ran<Option<u32>> {
        self.maybe(|number: i64| u32::try_from(number).ok())
    }

    /// A count in a `bigint`.
    pub(super) fn large(&mut self) -> Ran<u64> {
        self.read(|number: i64| u64::try_from(number).ok())
    }

    /// JSON that was checked when it came in.
    pub(super) fn json(&mut self) -> Ran<Text> {
        self.next::<&str>().map(Text::trusted)
    }

    /// `NULL` is no JSON, and not the value `null`.
    pub(super) fn maybe_json(&mut self) -> Ran<Option<Text>> {
        Ok(self.next::<Option<&str>>()?.map(Text::trusted))
    }

    pub(super) fn fingerprint(&mut self) -> Ran<Fingerprint> {
        self.hash().map(Fingerprint)
    }

    /// 32 bytes.
    pub(super) fn hash(&mut self) -> Ran<[u8; 32]> {
        self.read(|bytes: &[u8]| bytes.try_into().ok())
    }
}

fn small(number: i16) -> Option<u8> {
    u8::try_from(number).ok()
}

fn fingerprint(bytes: &[u8]) -> Option<Fingerprint> {
    bytes.try_into().ok().map(Fingerprint)
}

/// How many rows a statement may take.
pub(super) fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Counts are stored as PostgreSQL's signed integers.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A job; its columns begin at `at`.
pub(super) fn job(row: &Row, at: usize) -> Ran<Job> {
    let mut next = Columns::from(row, at);
    let mut job = Job {
        seq: next.next()?,
        id: next.id()?,
        task: next.name()?,
        queue: next.name()?,
        state: next.state()?,
        priority: next.next()?,
        created_at: next.next()?,
        run_at: next.next()?,
        life: next.count()?,
        attempt: next.count()?,
        starts: next.long_count()?,
        max_attempts: next.count()?,
        crashes: next.count()?,
        max_crashes: next.count()?,
        releases: next.long_count()?,
        snoozes: next.long_count()?,
        timeout_ms: next.next()?,
        backoff: Backoff {
            initial_ms: next.next()?,
            factor: next.next()?,
            max_ms: next.next()?,
            jitter: next.next()?,
        },
        queued_at: next.next()?,
        error_start: next.maybe_long_count()?,
        cancel_requested: next.next()?,
        finished_at: next.next()?,
        holds_key: next.next()?,
        key_ttl_ms: next.next()?,
        checkpoints: next.count()?,
        checkpoints_bytes: next.large()?,
        replays: next.large()?,
        rejected: next.large()?,
        replaced_by: next.maybe_id()?,
        start: None,
    };
    job.start = start(&mut next, job.starts)?;
    Ok(job)
}

/// The newest start: it has the number of the job's `starts`.
fn start(next: &mut Columns<'_>, number: u32) -> Ran<Option<Start>> {
    let state = next.maybe(|state| StartState::from_number(small(state)?))?;
    let Some(state) = state else { return Ok(None) };
    Ok(Some(Start {
        state,
        number,
        marks: StartMarks { attempt_id: AttemptId(next.uuid()?), token: next.token()? },
        claim: next.next::<Option<Uuid>>()?.map(Uuid::into_bytes),
        worker: next.name()?,
        queued_at: next.next()?,
        started_at: next.next()?,
        lease_ms: next.next()?,
        expires_at: next.next()?,
        deadline: next.next()?,
    }))
}

/// Everything of a body but its payload; the body's columns begin at `at`.
pub(super) fn details(row: &Row, at: usize) -> Ran<Details> {
    let mut next = Columns::from(row, at + 2);
    let tags: Option<&str> = next.next()?;
    Ok(Details {
        // Tags hold no line breaks.
        tags: tags.map_or_else(Vec::new, |tags| tags.lines().map(Name::from).collect()),
        traceparent: next.next()?,
        idempotency_key: next.maybe_name()?,
        rerun_of: next.maybe_id()?,
    })
}

/// A body: details and payload; its columns begin at `at`.
pub(super) fn body(row: &Row, at: usize) -> Ran<(Details, Text)> {
    Ok((details(row, at)?, Columns::from(row, at + 6).json()?))
}

/// Tags as one text, a line each; `None` without any.
pub(super) fn tags_text(tags: &[Name]) -> Option<String> {
    (!tags.is_empty()).then(|| tags.join("\n"))
}

/// A checkpoint; its columns, `seq` and `position` first, begin at `at`.
pub(super) fn checkpoint(row: &Row, at: usize) -> Ran<Checkpoint> {
    let mut next = Columns::from(row, at + 2);
    Ok(Checkpoint {
        name: next.name()?,
        life: next.count()?,
        attempt: next.count()?,
        start: next.long_count()?,
        created_at: next.next()?,
        value: next.json()?,
    })
}

/// An attempt; its columns, `seq` first, begin at `at`.
pub(super) fn attempt(row: &Row, at: usize) -> Ran<Attempt> {
    let mut next = Columns::from(row, at + 1);
    Ok(Attempt {
        number: next.long_count()?,
        id: AttemptId(next.uuid()?),
        token: next.token()?,
        life: next.count()?,
        attempt: next.count()?,
        state: next.read(|state| StartState::from_number(small(state)?))?,
        worker: next.name()?,
        queued_at: next.next()?,
        started_at: next.next()?,
        finished_at: next.next()?,
        retry_delay_ms: next.next()?,
        retry_reason: next.maybe(|reason| RetryReason::from_number(small(reason)?))?,
        report: next.maybe(|report| ReportKind::from_number(small(report)?))?,
        result: next.maybe(fingerprint)?,
        state_after: next.state()?,
        error: error_next(&mut next)?,
    })
}

/// An error: four columns from `at`, its type, kind, message and stack.
pub(super) fn error(row: &Row, at: usize) -> Ran<Option<ErrorReport>> {
    error_next(&mut Columns::from(row, at))
}

fn error_next(next: &mut Columns<'_>) -> Ran<Option<ErrorReport>> {
    let Some(error_type) = next.next::<Option<String>>()? else { return Ok(None) };
    Ok(Some(ErrorReport {
        error_type,
        kind: next.read(ErrorKind::parse)?,
        message: next.next()?,
        stack: next.next()?,
    }))
}
