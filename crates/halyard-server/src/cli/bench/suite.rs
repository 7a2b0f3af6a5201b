//! The tests: which there are, and how one is run.

use std::path::Path;
use std::time::Duration;

use anyhow::ensure;

use super::big;
use super::limits::{self, Limit};
use super::loads::{Keyed, Limited, Repeat, Work};
use super::postgres::Schema;
use super::postgres::cost::{Cost, Meter};
use super::requests::TASK;
use super::server::{Scratch, Server};
use super::window::{self, Seen, Window};

/// Jobs that can be claimed and finished in a second by no means: so many are made ready for each
/// second of a test, by the size of its batch.
const READY_JOBS: &[(usize, u64)] = &[(1, 40_000), (10, 100_000), (100, 160_000), (1_000, 240_000)];

/// The same on PostgreSQL, whose own claims and finishes take longer.
const READY_JOBS_POSTGRES: &[(usize, u64)] =
    &[(1, 10_000), (10, 30_000), (100, 50_000), (1_000, 60_000)];

/// What a test does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Create,
    CreateKeyed,
    /// Creates of so many in one request.
    Batch(usize),
    /// Claims of so many, each finished by one report.
    Work(usize),
}

/// One test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test {
    pub(super) name: &'static str,
    pub(super) load: Load,
    pub(super) connections: usize,
}

const fn test(name: &'static str, load: Load, connections: usize) -> Test {
    Test { name, load, connections }
}

/// On an empty directory each. More connections than here gave no higher rates.
pub(super) const SMALL: &[Test] = &[
    test("create-1", Load::Create, 1),
    test("create-64", Load::Create, 64),
    test("create-128", Load::Create, 128),
    test("create-keyed-1", Load::CreateKeyed, 1),
    test("create-keyed-64", Load::CreateKeyed, 64),
    test("create-keyed-128", Load::CreateKeyed, 128),
    test("batch-100", Load::Batch(100), 8),
    test("batch-1000", Load::Batch(1_000), 4),
    test("work-1", Load::Work(1), 64),
    test("work-10", Load::Work(10), 32),
    test("work-100", Load::Work(100), 8),
    test("work-1000", Load::Work(1_000), 4),
];

/// The same on the big file.
pub(super) const BIG: &[Test] = &[
    test("big-work-1", Load::Work(1), 64),
    test("big-work-10", Load::Work(10), 32),
    test("big-work-100", Load::Work(100), 8),
    test("big-work-1000", Load::Work(1_000), 4),
];

impl Test {
    /// What the machine allows for it.
    pub(super) fn limits(&self) -> Vec<Limit> {
        let group = |jobs: usize| limits::group(self.connections * jobs);
        let http = Limit::Http { connections: self.connections };
        match self.load {
            Load::Create => vec![Limit::Insert { group: group(1) }, http],
            Load::CreateKeyed => vec![Limit::InsertKeyed { group: group(1) }, http],
            Load::Batch(jobs) => vec![Limit::Insert { group: group(jobs) }],
            Load::Work(jobs) => vec![Limit::Update { group: group(jobs) }],
        }
    }

    /// Runs it on a server of its own.
    pub(super) async fn on_empty(&self, parent: &Path, window: Window) -> anyhow::Result<Ran> {
        let scratch = Scratch::new(parent)?;
        let server = Server::start(scratch.path())?;
        self.make_ready(&server, window, READY_JOBS).await?;
        let seen = self.run(&server, window).await?;
        let ran = Ran { seen, memory: server.memory(), cost: None };
        server.stop()?;
        Ok(ran)
    }

    /// Runs it on a server of its own, whose jobs lie in a schema of its own. What a database
    /// counts it tells when a connection ends, so what is made ready before has another server.
    pub(super) async fn on_postgres(
        &self,
        parent: &Path,
        schema: &Schema,
        window: Window,
    ) -> anyhow::Result<Ran> {
        let scratch = Scratch::new(parent)?;
        let server = Server::on_postgres(scratch.path(), schema)?;
        self.make_ready(&server, window, READY_JOBS_POSTGRES).await?;
        server.stop()?;
        let meter = Meter::read(schema).await?;
        let server = Server::on_postgres(scratch.path(), schema)?;
        let seen = self.run(&server, window).await?;
        let memory = server.memory();
        server.stop()?;
        let cost = meter.cost_of(seen.acknowledged).await?;
        Ok(Ran { seen, memory, cost: Some(cost) })
    }

    /// Runs it on a server that has jobs of others.
    pub(super) async fn on_big(&self, directory: &Path, window: Window) -> anyhow::Result<Ran> {
        let server = Server::start(directory)?;
        self.make_ready(&server, window, READY_JOBS).await?;
        let seen = self.run(&server, window).await?;
        let ran = Ran { seen, memory: server.memory(), cost: None };
        big::clear(&server).await?;
        server.stop()?;
        Ok(ran)
    }

    /// Makes the jobs that it claims.
    async fn make_ready(
        &self,
        server: &Server,
        window: Window,
        ready: &[(usize, u64)],
    ) -> anyhow::Result<()> {
        const BATCH: u64 = 1_000;
        let Load::Work(batch) = self.load else { return Ok(()) };
        let a_second = ready.iter().find(|(of, _)| batch <= *of).map_or(0, |(_, jobs)| *jobs);
        let length: Duration = window.warm_up + window.length;
        let jobs = a_second * u64::try_from(length.as_millis())? / 1_000;
        let rounds = Repeat::batches(server.address, 2, TASK, 1_000).await?;
        window::run_out(Limited::to(jobs.div_ceil(BATCH).max(1), rounds), drop).await.map(drop)
    }

    /// A rate is never made of refused calls: what the loops counted is what the server counted.
    async fn run(&self, server: &Server, window: Window) -> anyhow::Result<Seen> {
        let (address, loops) = (server.address, self.connections);
        let before = server.stats().await?.totals;
        let seen = match self.load {
            Load::Create => {
                window::watch(Repeat::creates(address, loops).await?, server, window).await?
            }
            Load::CreateKeyed => {
                window::watch(Keyed::creates(address, loops).await?, server, window).await?
            }
            Load::Batch(jobs) => {
                let rounds = Repeat::batches(address, loops, TASK, jobs).await?;
                window::watch(rounds, server, window).await?
            }
            Load::Work(batch) => {
                let rounds = Work::workers(address, loops, TASK, batch).await?;
                window::watch(rounds, server, window).await?
            }
        };
        let after = server.stats().await?.totals;
        let counted = match self.load {
            Load::Create | Load::CreateKeyed | Load::Batch(_) => after.created - before.created,
            Load::Work(_) => after.completed - before.completed,
        };
        ensure!(
            counted == seen.acknowledged,
            "{}: {} jobs were acknowledged, the server counts {counted}",
            self.name,
            seen.acknowledged
        );
        Ok(seen)
    }
}

/// What a test gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    pub(super) seen: Seen,
    pub(super) memory: Option<super::machine::Memory>,
    /// What it cost the database.
    pub(super) cost: Option<Cost>,
}
