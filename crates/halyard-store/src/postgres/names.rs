//! Statements that a connection knows by name: the database reads and plans them once, and not for
//! each transaction anew, which is most of what a small one costs it.
//!
//! A pooler may stand in between and give each transaction another session. So a connection makes a
//! mark in its session, and only a transaction that finds this very mark uses names: what was
//! prepared beside the mark is there, and nobody else's. A mark that is not found again is the work
//! of a pooler, and from then on the store sends every statement whole, as it does at first.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures_util::future::try_join_all;
use tokio_postgres::Client;

use super::Ran;
use super::rows::Columns;
use super::statements::Statements;

/// So many transactions find the mark before anything is prepared: by then a pooler that is used
/// has shown itself.
const TRUSTED_AFTER: u32 = 16;
/// Plans that are kept are made once, and not for the values that one call happens to bring.
pub(super) const PLAN_ONCE: &str = "; SET LOCAL plan_cache_mode = force_generic_plan";
/// A statement as the database knows it.
pub(super) type Prepared = HashMap<&'static str, tokio_postgres::Statement>;

/// What one connection has left in its session.
#[derive(Default)]
pub(super) struct Names {
    mark: OnceLock<String>,
    found: AtomicU32,
    prepared: OnceLock<Prepared>,
}

impl Names {
    /// Makes the mark when there is none. It must not stand in a transaction, which may be undone.
    pub(super) async fn mark(
        &self,
        client: &Client,
        sql: &Statements,
        is_pooled: &AtomicBool,
    ) -> Ran<()> {
        if self.mark.get().is_none() && !is_pooled.load(Ordering::Relaxed) {
            let row = client.query_typed_one(&sql.session_mark.text, &[]).await?;
            let mark = Columns::from(&row, 0).next()?;
            self.mark.get_or_init(|| mark);
        }
        Ok(())
    }

    /// Says whether a transaction may hope to use names.
    pub(super) fn are_there(&self) -> bool {
        self.prepared.get().is_some()
    }

    /// What a transaction may use that has `found` this mark.
    ///
    /// # Errors
    /// When the database does not prepare a statement.
    pub(super) async fn of_session(
        &self,
        client: &Client,
        sql: &Statements,
        found: Option<&str>,
        is_pooled: &AtomicBool,
    ) -> Ran<Option<&Prepared>> {
        let Some(mark) = self.mark.get() else { return Ok(None) };
        if is_pooled.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if found != Some(mark.as_str()) {
            tracing::info!("a pooler stands before the database: statements are sent whole");
            is_pooled.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        if let Some(prepared) = self.prepared.get() {
            return Ok(Some(prepared));
        }
        if self.found.fetch_add(1, Ordering::Relaxed) < TRUSTED_AFTER {
            return Ok(None);
        }
        let prepare = sql.of_transactions().map(async |statement| {
            let prepared = client.prepare_typed(&statement.text, statement.types).await?;
            Ok::<_, tokio_postgres::Error>((statement.name, prepared))
        });
        let prepared = try_join_all(prepare).await?.into_iter().collect();
        Ok(Some(self.prepared.get_or_init(|| prepared)))
    }
}
