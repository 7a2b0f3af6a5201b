//! Records in the user's PostgreSQL: a row each of the table `halyard_processed`.

use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, GenericClient, Row};

use super::{Claim, Claimed, Store, StoreError, ms};

/// The name of the table in the statements.
const TABLE: &str = "halyard_processed";
/// How often a claim looks at what stands in its way: a record that is gone by then, or over.
const CLAIM_TRIES: u32 = 10;

/// A client that was lent, and goes back when it is dropped.
type Lent = Box<dyn Deref<Target = Client> + Send + Sync>;
type Lending = Pin<Box<dyn Future<Output = Result<Lent, StoreError>> + Send>>;

/// Records in PostgreSQL 12 or newer, over the caller's own client or pool. Copies share it.
///
/// [`PostgresStore::migrate`] makes the table. Rows that are to change together with the record
/// need [`Once::transaction`](super::Once::transaction); everything else that a handler does is
/// outside, and the store only narrows the window between it and its record.
#[derive(Clone)]
pub struct PostgresStore {
    lend: Arc<dyn Fn() -> Lending + Send + Sync>,
    pub(super) statements: Arc<Statements>,
}

/// The statements, for one table.
pub(super) struct Statements {
    migrate: String,
    claim: String,
    read: String,
    complete: String,
    leave: String,
    remove: String,
    prune: String,
}

impl PostgresStore {
    /// On this client.
    pub fn new(client: Arc<Client>) -> Self {
        Self::lent(move || {
            let client = Arc::clone(&client);
            Box::pin(std::future::ready(Ok(Box::new(client) as Lent)))
        })
    }

    /// On a client of a pool, which each call asks for: `move || { let pool = pool.clone(); async
    /// move { pool.get().await } }`.
    pub fn with_pool<F, Fut, C, E>(get: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<C, E>> + Send + 'static,
        C: Deref<Target = Client> + Send + Sync + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self::lent(move || {
            let client = get();
            Box::pin(async move {
                client.await.map(|client| Box::new(client) as Lent).map_err(StoreError::because)
            })
        })
    }

    fn lent(lend: impl Fn() -> Lending + Send + Sync + 'static) -> Self {
        Self { lend: Arc::new(lend), statements: Arc::new(Statements::of(TABLE)) }
    }

    /// In another table than `halyard_processed`, perhaps with its schema: `billing.processed`.
    ///
    /// # Errors
    ///
    /// A name that is not of small letters, digits and `_`.
    pub fn table(mut self, name: &str) -> Result<Self, StoreError> {
        let plain = |part: &str| {
            let mut chars = part.chars();
            chars.next().is_some_and(|first| first.is_ascii_lowercase() || first == '_')
                && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        if name.split('.').count() > 2 || !name.split('.').all(plain) {
            return Err(StoreError::new(format!("`{name}` is no plain name of a table")));
        }
        self.statements = Arc::new(Statements::of(name));
        Ok(self)
    }

    /// Makes the table, unless it is there.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let client = (self.lend)().await?;
        client.batch_execute(&self.statements.migrate).await.map_err(StoreError::because)
    }

    /// Deletes records that have expired, and answers how many. Claims do not need it; the disk
    /// does, once a day or so.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn prune(&self) -> Result<u64, StoreError> {
        let client = (self.lend)().await?;
        let mut all = 0;
        loop {
            match client.execute(&self.statements.prune, &[]).await {
                Ok(0) => return Ok(all),
                Ok(rows) => all += rows,
                Err(error) => return Err(StoreError::because(error)),
            }
        }
    }

    /// Runs one statement about the record that `owner` has in progress.
    async fn change(
        &self,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<bool, StoreError> {
        let client = (self.lend)().await?;
        let rows = client.execute(statement, parameters).await.map_err(StoreError::because)?;
        Ok(rows == 1)
    }
}

impl Statements {
    fn of(table: &str) -> Self {
        // An index is in the schema of its table, and its name has none.
        let last = table.rsplit('.').next().unwrap_or(table);
        let with_table = |text: &str| {
            text.split(&format!("{TABLE}_expires_at"))
                .map(|part| part.replace(TABLE, table))
                .collect::<Vec<_>>()
                .join(&format!("{last}_expires_at"))
        };
        Self {
            migrate: with_table(include_str!("migrate.sql")),
            claim: with_table(include_str!("claim.sql")),
            read: with_table(include_str!("read.sql")),
            complete: with_table(include_str!("complete.sql")),
            leave: with_table(include_str!("leave.sql")),
            remove: with_table(include_str!("remove.sql")),
            prune: with_table(include_str!("prune.sql")),
        }
    }

    /// Claims a key on a client or in a transaction.
    pub(super) async fn claim(
        &self,
        client: &impl GenericClient,
        claim: &Claim,
    ) -> Result<Claimed, StoreError> {
        let Claim { key, fingerprint, owner, .. } = claim;
        let (in_progress, expires_in) = (ms(claim.in_progress), ms(claim.expires_in));
        for _ in 0..CLAIM_TRIES {
            let mine = client
                .query_opt(&self.claim, &[key, fingerprint, owner, &in_progress, &expires_in])
                .await
                .map_err(StoreError::because)?;
            if let Some(row) = mine {
                let unknown = row.try_get(0).map_err(StoreError::because)?;
                return Ok(Claimed::Mine { unknown });
            }
            let other = client.query_opt(&self.read, &[key]).await.map_err(StoreError::because)?;
            let other = other.as_ref().map(|row| read(row, fingerprint)).transpose();
            if let Some(claimed) = other.map_err(StoreError::because)?.flatten() {
                return Ok(claimed);
            }
        }
        Err(StoreError::new(format!("the record of `{key}` changes too fast")))
    }

    /// Ends a claim with a response, on a client or in a transaction.
    pub(super) async fn complete(
        &self,
        client: &impl GenericClient,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        let parameters: [&(dyn ToSql + Sync); 4] = [&key, &owner, &response.get(), &ms(expires_in)];
        let rows = client.execute(&self.complete, &parameters).await;
        Ok(rows.map_err(StoreError::because)? == 1)
    }
}

/// What stands in the way of a claim; `None` when it is over by now.
fn read(row: &Row, fingerprint: &str) -> Result<Option<Claimed>, tokio_postgres::Error> {
    if row.try_get::<_, &str>("fingerprint")? != fingerprint {
        return Ok(Some(Claimed::Reused));
    }
    if row.try_get::<_, &str>("state")? == "completed" {
        let response: Option<String> = row.try_get("response")?;
        let response = response.unwrap_or_else(|| "null".to_owned());
        return Ok(RawValue::from_string(response).ok().map(Claimed::Completed));
    }
    let left: i64 = row.try_get("left_ms")?;
    let left = u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis);
    Ok(left.map(|left| Claimed::InProgress { left }))
}

impl Store for PostgresStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let client = (self.lend)().await?;
        self.statements.claim(&**client, claim).await
    }

    async fn complete(
        &self,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        let client = (self.lend)().await?;
        self.statements.complete(&**client, key, owner, response, expires_in).await
    }

    async fn leave(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        self.change(&self.statements.leave, &[&key, &owner]).await
    }

    async fn remove(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        let client = (self.lend)().await?;
        let rows = client.query(&self.statements.remove, &[&key, &owner]).await;
        Ok(!rows.map_err(StoreError::because)?.is_empty())
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}
