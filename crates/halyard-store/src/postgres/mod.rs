//! PostgreSQL: many servers on one database.
//!
//! | file | what |
//! |---|---|
//! | `url`, `tls`, `connect` | where the database is, how it is spoken to, the connections |
//! | `migrations` | the schema's history |
//! | `statements`, `sql/` | every statement, with the types of its parameters |
//! | `rows` | rows to nouns |

mod connect;
mod migrations;
mod rows;
mod statements;
#[cfg(test)]
mod tests;
mod tls;
mod url;

use std::error::Error;

pub use self::connect::{
    CONNECTIONS_DEFAULT, OpenError, Options, SCHEMA_CHARS_MAX, SCHEMA_DEFAULT, Time, VERSION_MIN,
};
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
    /// No connection could be made.
    #[error("no connection to the database: {0}")]
    Unconnected(String),
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
            trouble => Self::Unavailable(trouble.to_string()),
        }
    }
}

/// An error with its causes: the driver's own sentence names a kind only.
fn told(error: &dyn Error) -> String {
    const OF_DATABASE: &str = "db error";
    std::iter::successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .filter(|sentence| sentence != OF_DATABASE)
        .collect::<Vec<_>>()
        .join(": ")
}
