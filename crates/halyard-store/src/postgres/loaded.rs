//! What one transaction works with: its connection, the tables that it has loaded, and what stood
//! in the database.

use std::collections::BTreeMap;

use halyard_core::TimeMs;
use halyard_core::id::JobId;
use halyard_core::job::{Job, Name};
use uuid::Uuid;

use super::Ran;
use super::connection::Connected;
use super::statements::{Parameter, Statement, Statements};
use crate::access::Access;
use crate::session::remembered::Request;
use crate::session::{Held, Tables};

/// A transaction's connection with the statements of its schema.
#[derive(Clone, Copy)]
pub(super) struct Hands<'c> {
    pub(super) client: &'c Connected,
    pub(super) sql: &'c Statements,
}

/// The tables of one transaction.
pub(super) struct Loaded {
    pub(super) tables: Tables,
    pub(super) before: Before,
}

/// What stood in the database, to find out what has changed.
#[derive(Default)]
pub(super) struct Before {
    pub(super) jobs: BTreeMap<JobId, Known>,
    pub(super) keys: BTreeMap<(Name, Name), Held>,
    pub(super) requests: BTreeMap<(String, String), Request>,
    pub(super) queues: BTreeMap<Name, bool>,
    pub(super) access: Access,
    pub(super) stamp: TimeMs,
}

/// A job as it was, and how much hung on it.
pub(super) struct Known {
    pub(super) job: Job,
    pub(super) attempts: usize,
    pub(super) checkpoints: usize,
    pub(super) has_result: bool,
}

impl Known {
    /// Says whether the job is still there. An id may stand for another one by now.
    pub(super) fn is_in(&self, tables: &Tables) -> bool {
        tables.jobs.get(&self.job.id).is_some_and(|row| row.job.seq == self.job.seq)
    }
}

impl Hands<'_> {
    pub(super) async fn query(
        &self,
        statement: &Statement,
        values: &[Parameter<'_>],
    ) -> Ran<Vec<tokio_postgres::Row>> {
        Ok(self.client.query_typed(&statement.text, &statement.bind(values)).await?)
    }

    pub(super) async fn execute(
        &self,
        statement: &Statement,
        values: &[Parameter<'_>],
    ) -> Ran<u64> {
        Ok(self.client.execute_typed(&statement.text, &statement.bind(values)).await?)
    }
}

/// Ids as the database has them, in its order.
pub(super) fn uuids<'i>(ids: impl IntoIterator<Item = &'i JobId>) -> Vec<Uuid> {
    ids.into_iter().map(|id| Uuid::from_u128(id.0)).collect()
}

/// A count as the database has it.
pub(super) fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
