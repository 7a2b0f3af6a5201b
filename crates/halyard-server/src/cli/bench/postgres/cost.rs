//! What jobs cost a database beside time: its log, and rows that it must clear away.

use std::time::Duration;

use anyhow::ensure;
use serde::Serialize;
use tokio::time::Instant;
use tokio_postgres::Client;

use super::super::window::per;
use super::Schema;

/// How long the server's connections may take to end behind it.
const END_MAX: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Before version 15 a process of its own gathers the counts, and has them a little later.
const VERSION_AT_ONCE: i32 = 150_000;
const GATHERED_IN: Duration = Duration::from_secs(1);

/// Of each job, over everything that the server did meanwhile.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in super::super) struct Cost {
    /// Bytes of the database's log: of the whole cluster, whoever else writes there.
    pub(in super::super) wal_bytes: f64,
    /// Rows of all tables that died: updated or deleted.
    pub(in super::super) dead_tuples: f64,
    /// Those of them that left nothing in an index (HOT).
    pub(in super::super) hot_tuples: f64,
    /// Not of a job: dead rows that had not been cleared away at the end.
    pub(in super::super) dead_tuples_left: u64,
}

/// The counts at one time, in order to take the difference.
pub(in super::super) struct Meter<'a> {
    schema: &'a Schema,
    client: Client,
    wal: u64,
    tuples: Tuples,
}

#[derive(Clone, Copy, Debug)]
struct Tuples {
    died: u64,
    hot: u64,
    left: u64,
}

impl<'a> Meter<'a> {
    /// Reads them, once no server works in the schema any more.
    pub(in super::super) async fn read(schema: &'a Schema) -> anyhow::Result<Self> {
        // Its connection must not bear the name of those that it waits for.
        let client = schema.connect().await?;
        client.batch_execute("SET application_name = 'halyard bench'").await?;
        let tuples = settled(&client, schema).await?;
        let wal = wal(&client).await?;
        Ok(Self { schema, client, wal, tuples })
    }

    /// What was done since then, for each of so many jobs.
    pub(in super::super) async fn cost_of(&self, jobs: u64) -> anyhow::Result<Cost> {
        let wal = wal(&self.client).await?;
        let tuples = settled(&self.client, self.schema).await?;
        let a_job = |now: u64, before: u64| per(now - before, per(jobs, 1.0));
        Ok(Cost {
            wal_bytes: a_job(wal, self.wal),
            dead_tuples: a_job(tuples.died, self.tuples.died),
            hot_tuples: a_job(tuples.hot, self.tuples.hot),
            dead_tuples_left: tuples.left,
        })
    }
}

async fn wal(client: &Client) -> anyhow::Result<u64> {
    let bytes: i64 = client.query_one(include_str!("sql/wal.sql"), &[]).await?.try_get(0)?;
    Ok(bytes.unsigned_abs())
}

async fn settled(client: &Client, schema: &Schema) -> anyhow::Result<Tuples> {
    let until = Instant::now() + END_MAX;
    loop {
        let row = client.query_one(include_str!("sql/connections.sql"), &[&schema.name]).await?;
        let connections: i64 = row.try_get(0)?;
        if connections == 0 {
            break;
        }
        ensure!(Instant::now() < until, "{connections} connections of the server have not ended");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let version = "SELECT current_setting('server_version_num')::int";
    let version: i32 = client.query_one(version, &[]).await?.try_get(0)?;
    if version < VERSION_AT_ONCE {
        tokio::time::sleep(GATHERED_IN).await;
    }
    let row = client.query_one(include_str!("sql/tuples.sql"), &[&schema.name]).await?;
    let count = |at: usize| row.try_get(at).map(i64::unsigned_abs);
    Ok(Tuples { died: count(0)?, hot: count(1)?, left: count(2)? })
}
