//! The company's own database: subscriptions, invoices, and what closing a month leaves behind.
//!
//! One small SQLite file, opened by each worker process and by the count at the end. What a write
//! does twice it does once: `schema.sql` has the constraints, the statements here the upserts.
//!
//! Deliberately absent: anything of Halyard. Its server keeps its jobs elsewhere.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::cast::Member;

const SCHEMA: &str = include_str!("schema.sql");

/// How long a process waits for another one's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to the database.
#[derive(Debug)]
pub(super) struct Billing {
    connection: Mutex<Connection>,
}

/// Who pays, how much a month.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: String,
    pub(super) customer_id: String,
    /// Cents.
    pub(super) price: u32,
}

/// What a subscription owes for a month.
#[derive(Debug)]
pub(super) struct Invoice {
    pub(super) id: i64,
    pub(super) subscription_id: String,
    /// Cents.
    pub(super) amount: u32,
    /// `open` or `paid`.
    pub(super) status: String,
    /// The provider's charge, once paid.
    pub(super) charge_id: Option<String>,
}

/// One of the three things that closing a month does to its paid invoices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// They may not change any more.
    Invoices,
    /// They are posted to the ledger.
    Ledger,
    /// Their owners get a statement.
    Statements,
}

impl Step {
    pub(super) const ALL: [Self; 3] = [Self::Invoices, Self::Ledger, Self::Statements];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Invoices => "invoices",
            Self::Ledger => "ledger",
            Self::Statements => "statements",
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Invoices => "UPDATE invoices SET final = 1 WHERE period = ?1 AND status = 'paid'",
            Self::Ledger => {
                "INSERT INTO ledger (invoice_id, amount)
                 SELECT id, amount FROM invoices WHERE period = ?1 AND status = 'paid'
                 ON CONFLICT DO NOTHING"
            }
            Self::Statements => {
                "INSERT INTO statements (invoice_id)
                 SELECT id FROM invoices WHERE period = ?1 AND status = 'paid'
                 ON CONFLICT DO NOTHING"
            }
        }
    }
}

impl Billing {
    /// Opens the file, and makes what is missing.
    pub(super) fn open(file: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(file)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection: Mutex::new(connection) })
    }

    pub(super) fn add_subscription(&self, member: &Member) -> rusqlite::Result<()> {
        let sql = "INSERT INTO subscriptions (id, customer_id, price) VALUES (?1, ?2, ?3)";
        let values = params![member.subscription_id(), member.customer_id(), member.price];
        self.lock().execute(sql, values).map(drop)
    }

    pub(super) fn find_subscription(&self, id: &str) -> rusqlite::Result<Option<Subscription>> {
        let sql = "SELECT id, customer_id, price FROM subscriptions WHERE id = ?1";
        let read = |row: &Row<'_>| {
            Ok(Subscription {
                id: row.get("id")?,
                customer_id: row.get("customer_id")?,
                price: row.get("price")?,
            })
        };
        self.lock().query_row(sql, [id], read).optional()
    }

    /// The invoice of a subscription for a month, whether it was there or not.
    pub(super) fn upsert_invoice(
        &self,
        subscription: &Subscription,
        period: &str,
    ) -> rusqlite::Result<Invoice> {
        let sql = "INSERT INTO invoices (subscription_id, period, amount, status)
                   VALUES (?1, ?2, ?3, 'open')
                   ON CONFLICT (subscription_id, period) DO UPDATE SET amount = excluded.amount
                   RETURNING *";
        let values = params![subscription.id, period, subscription.price];
        self.lock().query_row(sql, values, read_invoice)
    }

    pub(super) fn mark_paid(&self, invoice: &Invoice, charge_id: &str) -> rusqlite::Result<()> {
        let sql = "UPDATE invoices SET status = 'paid', charge_id = ?2 WHERE id = ?1";
        self.lock().execute(sql, params![invoice.id, charge_id]).map(drop)
    }

    /// All invoices of a month.
    pub(super) fn invoices(&self, period: &str) -> rusqlite::Result<Vec<Invoice>> {
        let connection = self.lock();
        let mut found =
            connection.prepare("SELECT * FROM invoices WHERE period = ?1 ORDER BY id")?;
        found.query_map([period], read_invoice)?.collect()
    }

    /// Does one step of closing a month, and counts that it was done. Answers with how many
    /// invoices it did something to.
    pub(super) fn run_step(&self, step: Step, period: &str) -> rusqlite::Result<usize> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let count = transaction.execute(step.sql(), [period])?;
        let sql = "INSERT INTO steps (period, step, runs) VALUES (?1, ?2, 1)
                   ON CONFLICT (period, step) DO UPDATE SET runs = runs + 1";
        transaction.execute(sql, params![period, step.name()])?;
        transaction.commit()?;
        Ok(count)
    }

    /// How often a step of closing a month was done.
    pub(super) fn step_runs(&self, step: Step, period: &str) -> rusqlite::Result<u32> {
        let sql = "SELECT runs FROM steps WHERE period = ?1 AND step = ?2";
        let read = |row: &Row<'_>| row.get("runs");
        let runs = self.lock().query_row(sql, [period, step.name()], read).optional()?;
        Ok(runs.unwrap_or_default())
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_invoice(row: &Row<'_>) -> rusqlite::Result<Invoice> {
    Ok(Invoice {
        id: row.get("id")?,
        subscription_id: row.get("subscription_id")?,
        amount: row.get("amount")?,
        status: row.get("status")?,
        charge_id: row.get("charge_id")?,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::super::cast::{CAST, PERIOD};
    use super::*;

    #[test]
    fn what_is_done_twice_is_there_once() {
        let folder = tempfile::tempdir().unwrap();
        let billing = Billing::open(&folder.path().join("billing.db")).unwrap();
        let member = CAST.first().unwrap();
        let id = member.subscription_id();
        assert!(billing.find_subscription(&id).unwrap().is_none());
        billing.add_subscription(member).unwrap();
        let subscription = billing.find_subscription(&id).unwrap().unwrap();
        assert_eq!(subscription.price, member.price);

        let first = billing.upsert_invoice(&subscription, PERIOD).unwrap();
        assert_eq!((first.status.as_str(), first.amount), ("open", member.price));
        assert_eq!(billing.run_step(Step::Ledger, PERIOD).unwrap(), 0, "open invoices wait");
        billing.mark_paid(&first, "ch_1").unwrap();
        let second = billing.upsert_invoice(&subscription, PERIOD).unwrap();
        assert_eq!((second.id, second.status.as_str()), (first.id, "paid"));
        assert_eq!(second.charge_id.as_deref(), Some("ch_1"));
        assert_eq!(billing.invoices(PERIOD).unwrap().len(), 1);
        assert_eq!(billing.invoices("2026-12").unwrap().len(), 0);

        for step in [Step::Ledger, Step::Statements] {
            assert_eq!(billing.run_step(step, PERIOD).unwrap(), 1, "{step:?}");
            assert_eq!(billing.run_step(step, PERIOD).unwrap(), 0, "{step:?}");
        }
        assert_eq!(billing.step_runs(Step::Ledger, PERIOD).unwrap(), 3);
        assert_eq!(billing.step_runs(Step::Invoices, PERIOD).unwrap(), 0);
    }
}
