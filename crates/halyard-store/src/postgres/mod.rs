//! PostgreSQL: many servers on one database.
//!
//! | file | what |
//! |---|---|
//! | `url`, `tls`, `connect` | where the database is, how it is spoken to |
//! | `pool` | the connections of a store |
//! | `connection` | one connection, and what the database says beside its answers |
//! | `rights` | what its user may not do in the schema |
//! | `migrations` | the schema's history, and the functions for callers' own transactions |
//! | `statements`, `sql/` | every statement, with the types of its parameters |
//! | `names` | statements that the database is sent once |
//! | `rows` | rows to nouns |
//! | `lanes` | calls that wait, the groups that they are run in, what a failed group does |
//! | `trouble` | what goes wrong, and what that means for a group |
//! | `patience` | how long a caller waits at most |
//! | `turns` | the order in which commits are told of |
//! | `transaction` | one group: begin, load, run, write, commit |
//! | `outcome` | what became of a commit that was not simply answered |
//! | `needs`, `load`, `loaded` | what calls need, loading and locking it |
//! | `ready`, `front` | claimable jobs, and where claims begin to look for them |
//! | `difference`, `write`, `save` | what the calls made of it, writing that |
//! | `plain` | a connection beside the pool, for who looks on |
//! | [`doctor`] | what may go wrong with a database, looked at from outside |
//! | `store`, `prune` | the verbs |
//! | `reads` | the verbs that only read |
//! | `access` | keys, sign-ins, the audit log |
//! | `moving` | rows out and in, when a store moves to SQLite or from it |
//! | `notify` | hints from server to server |

mod access;
mod call;
mod connect;
mod connection;
mod difference;
pub mod doctor;
mod doors;
mod free;
mod front;
mod lanes;
mod load;
mod loaded;
mod migrations;
pub(crate) mod moving;
mod names;
mod needs;
mod notify;
mod outcome;
mod patience;
mod plain;
mod pool;
mod prune;
mod reads;
mod ready;
mod rights;
mod rows;
mod save;
mod spare;
mod statements;
mod store;
#[cfg(test)]
mod tests;
mod tls;
mod transaction;
mod trouble;
mod turns;
mod url;
mod write;

use std::sync::Arc;

use tokio::task::JoinSet;

use self::connect::Pool;
pub use self::connect::{
    CONNECTIONS_DEFAULT, OnClaimableElsewhere, OpenError, Options, SCHEMA_CHARS_MAX,
    SCHEMA_DEFAULT, Time, VERSION_MIN,
};
use self::lanes::Lanes;
pub use self::patience::ANSWER_MAX;
pub use self::plain::plain;
pub use self::pool::GET_MAX;
pub use self::reads::READ_MAX;
use self::reads::Reads;
use self::statements::Statements;
use self::trouble::{Ran, Trouble, told};

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
    /// When the database cannot be reached or used, its schema is newer than this program, or the
    /// user may not do there what a server does.
    pub async fn open(options: Options) -> Result<Self, OpenError> {
        let schema = options.quoted_schema()?;
        let pool = Pool::open(&options).await?;
        migrations::migrate(&pool, &schema).await?;
        let lanes = (options.connections / 2).clamp(1, LANES_MAX);
        let sql = Statements::of(&schema);
        rights::demand(&pool, &sql, &options.schema).await?;
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
