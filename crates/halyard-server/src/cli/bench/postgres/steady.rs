//! A steady rate beside a session that holds an old snapshot: PostgreSQL may clear away no row that
//! died since, so every claim passes by more of them. Which share of its rate a server keeps.

use std::time::Duration;

use anyhow::ensure;
use serde::Serialize;
use tokio_postgres::Client;

use super::super::Args;
use super::super::loads::{Paced, Whole};
use super::super::report::thousands;
use super::super::server::{Scratch, Server};
use super::super::window::{self, Seen, Window};
use super::Schema;
use super::cost::{Cost, Meter};

/// Loops that each create a batch, claim it and finish it.
const LOOPS: usize = 4;
const BATCH: u32 = 100;
/// Rates are of a minute each, and there are two at least.
const PART: Duration = Duration::from_secs(60);
const PARTS_MIN: u32 = 2;

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub(in super::super) struct Steady {
    /// Jobs a second that were asked for; as many as go when it is absent.
    pub(in super::super) offered: Option<u32>,
    /// A minute each, or halves of a shorter time.
    pub(in super::super) parts: Vec<Part>,
    /// The rate of the last part in percent of that of the first.
    pub(in super::super) kept_percent: f64,
    pub(in super::super) cost: Cost,
}

/// One part of the time.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in super::super) struct Part {
    /// Jobs a second that were created, claimed and finished.
    pub(in super::super) rate: f64,
    /// A job.
    pub(in super::super) server_cpu_us: Option<f64>,
    pub(in super::super) database_cpu_us: Option<f64>,
    /// Share of the machine that others used meanwhile.
    pub(in super::super) elsewhere_percent: Option<f64>,
}

/// A session whose snapshot is as old as itself.
struct OldSnapshot {
    client: Client,
    seen: i64,
}

impl OldSnapshot {
    async fn take(schema: &Schema) -> anyhow::Result<Self> {
        let client = schema.connect().await?;
        // The counts of dead rows do not wait for it.
        client.batch_execute("SET application_name = 'halyard bench'").await?;
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
        let seen = Self::count(&client, schema).await?;
        Ok(Self { client, seen })
    }

    /// It was held all the time: it still sees what it saw.
    async fn end(self, schema: &Schema) -> anyhow::Result<()> {
        let seen = Self::count(&self.client, schema).await?;
        ensure!(seen == self.seen, "the snapshot was lost: {} jobs, then {seen}", self.seen);
        self.client.batch_execute("COMMIT").await?;
        Ok(())
    }

    async fn count(client: &Client, schema: &Schema) -> anyhow::Result<i64> {
        let count = format!("SELECT count(*) FROM {}.jobs", schema.name);
        Ok(client.query_one(&count, &[]).await?.try_get(0)?)
    }
}

impl Steady {
    pub(in super::super) fn print(&self) {
        let rates = self.parts.iter().map(|part| thousands(part.rate)).collect::<Vec<_>>();
        anstream::println!(
            "\nsteady rate beside an old snapshot, jobs/s: {}\nthe last part has {:.0} % of the \
             first; {:.0} B of WAL and {:.2} dead rows a job, {} left",
            rates.join(", "),
            self.kept_percent,
            self.cost.wal_bytes,
            self.cost.dead_tuples,
            self.cost.dead_tuples_left
        );
    }
}

/// Measures it in a schema that is not there yet.
pub(super) async fn measure(args: &Args, schema: &Schema) -> anyhow::Result<Steady> {
    let scratch = Scratch::new(&args.dir)?;
    Server::on_postgres(scratch.path(), schema)?.stop()?;
    let snapshot = OldSnapshot::take(schema).await?;
    let meter = Meter::read(schema).await?;
    let server = Server::on_postgres(scratch.path(), schema)?;
    let length = Duration::from_secs_f64(args.steady_minutes * 60.0);
    let parts = PARTS_MIN.max(u32::try_from(length.as_secs() / PART.as_secs())?);
    let window =
        Window { warm_up: (length / 10).min(Duration::from_secs(5)), length: length / parts };
    let mut lives = Vec::new();
    for number in 0..LOOPS {
        // Each has a task of its own, so that none takes what another one made.
        let task = format!("steady-{number}");
        lives.extend(Whole::lives(server.address, 1, &task, usize::try_from(BATCH)?).await?);
    }
    let mut minute = 0;
    let tell = |seen: &Seen| {
        minute += 1;
        let rate = thousands(seen.rate());
        anstream::eprintln!("bench: steady, part {minute} of {parts}: {rate} jobs/s");
    };
    let windows = usize::try_from(parts)?;
    let offered = (args.steady_rate > 0).then_some(args.steady_rate);
    let all = match offered {
        Some(rate) => {
            let every = Duration::from_secs(1) * BATCH / rate;
            window::watch_all(Paced::to(every, lives), &server, window, windows, tell).await?
        }
        None => window::watch_all(lives, &server, window, windows, tell).await?,
    };
    let jobs = all.last().map_or(0, |seen| seen.acknowledged);
    let completed = server.stats().await?.totals.completed;
    ensure!(completed == jobs, "{jobs} jobs were reported, the server counts {completed}");
    server.stop()?;
    snapshot.end(schema).await?;
    let cost = meter.cost_of(jobs).await?;
    let rate = |seen: Option<&Seen>| seen.map_or(0.0, Seen::rate);
    let kept_percent = 100.0 * rate(all.last()) / rate(all.first());
    Ok(Steady { offered, parts: all.iter().map(part).collect(), kept_percent, cost })
}

fn part(seen: &Seen) -> Part {
    Part {
        rate: seen.rate(),
        server_cpu_us: seen.server_cpu_us,
        database_cpu_us: seen.database_cpu_us,
        elsewhere_percent: seen.elsewhere_percent,
    }
}
