//! Why a statement, or what was to run it, gave nothing, and what that means for a group.

use std::error::Error;

use tokio_postgres::error::SqlState;

use super::connect::is_lost;
use crate::StoreError;

/// Why a statement, or what was to run it, gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The database refused, or the connection broke.
    #[error("{}", told(.0))]
    Database(#[from] tokio_postgres::Error),
    /// A row holds what no server of this version writes.
    #[error("column {at} ({name:?}) of a row makes no sense")]
    Senseless {
        /// Its place in the row, from 0.
        at: usize,
        /// Its name.
        name: String,
    },
    /// A row was not as it had been loaded.
    #[error("a row changed under its transaction")]
    ChangedMeanwhile,
    /// A commit was sent and its answer lost.
    #[error("the database went away in the middle of a commit; nobody knows whether it was done")]
    OutcomeUnknown,
    /// No connection could be made.
    #[error("no connection to the database: {0}")]
    Unconnected(String),
    /// A read took longer than it may.
    #[error("the database did not answer within {} s", .0.as_secs())]
    TooSlow(std::time::Duration),
    /// No connection came free in time.
    #[error("every connection to the database is busy")]
    Overloaded,
}

/// What a statement gives.
pub(super) type Ran<T> = Result<T, Trouble>;

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Overloaded => Self::Overloaded,
            trouble if trouble.is_locked_out() => Self::Locked,
            trouble => Self::Unavailable(trouble.to_string()),
        }
    }
}

/// An error with its causes: the driver's own sentence names a kind only.
pub(super) fn told(error: &dyn Error) -> String {
    const OF_DATABASE: &str = "db error";
    std::iter::successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .filter(|sentence| sentence != OF_DATABASE)
        .collect::<Vec<_>>()
        .join(": ")
}

impl Trouble {
    /// Says whether the same calls may succeed if they are simply run again.
    pub(super) fn passes(&self) -> bool {
        let again = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::UNIQUE_VIOLATION,
            SqlState::IN_FAILED_SQL_TRANSACTION,
            // By an administrator's hand; what takes long of itself is not cancelled.
            SqlState::QUERY_CANCELED,
            // Of a name, or of what it stood for before the schema was brought up to date.
            SqlState::INVALID_SQL_STATEMENT_NAME,
            SqlState::DUPLICATE_PSTATEMENT,
            SqlState::FEATURE_NOT_SUPPORTED,
        ];
        match self {
            // What was lost before its commit was sent is rolled back.
            Self::Database(error) => {
                is_lost(error) || error.code().is_some_and(|code| again.contains(code))
            }
            Self::ChangedMeanwhile => true,
            Self::Senseless { .. }
            | Self::Unconnected(_)
            | Self::TooSlow(_)
            | Self::Overloaded
            | Self::OutcomeUnknown => false,
        }
    }

    /// Says whether numbers that were taken may not be used: a database that fell over may have
    /// forgotten that it gave them, and give them again, and then they are another server's.
    pub(super) fn may_be_of_numbers(&self) -> bool {
        let Self::Database(error) = self else { return !matches!(self, Self::ChangedMeanwhile) };
        error.as_db_error().is_none_or(|error| {
            let taken = matches!(error.constraint(), Some("jobs_pkey" | "bodies_pkey"));
            // What an operator does to a server or a session.
            taken || error.code().code().starts_with("57")
        })
    }

    /// Says whether another statement of its transaction failed first.
    fn follows(&self) -> bool {
        matches!(self, Self::Database(error)
            if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION))
    }

    /// Says whether the session has other names than this connection gave it.
    pub(super) fn is_of_names(&self) -> bool {
        let codes = [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT];
        matches!(self, Self::Database(error)
            if error.code().is_some_and(|code| codes.contains(code)))
    }

    /// Says whether a prepared statement gives other columns by now: a newer server has added some.
    pub(super) fn is_of_old_plan(&self) -> bool {
        matches!(self, Self::Database(error)
            if error.code() == Some(&SqlState::FEATURE_NOT_SUPPORTED))
    }

    /// Says whether a lock was waited for in vain.
    pub(super) fn is_locked_out(&self) -> bool {
        matches!(self, Self::Database(error)
            if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// Says whether the connection leads to a database that takes no writes: after a failover
    /// another one may.
    pub(super) fn is_read_only(&self) -> bool {
        matches!(self, Self::Database(error)
            if error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION))
    }

    /// Says whether a group may have failed for the sake of one of its calls.
    pub(super) fn is_of_one_call(&self) -> bool {
        match self {
            _ if self.is_locked_out() || self.follows() => true,
            Self::Database(error) => error.code().is_some_and(|code| {
                // Classes of data, of limits and of what the program said.
                ["22", "23", "40", "42", "54"].iter().any(|class| code.code().starts_with(class))
            }),
            Self::Senseless { .. } | Self::ChangedMeanwhile => true,
            Self::Unconnected(_) | Self::TooSlow(_) | Self::Overloaded | Self::OutcomeUnknown => {
                false
            }
        }
    }
}

/// The error that made a transaction fail, among those of the statements behind it, which only say
/// that it has.
pub(super) fn root_cause(ran: Vec<Ran<()>>) -> Ran<()> {
    let mut failures = ran.into_iter().filter_map(Result::err);
    let Some(first) = failures.next() else { return Ok(()) };
    if !first.follows() {
        return Err(first);
    }
    Err(failures.find(|trouble| !trouble.follows()).unwrap_or(first))
}
