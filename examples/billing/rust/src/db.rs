//! The company's database: PostgreSQL, with the tables of `../migrations`.
//!
//! [`Db`] is what the handlers use. It stands on a [`Database`], which is [`Postgres`] but for
//! tests that put something around it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, NoTls, Row};

/// What stands for `$1`, `$2` and so on in a statement.
pub type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// What runs statements.
#[async_trait]
pub trait Database: Send + Sync {
    /// The one row of a statement; any other number of rows is an error.
    async fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, Error>;
    /// All rows of a statement.
    async fn all(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error>;
}

/// Who pays, and how much a month.
#[derive(Debug)]
pub struct Subscription {
    /// `sub_…`.
    pub id: String,
    /// The payment provider's.
    pub customer_id: String,
    /// Cents.
    pub price: i32,
}

/// What a subscription owes for a month.
#[derive(Debug)]
pub struct Invoice {
    /// A number of the database's.
    pub id: i32,
    /// Cents.
    pub amount: i32,
    /// `open` or `paid`.
    pub status: String,
    /// The provider's charge, once paid.
    pub charge_id: Option<String>,
}

/// The tables. A clone uses the same connections.
#[derive(Clone)]
pub struct Db {
    /// The table `subscriptions`.
    pub subscriptions: Subscriptions,
    /// The table `invoices`.
    pub invoices: Invoices,
    database: Arc<dyn Database>,
}

impl Db {
    /// The tables of this database.
    pub fn new(database: impl Database + 'static) -> Self {
        let database: Arc<dyn Database> = Arc::new(database);
        Self {
            subscriptions: Subscriptions(Arc::clone(&database)),
            invoices: Invoices(Arc::clone(&database)),
            database,
        }
    }

    /// The one row of a statement.
    ///
    /// # Errors
    ///
    /// Those of the database; also when there is no row, or a second one.
    pub async fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, Error> {
        self.database.one(sql, values).await
    }

    /// All rows of a statement.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn all(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.database.all(sql, values).await
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Db").finish_non_exhaustive()
    }
}

/// The table `subscriptions`.
#[derive(Clone)]
pub struct Subscriptions(Arc<dyn Database>);

impl Subscriptions {
    /// The subscription, if there is one.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn find(&self, id: &str) -> Result<Option<Subscription>, Error> {
        let rows = self.0.all("select * from subscriptions where id = $1", &[&id]).await?;
        rows.first().map(subscription).transpose()
    }

    /// All subscriptions, by id.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn all(&self) -> Result<Vec<Subscription>, Error> {
        let rows = self.0.all("select * from subscriptions order by id", &[]).await?;
        rows.iter().map(subscription).collect()
    }

    /// Adds one.
    ///
    /// # Errors
    ///
    /// Those of the database; also when its id is taken.
    pub async fn insert(&self, sub: &Subscription) -> Result<(), Error> {
        let sql = "insert into subscriptions (id, customer_id, price) values ($1, $2, $3)";
        self.0.all(sql, &[&sub.id, &sub.customer_id, &sub.price]).await.map(drop)
    }
}

/// The table `invoices`.
#[derive(Clone)]
pub struct Invoices(Arc<dyn Database>);

impl Invoices {
    /// The invoice of a subscription for a month, whether it was there or not.
    ///
    /// # Errors
    ///
    /// Those of the database.
    pub async fn upsert(
        &self,
        subscription_id: &str,
        period: &str,
        amount: i32,
    ) -> Result<Invoice, Error> {
        let sql = "insert into invoices (subscription_id, period, amount, status)
            values ($1, $2, $3, 'open')
            on conflict (subscription_id, period) do update set amount = excluded.amount
            returning *";
        invoice(&self.0.one(sql, &[&subscription_id, &period, &amount]).await?)
    }

    /// Sets what became of an invoice.
    ///
    /// # Errors
    ///
    /// Those of the database; also when there is no such invoice.
    pub async fn update(&self, id: i32, status: &str, charge_id: &str) -> Result<Invoice, Error> {
        let sql = "update invoices set status = $2, charge_id = $3 where id = $1 returning *";
        invoice(&self.0.one(sql, &[&id, &status, &charge_id]).await?)
    }
}

fn subscription(row: &Row) -> Result<Subscription, Error> {
    Ok(Subscription {
        id: row.try_get("id")?,
        customer_id: row.try_get("customer_id")?,
        price: row.try_get("price")?,
    })
}

fn invoice(row: &Row) -> Result<Invoice, Error> {
    Ok(Invoice {
        id: row.try_get("id")?,
        amount: row.try_get("amount")?,
        status: row.try_get("status")?,
        charge_id: row.try_get("charge_id")?,
    })
}

/// PostgreSQL. A statement takes a connection that is idle, or makes one, so there are as many as
/// statements at the same time: at most the worker's concurrency.
pub struct Postgres {
    config: Config,
    idle: Mutex<Vec<Client>>,
}

impl Postgres {
    /// The database at `postgres://user:password@host/name`. It is connected to when it is needed.
    ///
    /// # Errors
    ///
    /// When that is no address.
    pub fn new(url: &str) -> Result<Self, Error> {
        Ok(Self { config: url.parse()?, idle: Mutex::default() })
    }

    /// The database that `DATABASE_URL` names.
    ///
    /// # Errors
    ///
    /// When it names none.
    pub fn from_env() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let url = std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL names no database")?;
        Ok(Self::new(&url)?)
    }

    async fn take(&self) -> Result<Client, Error> {
        let idle = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        if let Some(client) = idle {
            return Ok(client);
        }
        let (client, connection) = self.config.connect(NoTls).await?;
        // It ends with an error when the server does; the statement under way has that error too.
        tokio::spawn(connection);
        Ok(client)
    }

    fn give_back(&self, client: Client) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
    }
}

#[async_trait]
impl Database for Postgres {
    async fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, Error> {
        let client = self.take().await?;
        let row = client.query_one(sql, values).await;
        self.give_back(client);
        row
    }

    async fn all(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        let client = self.take().await?;
        let rows = client.query(sql, values).await;
        self.give_back(client);
        rows
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Postgres").finish_non_exhaustive()
    }
}
