//! PostgreSQL's side of a move: one transaction, in which nobody else writes.
//!
//! `batch` holds rows on their way in, column by column.

mod batch;

use std::pin::Pin;
use std::time::Duration;

use futures_util::TryStreamExt;
use halyard_core::limits::OUTAGE_MS;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, IsolationLevel, Row, RowStream, Transaction};
use uuid::Uuid;

pub(crate) use self::batch::Batch;
use super::connect::{Object, Options, Pool, Time};
use super::{Ran, Trouble, migrations, told};
use crate::clock::pause;
use crate::moving::MoveError;
use crate::moving::tables::{Kind, Sum, TABLES, Table, Value, begins_filled};

/// How often the stamp is looked at while it is not known whether a server writes it.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often at most: a stamp of a clock that was ahead never grows old. It is six seconds, and a
/// server stamps every second.
const LOOKS_MAX: usize = 24;

/// A schema that nobody serves, as far as can be told.
pub(crate) struct QuietSchema {
    client: Object,
    schema: String,
    /// What it is called where people read of it.
    name: String,
    /// The stamp, which no server may move.
    stamp: i64,
}

impl QuietSchema {
    /// The schema to move into; it is made when it is not there.
    pub(crate) async fn empty(options: &Options) -> Result<Self, MoveError> {
        let schema = options.quoted_schema()?;
        let pool = Pool::open(options).await?;
        migrations::migrate(&pool, &schema).await?;
        Self::quiet(&pool, schema, options.time).await
    }

    /// The schema to move out of.
    pub(crate) async fn standing(options: &Options) -> Result<Self, MoveError> {
        let schema = options.quoted_schema()?;
        let pool = Pool::open(options).await?;
        match migrations::standing(&pool, &schema).await? {
            None => {
                let place = pool.place().to_owned();
                return Err(MoveError::NoSchema { place, schema: options.schema.clone() });
            }
            Some(number) if number < migrations::newest() => {
                return Err(MoveError::Older(format!("the schema {schema}")));
            }
            Some(_) => {}
        }
        Self::quiet(&pool, schema, options.time).await
    }

    /// Waits until it is known whether a server is there: each stamps its schema every second.
    async fn quiet(pool: &Pool, schema: String, time: Time) -> Result<Self, MoveError> {
        let mut client = pool.get().await?;
        let name = format!("the schema {schema} of {}", pool.place());
        let (stamp, mut age_ms) = stamp(&mut client, &schema).await?;
        for _ in 0..LOOKS_MAX {
            // A clock of a test's own says nothing of real servers.
            if time == Time::Given || age_ms > OUTAGE_MS {
                break;
            }
            pause(LOOK_EVERY).await;
            let (now, age) = self::stamp(&mut client, &schema).await?;
            if now != stamp {
                return Err(MoveError::Served(name));
            }
            age_ms = age;
        }
        Ok(Self { client, schema, name, stamp })
    }

    /// Begins, and keeps others from writing.
    pub(crate) async fn begin(&mut self) -> Result<Room<'_>, MoveError> {
        let before = self.stamp;
        let (schema, name) = (&self.schema, &self.name);
        let tx = start(&mut self.client).await?;
        let room = Room { tx, schema, name };
        let tables = TABLES.iter().map(|table| format!("{schema}.{}", table.name));
        let tables = tables.collect::<Vec<_>>().join(", ");
        let begin = include_str!("../sql/move_begin.sql").replace(":tables", &tables);
        room.tx.batch_execute(&begin).await?;
        let look = room.of(include_str!("../sql/move_stamp.sql"));
        if room.tx.query_typed_one(&look, &[]).await?.try_get::<_, i64>(0)? != before {
            return Err(MoveError::Served(name.clone()));
        }
        Ok(room)
    }
}

async fn start(client: &mut Client) -> Result<Transaction<'_>, tokio_postgres::Error> {
    client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await
}

/// The stamp, and how many milliseconds old it is.
async fn stamp(client: &mut Client, schema: &str) -> Result<(i64, i64), tokio_postgres::Error> {
    let sql = of(include_str!("../sql/move_stamp.sql"), schema);
    let row = client.query_typed_one(&sql, &[]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

fn of(sql: &str, schema: &str) -> String {
    sql.replace("halyard.", &format!("{schema}."))
}

/// The schema within the transaction of the move.
pub(crate) struct Room<'p> {
    tx: Transaction<'p>,
    schema: &'p str,
    name: &'p str,
}

impl Room<'_> {
    fn of(&self, sql: &str) -> String {
        of(sql, self.schema)
    }

    pub(crate) async fn refuse_unless_empty(&self) -> Result<(), MoveError> {
        for table in TABLES.iter().filter(|table| table.name != "stamp") {
            let sql = include_str!("../sql/move_is_filled.sql").replace(":table", table.name);
            let row = self.tx.query_typed_one(&self.of(&sql), &[]).await?;
            if row.try_get(0)? {
                return Err(MoveError::NotEmpty(self.name.to_owned()));
            }
        }
        Ok(())
    }

    /// Makes room for the one row that a table has from its beginning.
    pub(crate) async fn clear(&self, table: &Table) -> Result<(), MoveError> {
        if begins_filled(table) {
            let sql = include_str!("../sql/move_clear.sql").replace(":table", table.name);
            self.tx.batch_execute(&self.of(&sql)).await?;
        }
        Ok(())
    }

    /// Writes what the batch holds, and empties it.
    pub(crate) async fn write(&self, batch: &mut Batch) -> Result<(), MoveError> {
        if batch.is_empty() {
            return Ok(());
        }
        let table = batch.table;
        let write = match table.name {
            "counters" | "totals" | "minutes" => include_str!("../sql/move_write_slot.sql"),
            _ => include_str!("../sql/move_write.sql"),
        };
        let parameters: Vec<String> =
            (1..=table.columns.len()).map(|number| format!("${number}")).collect();
        let write = write
            .replace(":table", table.name)
            .replace(":columns", &table.names())
            .replace(":parameters", &parameters.join(", "));
        self.tx.execute_typed(&self.of(&write), &batch.parameters()).await?;
        batch.clear();
        Ok(())
    }

    /// The newest number that a job was given.
    pub(crate) async fn seq_used(&self) -> Result<i64, MoveError> {
        let sql = self.of(include_str!("../sql/move_newest.sql"));
        Ok(self.tx.query_typed_one(&sql, &[]).await?.try_get(0)?)
    }

    /// Lets the numbers of jobs go on behind this one.
    pub(crate) async fn number_on(&self, seq_used: i64) -> Result<(), MoveError> {
        let sql = self.of(include_str!("../sql/move_number.sql"));
        self.tx.query_typed(&sql, &[(&seq_used, Type::INT8)]).await?;
        Ok(())
    }

    pub(crate) async fn rows(&self, table: &'static Table) -> Result<Rows, MoveError> {
        let read = match table.name {
            "counters" => include_str!("../sql/move_read_counters.sql"),
            "totals" => include_str!("../sql/totals.sql"),
            "minutes" => include_str!("../sql/move_read_minutes.sql"),
            _ => include_str!("../sql/move_read.sql"),
        };
        let read = read
            .replace(":columns", &table.names())
            .replace(":table", table.name)
            .replace(":order", table.order);
        let none: [(&(dyn ToSql + Sync), Type); 0] = [];
        let stream = self.tx.query_typed_raw(&self.of(&read), none).await?;
        Ok(Rows { stream: Box::pin(stream), table })
    }

    pub(crate) async fn read(&self, sum: &mut Sum) -> Result<(), MoveError> {
        for table in TABLES {
            sum.begin(table);
            let mut rows = self.rows(table).await?;
            while let Some(row) = rows.next().await? {
                sum.row(&row);
            }
        }
        Ok(())
    }

    pub(crate) async fn commit(self) -> Result<(), MoveError> {
        Ok(self.tx.commit().await?)
    }
}

/// The rows of a table, as they come.
pub(crate) struct Rows {
    stream: Pin<Box<RowStream>>,
    table: &'static Table,
}

impl Rows {
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Value>>, MoveError> {
        let Some(row) = self.stream.try_next().await? else { return Ok(None) };
        let columns = self.table.columns.iter().enumerate();
        let row: Ran<Vec<Value>> = columns.map(|(at, (_, kind))| value(&row, at, *kind)).collect();
        Ok(Some(row?))
    }
}

fn value(row: &Row, at: usize, kind: Kind) -> Ran<Value> {
    let whole = |number: i64| Value::Whole(number);
    let value = match kind {
        Kind::Small => row.try_get::<_, Option<i16>>(at)?.map(i64::from).map(whole),
        Kind::Medium => row.try_get::<_, Option<i32>>(at)?.map(i64::from).map(whole),
        Kind::Large => row.try_get::<_, Option<i64>>(at)?.map(whole),
        Kind::Truth => row.try_get::<_, Option<bool>>(at)?.map(i64::from).map(whole),
        Kind::Real => row.try_get::<_, Option<f64>>(at)?.map(Value::Real),
        Kind::Text => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
        Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Bytes),
        Kind::Uuid => {
            let id = row.try_get::<_, Option<Uuid>>(at)?;
            id.map(|id| Value::Bytes(id.into_bytes().to_vec()))
        }
    };
    Ok(value.unwrap_or(Value::Null))
}

impl From<Trouble> for MoveError {
    fn from(trouble: Trouble) -> Self {
        Self::Postgres(trouble.to_string())
    }
}

impl From<tokio_postgres::Error> for MoveError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(told(&error))
    }
}
