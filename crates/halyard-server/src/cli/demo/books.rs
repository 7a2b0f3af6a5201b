//! The three steps of closing a month, as `close-month` calls them. Each does its work on the
//! company's database and says so; before each lies a point at which the worker may die.

use std::sync::Arc;

use super::billing::{Billing, Step};
use super::cast::CLOSE;
use super::crash::CrashPoint;
use super::note::Note;

/// The books of the company.
#[derive(Debug)]
pub(super) struct Books {
    billing: Arc<Billing>,
    crash: CrashPoint,
}

impl Books {
    pub(super) fn new(billing: Arc<Billing>, crash: CrashPoint) -> Self {
        Self { billing, crash }
    }

    /// Paid invoices may not change any more.
    pub(super) async fn finalize_invoices(&self, period: &str) -> rusqlite::Result<()> {
        self.run(Step::Invoices, period, "invoices finalized").await
    }

    /// Paid invoices are posted to the ledger.
    pub(super) async fn post_to_ledger(&self, period: &str) -> rusqlite::Result<()> {
        self.run(Step::Ledger, period, "invoices posted to the ledger").await
    }

    /// Whoever paid gets a statement.
    pub(super) async fn send_statements(&self, period: &str) -> rusqlite::Result<()> {
        self.run(Step::Statements, period, "statements sent").await
    }

    async fn run(&self, step: Step, period: &str, done: &str) -> rusqlite::Result<()> {
        self.crash.reach(&CrashPoint::before_step(step.name())).await;
        let count = self.billing.run_step(step, period)?;
        Note::Said { subject: CLOSE.to_owned(), text: format!("{count} {done}") }.send();
        Ok(())
    }
}
