//! The limits of requests and of a server.

use std::time::Duration;

use halyard_api::{body, headers, query};
use halyard_store::access::{AuditKept, SIGN_INS_MAX, SIGN_INS_OF_KEY_MAX};
use halyard_store::{postgres, sqlite};

use crate::access::{KEYS_MAX, SESSION_MS, attempts};
use crate::engine::{ring, workers};
use crate::http::body::BODIES_KIB_MAX;
use crate::http::patience::Patience;
use crate::http::{events, health, listener, takes};

/// A constant, what it limits, and its value.
pub(super) type Row = (&'static str, &'static str, usize);

/// What a request may hold.
pub(super) fn requests() -> [Row; 6] {
    [
        (
            "ELEMENTS_MAX",
            "Elements of any array: jobs, outcomes, leases, ids, queues, tasks.",
            body::ELEMENTS_MAX,
        ),
        (
            "DEPTH_LIMIT",
            "Nesting of a whole body; deeper unknown members of worker calls are ignored.",
            halyard_json::DEPTH_LIMIT.into(),
        ),
        ("PARAMETERS_MAX", "Parameters of a query.", query::PARAMETERS_MAX),
        (
            "IDEMPOTENCY_KEY_CHARS_MAX",
            "The header `Idempotency-Key`, in visible ASCII characters.",
            headers::IDEMPOTENCY_KEY_CHARS_MAX,
        ),
        ("HEADERS_MAX", "Headers of a request.", listener::HEADERS_MAX),
        ("HEAD_BYTES_MAX", "Request line and headers together.", listener::HEAD_BYTES_MAX),
    ]
}

/// What a server takes at one time.
pub(super) fn server() -> [Row; 8] {
    [
        (
            "CONNECTIONS_MAX",
            "Connections at one time; beyond it `503 overloaded`.",
            listener::CONNECTIONS_MAX,
        ),
        (
            "BODIES_KIB_MAX",
            "Bodies that are being read or worked on together; beyond it `503 overloaded`.",
            BODIES_KIB_MAX,
        ),
        (
            "DISCARDED_BYTES_MAX",
            "What is read on of a body that is refused.",
            takes::DISCARDED_BYTES_MAX,
        ),
        (
            "WAITING_CALLS_MAX",
            "Calls that wait to write; beyond it `503 overloaded`.",
            sqlite::WAITING_CALLS_MAX,
        ),
        (
            "WAITING_READS_MAX",
            "Calls that wait to read; beyond it `503 overloaded`.",
            sqlite::WAITING_READS_MAX,
        ),
        ("WORKERS_MAX", "Workers shown.", workers::WORKERS_MAX),
        (
            "SILENCE_MS",
            "Silence after which a worker counts as gone.",
            usize::try_from(workers::SILENCE_MS).unwrap_or(usize::MAX),
        ),
        ("RING_LENGTH", "Last job changes kept for `/v1/events`.", ring::RING_LENGTH),
    ]
}

/// Who may come in, and what is kept of it.
pub(super) fn access() -> [Row; 7] {
    let kept = AuditKept::DEFAULT;
    let size = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    [
        ("KEYS_MAX", "Keys of one store.", KEYS_MAX),
        ("SIGN_INS_MAX", "Browsers that are signed in; beyond it the oldest is out.", SIGN_INS_MAX),
        ("SIGN_INS_OF_KEY_MAX", "Browsers that are signed in with one key.", SIGN_INS_OF_KEY_MAX),
        ("SESSION_MS", "How long a browser stays signed in.", size(SESSION_MS)),
        (
            "WRONG_MAX",
            "Wrong keys at the sign-in in one minute, from one address and for one key; beyond it \
             the right one is refused too.",
            attempts::WRONG_MAX as usize,
        ),
        ("AuditKept::for_ms", "How long a line of the audit log is kept.", size(kept.for_ms)),
        (
            "AuditKept::lines_max",
            "Lines of the audit log; beyond it the oldest go.",
            size(i64::try_from(kept.lines_max).unwrap_or(i64::MAX)),
        ),
    ]
}

/// How long a client is waited for, and how often events are written.
pub(super) fn waits() -> [(&'static str, &'static str, Duration); 11] {
    let patience = Patience::default();
    [
        ("Patience::head", "Time for the head of a request.", patience.head),
        ("Patience::body", "Time for a whole body.", patience.body),
        ("Patience::idle", "Time between two requests on one connection.", patience.idle),
        ("Patience::stall", "Time without reading any of an answer.", patience.stall),
        ("events::HEARTBEAT", "Time between signs of life among events.", events::HEARTBEAT),
        ("events::PACE", "Least time between two writes of events.", events::PACE),
        (
            "ANSWER_MAX",
            "Time for PostgreSQL to do a change; beyond it `503 storage_unavailable`.",
            postgres::ANSWER_MAX,
        ),
        ("GET_MAX", "Time for PostgreSQL to give a read a connection.", postgres::GET_MAX),
        ("READ_MAX", "Time for PostgreSQL to do a read.", postgres::READ_MAX),
        (
            "sqlite::READ_MAX",
            "Time for SQLite to begin and do a read; beyond it `503 storage_unavailable`.",
            sqlite::READ_MAX,
        ),
        ("READY_MAX", "Time for the store to answer `/readyz`.", health::READY_MAX),
    ]
}
