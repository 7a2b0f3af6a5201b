//! PostgreSQL: many servers on one database.
//!
//! | file | what |
//! |---|---|
//! | `statements`, `sql/` | every statement, with the types of its parameters |
//! | `rows` | rows to nouns |

mod rows;
mod statements;

/// Why a statement, or what was to run it, gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The database refused, or the connection broke.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    /// A row holds what no server of this version writes.
    #[error("column {at} ({name:?}) of a row makes no sense")]
    Senseless {
        /// Its place in the row, from 0.
        at: usize,
        /// Its name.
        name: String,
    },
    /// No connection could be had.
    #[error("{0}")]
    Unconnected(String),
}

/// What a statement gives.
pub(super) type Ran<T> = Result<T, Trouble>;
