//! What one transaction works with: its connection, the tables that it has loaded, and what stood
//! in the database.

use std::collections::BTreeMap;

use halyard_core::TimeMs;
use halyard_core::id::JobId;
use halyard_core::job::{Job, Name};
use uuid::Uuid;

use super::Ran;
use super::connection::Connected;
use super::front::Look;
use super::names::Prepared;
use super::statements::{Parameter, Statement, Statements};
use crate::access::Access;
use crate::session::remembered::Request;
use crate::session::{Held, Tables};

/// A transaction's connection with the statements of its schema.
#[derive(Clone, Copy)]
pub(super) struct Hands<'c> {
    pub(super) client: &'c Connected,
    pub(super) sql: &'c Statements,
    /// Statements that the session of this transaction knows by name.
    prepared: Option<&'c Prepared>,
}

/// The tables of one transaction.
pub(super) struct Loaded<'f> {
    pub(super) tables: Tables,
    pub(super) before: Before,
    /// What claims saw of what is claimable.
    pub(super) look: Option<Look<'f>>,
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

impl<'c> Hands<'c> {
    pub(super) fn of(client: &'c Connected, sql: &'c Statements) -> Self {
        Self { client, sql, prepared: None }
    }

    /// The same, in a session that knows these statements.
    pub(super) fn with(self, prepared: Option<&'c Prepared>) -> Self {
        Self { prepared, ..self }
    }

    pub(super) async fn query(
        &self,
        statement: &Statement,
        values: &[Parameter<'_>],
    ) -> Ran<Vec<tokio_postgres::Row>> {
        let known = self.prepared.and_then(|prepared| prepared.get(statement.name));
        Ok(match known {
            Some(known) => self.client.query(known, values).await?,
            None => self.client.query_typed(&statement.text, &statement.bind(values)).await?,
        })
    }

    pub(super) async fn execute(
        &self,
        statement: &Statement,
        values: &[Parameter<'_>],
    ) -> Ran<u64> {
        let known = self.prepared.and_then(|prepared| prepared.get(statement.name));
        Ok(match known {
            Some(known) => self.client.execute(known, values).await?,
            None => self.client.execute_typed(&statement.text, &statement.bind(values)).await?,
        })
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
