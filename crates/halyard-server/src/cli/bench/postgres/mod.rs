//! The same measures on PostgreSQL: on a database that is named, which may run anywhere.
//!
//! | file | what |
//! |---|---|
//! | `cost` | the log and the dead rows that a job costs |
//! | `raw`, `sql/` | what the database does with such rows by itself |
//! | `steady` | a steady rate beside a snapshot that grows old |
//!
//! Every test has a schema of its own, which is dropped after it, and a server of its own, with
//! Halyard's default settings. The database must sync what it acknowledges, or the run must be told
//! that it need not.
//!
//! Deliberately absent: the big file's tests, since filling the database takes longer than all
//! else, and changing any setting of the database.

pub(super) mod cost;
mod raw;
pub(super) mod steady;

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use halyard_store::postgres;
use tokio_postgres::Client;

pub(super) use self::raw::Raw;
use super::latency::{self, Latency};
use super::machine;
use super::report::{LimitFigure, StartUp};
use super::server::{Scratch, Server};
use super::suite::{Load, Test};
use super::{Args, Run, limits, suite};

/// Where a test's jobs lie.
#[derive(Clone, Debug)]
pub(super) struct Schema {
    pub(super) name: String,
    /// Of its database; connections made by it bear the schema's name.
    pub(super) url: String,
    /// The database's first process, when it runs on this machine.
    pub(super) database_pid: Option<u32>,
}

/// The settings of a database, by name.
pub(super) type Settings = BTreeMap<String, String>;

impl Schema {
    /// One that nobody else has, in the database of `url`. It is not made yet.
    pub(super) async fn of(url: &str) -> anyhow::Result<(Self, Settings)> {
        let name = format!("halyard_bench_{}", std::process::id());
        let mark = if url.contains('?') { '&' } else { '?' };
        let url = format!("{url}{mark}application_name={name}");
        let mut schema = Self { name, url, database_pid: None };
        let client = schema.connect().await?;
        let rows = client.query(include_str!("sql/settings.sql"), &[]).await?;
        let settings = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<Settings, tokio_postgres::Error>>()?;
        let backend = client.query_one(include_str!("sql/backend.sql"), &[]).await?;
        let (pid, is_here): (i32, bool) = (backend.try_get(0)?, backend.try_get(1)?);
        if is_here {
            schema.database_pid = machine::postgres_of(pid.unsigned_abs());
        }
        Ok((schema, settings))
    }

    /// A connection to its database.
    pub(super) async fn connect(&self) -> anyhow::Result<Client> {
        postgres::plain(&self.url).await.context("--database-url")
    }

    /// Drops it with everything in it; it may be absent.
    pub(super) async fn remove(&self) -> anyhow::Result<()> {
        let client = self.connect().await?;
        client.batch_execute(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name)).await?;
        Ok(())
    }

    /// Makes it, as a server does, and runs `work` in it; drops it afterwards.
    async fn lent<T>(
        &self,
        work: impl AsyncFnOnce(&Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        self.remove().await?;
        let done = work(self).await;
        let removed = self.remove().await;
        let done = done?;
        removed?;
        Ok(done)
    }
}

/// Fails when what the database acknowledges may be lost.
pub(super) fn ensure_synced(settings: &Settings) -> anyhow::Result<()> {
    for (name, syncs) in [("fsync", &["on"][..]), ("synchronous_commit", &["on", "remote_apply"])] {
        let value = settings.get(name).map(String::as_str).unwrap_or_default();
        ensure!(
            syncs.contains(&value),
            "the database has {name} = {value}, so what it acknowledges may be lost and its speed \
             says nothing; set it to {}, or give --unsynced to run all the same",
            syncs.join(" or ")
        );
    }
    Ok(())
}

impl Run<'_> {
    /// Every test that is wanted.
    pub(super) async fn on_postgres(&mut self, schema: &Schema) -> anyhow::Result<()> {
        for test in suite::SMALL {
            if !self.wants(test.name) {
                continue;
            }
            let (parent, window) = (&self.args.dir, self.window);
            let ran = schema.lent(async |schema| test.on_postgres(parent, schema, window).await);
            let ran = ran.await?;
            let limits = self.postgres_limits(test, schema).await?;
            self.add(test, &ran, limits);
        }
        if self.wants("latency") {
            self.report.latency =
                Some(schema.lent(async |schema| self.waiting(schema).await).await?);
        }
        if self.wants("start-up") {
            let started = schema.lent(async |schema| start_ups(self.args, schema).await).await?;
            self.report.start_ups = started;
        }
        let is_asked_for = self.args.only.iter().any(|only| "steady".starts_with(only));
        if is_asked_for || self.args.only.is_empty() && !self.args.quick {
            let steady = schema.lent(async |schema| steady::measure(self.args, schema).await);
            self.report.steady = Some(steady.await?);
        }
        Ok(())
    }

    async fn waiting(&self, schema: &Schema) -> anyhow::Result<Latency> {
        let scratch = Scratch::new(&self.args.dir)?;
        let server = Server::on_postgres(scratch.path(), schema)?;
        let latency = latency::measure(&server, self.window).await?;
        server.stop()?;
        Ok(latency)
    }

    /// What the database allows for a test, over as many connections as there are cores at most.
    async fn postgres_limits(
        &mut self,
        test: &Test,
        schema: &Schema,
    ) -> anyhow::Result<Vec<LimitFigure>> {
        let connections = test.connections.min(machine::cores());
        let group = |jobs: usize| limits::group(test.connections * jobs);
        let raws = match test.load {
            Load::Create => vec![Raw::Insert { group: group(1), connections }],
            Load::CreateKeyed => vec![Raw::InsertKeyed { group: group(1), connections }],
            Load::Batch(jobs) => vec![Raw::Insert { group: group(jobs), connections }],
            Load::Work(jobs) => {
                let group = group(jobs);
                vec![Raw::Claim { group, connections }, Raw::Finish { group, connections }]
            }
        };
        let mut figures = Vec::new();
        for wanted in raws {
            if !self.raw.contains_key(&wanted) {
                let length = self.limits.length();
                let measured = schema.lent(async |schema| {
                    let scratch = Scratch::new(&self.args.dir)?;
                    // The tables are the server's own.
                    Server::on_postgres(scratch.path(), schema)?.stop()?;
                    wanted.measure(schema, length).await
                });
                self.raw.extend(measured.await?);
            }
            let rate = self.raw.get(&wanted).copied().context("a limit was not measured")?;
            figures.push(LimitFigure { limit: wanted.to_string(), rate });
        }
        Ok(figures)
    }
}

/// The first start, which makes the schema, and later ones.
async fn start_ups(args: &Args, schema: &Schema) -> anyhow::Result<Vec<StartUp>> {
    let scratch = Scratch::new(&args.dir)?;
    let mut all = Vec::new();
    for (on, starts) in [("no schema", 1), ("an empty schema", super::STARTS)] {
        let (mut shortest_ms, mut longest_ms, mut memory) = (f64::INFINITY, 0.0_f64, None);
        for _ in 0..starts {
            let server = Server::on_postgres(scratch.path(), schema)?;
            let ms = server.came_up_in.as_secs_f64() * 1_000.0;
            (shortest_ms, longest_ms) = (shortest_ms.min(ms), longest_ms.max(ms));
            memory = server.memory();
            server.stop()?;
        }
        let size = include_str!("sql/size.sql");
        let bytes: i64 =
            schema.connect().await?.query_one(size, &[&schema.name]).await?.try_get(0)?;
        let file_bytes = bytes.unsigned_abs();
        all.push(StartUp { on, shortest_ms, longest_ms, file_bytes, memory });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_synced() {
        let check = |fsync: &str, commit: &str, is_synced: bool| {
            let settings = [("fsync", fsync), ("synchronous_commit", commit)];
            let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
            assert_eq!(ensure_synced(&settings.into()).is_ok(), is_synced, "{fsync} {commit}");
        };
        check("on", "on", true);
        check("on", "remote_apply", true);
        check("on", "off", false);
        check("on", "local", false);
        check("off", "on", false);
        assert!(ensure_synced(&Settings::new()).is_err());
    }
}
