//! Every limit has a name, and its name stands here. The reference lists them from [`GROUPS`], in
//! which each one is by itself: the macro makes both from one line.
//!
//! Sizes are bytes of UTF-8, lengths are code points, durations are milliseconds; the name says
//! which.

use crate::DurationMs;

const SECOND: DurationMs = 1_000;
const MINUTE: DurationMs = 60 * SECOND;
const HOUR: DurationMs = 60 * MINUTE;
/// One day.
pub const DAY: DurationMs = 24 * HOUR;

/// A limit as the reference shows it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Its constant.
    pub name: &'static str,
    /// The lines of its comment, each with the space that it starts with.
    pub meaning: &'static [&'static str],
    /// Its value, which a float holds exactly.
    pub value: f64,
}

macro_rules! limits {
    ($($group:literal { $(
        $(#[doc = $meaning:literal])+
        pub const $name:ident: $type:ty = $value:expr;
    )+ })+) => {
        $($(
            $(#[doc = $meaning])+
            pub const $name: $type = $value;
        )+)+

        /// Every limit, by what it limits.
        pub const GROUPS: &[(&str, &[Limit])] = &[$(($group, &[$(
            Limit { name: stringify!($name), meaning: &[$($meaning),+], value: $name as f64 },
        )+])),+];
    };
}

limits! {
"Bodies and answers" {
    /// Body of a call that carries one job.
    pub const BODY_BYTES_MAX: usize = 2 << 20;
    /// Body of batch, claim, heartbeat and finish.
    pub const BATCH_BODY_BYTES_MAX: usize = 16 << 20;
    /// Payloads, checkpoints and errors of one claim's answer; its first job may be larger alone.
    pub const CLAIM_ANSWER_BYTES_MAX: usize = 8 << 20;
}
"Values" {
    /// A payload, in JSON.
    pub const PAYLOAD_BYTES_MAX: usize = 1 << 20;
    /// A result, in JSON; a larger one fails its job.
    pub const RESULT_BYTES_MAX: usize = 1 << 20;
    /// Nesting of a payload, a result or a checkpoint's value.
    pub const VALUE_DEPTH_MAX: u16 = 64;
}
"Names" {
    /// Names of queues, tasks, workers and tags.
    pub const NAME_LENGTH_MAX: usize = 128;
    /// Idempotency keys.
    pub const KEY_LENGTH_MAX: usize = 255;
    /// Checkpoint names.
    pub const CHECKPOINT_NAME_LENGTH_MAX: usize = 128;
    /// A worker's display name, the name of its SDK, and the id of a claim.
    pub const LABEL_LENGTH_MAX: usize = 128;
    /// The filter by which the jobs of a bulk action were chosen. The longest that the list takes
    /// fits with each of its signs escaped.
    pub const FILTER_LENGTH_MAX: usize = 8_192;
    /// Tags on one job.
    pub const TAGS_MAX: usize = 10;
}
"Batches, pages and long polls" {
    /// Jobs in one batch, outcomes in one finish, leases in one heartbeat, jobs in one claim, ids
    /// in one bulk action.
    pub const BATCH_MAX: usize = 1_000;
    /// Queues, and tasks, that one claim may name.
    pub const CLAIM_NAMES_MAX: usize = 1_000;
    /// `wait_ms`; a longer wait is cut to this.
    pub const WAIT_MS_MAX: DurationMs = 55 * SECOND;
    /// Rows of one list page; a larger `limit` is cut to this.
    pub const PAGE_MAX: usize = 200;
    /// Rows of one list page when the caller names no limit.
    pub const PAGE_DEFAULT: usize = 50;
    /// Rows that one list page may examine; beyond it the page says `partial`.
    pub const PAGE_EXAMINED_MAX: usize = 10_000;
    /// Attempts shown with a job, newest first.
    pub const ATTEMPTS_SHOWN_MAX: usize = 100;
    /// Pointers listed when a payload differs from the one that holds the key.
    pub const CHANGED_MAX: usize = 20;
}
"Jobs" {
    /// How far ahead a job may be scheduled: `run_at`, `delay_ms`.
    pub const RUN_AHEAD_MS_MAX: DurationMs = 400 * DAY;
    /// Priority runs from minus this to plus this.
    pub const PRIORITY_MAX: i64 = 100;
    /// `max_attempts`, `max_crashes`.
    pub const ATTEMPTS_MAX: i64 = 100;
    /// `max_attempts` when the caller names none.
    pub const ATTEMPTS_DEFAULT: u32 = 20;
    /// `max_crashes` when the caller names none.
    pub const CRASHES_DEFAULT: u32 = 5;
    /// Shortest `timeout_ms`.
    pub const TIMEOUT_MS_MIN: DurationMs = 100;
    /// Longest `timeout_ms`.
    pub const TIMEOUT_MS_MAX: DurationMs = DAY;
    /// `timeout_ms` when the caller names none.
    pub const TIMEOUT_MS_DEFAULT: DurationMs = 15 * MINUTE;
}
"Waits between attempts" {
    /// Longest `backoff.initial_ms`.
    pub const BACKOFF_INITIAL_MS_MAX: DurationMs = DAY;
    /// Longest `backoff.max_ms`.
    pub const BACKOFF_MS_MAX: DurationMs = 7 * DAY;
    /// Largest `backoff.factor`; the smallest is 1.
    pub const BACKOFF_FACTOR_MAX: f64 = 10.0;
    /// A worker's `retry_after_ms` is cut to this.
    pub const RETRY_AFTER_MS_MAX: DurationMs = 7 * DAY;
}
"Leases" {
    /// Shortest `lease_ms`.
    pub const LEASE_MS_MIN: DurationMs = 5 * SECOND;
    /// Longest `lease_ms`.
    pub const LEASE_MS_MAX: DurationMs = HOUR;
    /// `lease_ms` when the worker names none.
    pub const LEASE_MS_DEFAULT: DurationMs = MINUTE;
}
"Putting off and giving back" {
    /// Shortest snooze: `delay_ms` of an outcome.
    pub const SNOOZE_MS_MIN: DurationMs = SECOND;
    /// Longest snooze.
    pub const SNOOZE_MS_MAX: DurationMs = 30 * DAY;
    /// Releases without a new checkpoint after which the next one counts as a failed attempt.
    pub const RELEASES_MAX: u32 = 100;
    /// Snoozes without a new checkpoint after which the next one counts as a failed attempt.
    pub const SNOOZES_MAX: u32 = 1_000;
}
"Checkpoints" {
    /// A checkpoint's value.
    pub const CHECKPOINT_BYTES_MAX: usize = 256 << 10;
    /// Checkpoints of one job.
    pub const CHECKPOINTS_MAX: u32 = 1_000;
    /// Values of all checkpoints of one job together.
    pub const CHECKPOINTS_BYTES_MAX: usize = 4 << 20;
}
"Errors" {
    /// An error's type; longer text is cut.
    pub const ERROR_TYPE_BYTES_MAX: usize = 256;
    /// An error's message; longer text is cut.
    pub const ERROR_MESSAGE_BYTES_MAX: usize = 8 << 10;
    /// An error's stack; longer text is cut.
    pub const ERROR_STACK_BYTES_MAX: usize = 32 << 10;
}
"Keys" {
    /// Shortest `idempotency_ttl_ms`.
    pub const KEY_TTL_MS_MIN: DurationMs = MINUTE;
    /// Longest `idempotency_ttl_ms`.
    pub const KEY_TTL_MS_MAX: DurationMs = 400 * DAY;
    /// How long a key outlives its job's end when nobody says otherwise.
    pub const KEY_TTL_MS_DEFAULT: DurationMs = 30 * DAY;
    /// How long an `Idempotency-Key` header is remembered.
    pub const REQUEST_KEY_TTL_MS: DurationMs = DAY;
}
"Retention" {
    /// Completed and cancelled jobs are kept this long when nobody says otherwise.
    pub const RETENTION_MS_DEFAULT: DurationMs = 7 * DAY;
    /// Failed jobs are kept this long when nobody says otherwise.
    pub const RETENTION_FAILED_MS_DEFAULT: DurationMs = 30 * DAY;
}
"Outages" {
    /// Without a stamp of any server for longer than this, there was an outage.
    pub const OUTAGE_MS: DurationMs = 5 * SECOND;
}
}
