//! PostgreSQL: many servers on one database.
//!
//! | file | what |
//! |---|---|
//! | `url`, `tls`, `connect` | where the database is, how it is spoken to, the connections |
//! | `migrations` | the schema's history |
//! | `statements`, `sql/` | every statement, with the types of its parameters |
//! | `rows` | rows to nouns |
//! | `lanes` | calls that wait, the groups that they are run in, what a failed group does |
//! | `turns` | the order in which commits are told of |
//! | `transaction` | one group: begin, load, run, write, commit |
//! | `needs`, `load`, `loaded` | what calls need, loading and locking it |
//! | `difference`, `write` | what the calls made of it, writing that |
//! | `store`, `prune` | the verbs |
//! | `reads` | the verbs that only read |
//! | `notify` | hints from server to server |

mod connect;
mod difference;
mod lanes;
mod load;
mod loaded;
mod migrations;
mod needs;
mod notify;
mod prune;
mod reads;
mod rows;
mod statements;
mod store;
#[cfg(test)]
mod tests;
mod tls;
mod transaction;
mod turns;
mod url;
mod write;

use std::error::Error;
use std::sync::Arc;

use tokio::task::JoinSet;

use self::connect::Pool;
pub use self::connect::{
    CONNECTIONS_DEFAULT, OnClaimableElsewhere, OpenError, Options, SCHEMA_CHARS_MAX,
    SCHEMA_DEFAULT, Time, VERSION_MIN,
};
use self::lanes::Lanes;
use self::reads::Reads;
use self::statements::Statements;
use crate::StoreError;

/// How many transactions run at the same time, of half the connections at most: more would take
/// smaller groups, and the database has few cores to run them on.
const LANES_MAX: usize = 4;

/// The store in one schema of a database.
pub struct Postgres {
    lanes: Lanes,
    reads: Reads,
    /// Ended with the store.
    _talks: JoinSet<()>,
}

impl Postgres {
    /// Opens the store, makes its schema when it is not there, and brings it up to date.
    ///
    /// # Errors
    /// When the database cannot be reached or used, or its schema is newer than this program.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let schema = options.quoted_schema()?;
        let pool = Pool::open(&options).await?;
        migrations::migrate(&pool, &schema).await?;
        let lanes = (options.connections / 2).clamp(1, LANES_MAX);
        let sql = Statements::of(&schema);
        let lanes = Lanes::open(pool, sql, options, lanes);
        lanes
            .shared
            .begin_to_serve()
            .await
            .map_err(|trouble| lanes.shared.pool.failed(&trouble))?;
        let reads = Reads::of(&lanes.shared);
        let mut talks = JoinSet::new();
        talks.spawn(notify::speak(Arc::clone(&lanes.shared)));
        talks.spawn(notify::listen(Arc::clone(&lanes.shared)));
        Ok(Self { lanes, reads, _talks: talks })
    }
}

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
