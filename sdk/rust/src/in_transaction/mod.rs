//! Jobs in the caller's own transaction, in the PostgreSQL that the server keeps its jobs in.
//!
//! [`Jobs::create_in`](crate::Jobs::create_in) creates a job with the caller's rows or not at all;
//! [`Job::complete_in`](crate::Job::complete_in) completes one with what its handler wrote, and
//! [`Job::checkpoint_in`](crate::Job::checkpoint_in) saves a checkpoint with it. Each is one
//! statement on the caller's transaction, which calls a function of the server's schema.
//!
//! | | |
//! |---|---|
//! | [`PostgresTransaction`] | what a transaction must be able to do |
//! | [`InSchema`] | a transaction, when the server's schema is not called `halyard` |
//! | [`CreatedIn`] | what a create answers |
//! | [`DatabaseError`] | what went wrong in the database itself |
//! | `call` | the statements, and what their refusals mean |
//! | `postgres` | `tokio_postgres::Transaction`, with the feature `postgres` |
//!
//! For another library, implement [`PostgresTransaction`] for a type of one's own around its
//! transaction. `examples/sqlx` does it for sqlx.
//!
//! Deliberately absent: a check that there is a transaction at all. `tokio_postgres` has a type for
//! it; whoever implements the trait for something else says that it is one.

mod call;
mod error;
#[cfg(feature = "postgres")]
mod postgres;

use halyard_api::state::State;

pub(crate) use call::{Lease, checkpoint, create, finish};
pub use error::DatabaseError;

/// The server's schema, unless it was started with another `--database-schema`.
const SCHEMA: &str = "halyard";

/// A transaction of PostgreSQL: `&tokio_postgres::Transaction` with the feature `postgres`, or a
/// type of one's own around that of another library.
pub trait PostgresTransaction: Send {
    /// Runs one statement whose parameters are of the type `text`, and answers with the text that
    /// is the one column of its one row.
    ///
    /// Leave the statement unnamed, so that a pooler may stand in between.
    fn text(
        &mut self,
        statement: &str,
        parameters: &[&str],
    ) -> impl Future<Output = Result<String, DatabaseError>> + Send;

    /// The server's `--database-schema`.
    fn schema(&self) -> &str {
        SCHEMA
    }
}

/// A transaction beside a server whose schema is not called `halyard`:
/// `InSchema::new("jobs", &transaction)`.
#[derive(Clone, Debug)]
pub struct InSchema<T> {
    schema: String,
    transaction: T,
}

impl<T: PostgresTransaction> InSchema<T> {
    /// With the server's `--database-schema`.
    pub fn new(schema: impl Into<String>, transaction: T) -> Self {
        Self { schema: schema.into(), transaction }
    }
}

impl<T: PostgresTransaction> PostgresTransaction for InSchema<T> {
    async fn text(
        &mut self,
        statement: &str,
        parameters: &[&str],
    ) -> Result<String, DatabaseError> {
        self.transaction.text(statement, parameters).await
    }

    fn schema(&self) -> &str {
        &self.schema
    }
}

/// The job that a create in a transaction made or found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
pub struct CreatedIn {
    /// Its id.
    pub id: String,
    /// Its state.
    pub state: State,
    /// The number of its life, from 1.
    pub life: u64,
    /// Whether the job was there already.
    pub replayed: bool,
    /// Whether the job had failed and this create opened a new life.
    pub revived: bool,
    /// Whether the job's row is gone and only its key answers.
    pub purged: bool,
}
