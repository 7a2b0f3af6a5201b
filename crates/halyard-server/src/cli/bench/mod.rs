//! `halyard bench`: how fast Halyard is on this machine, and what the machine would allow.
//!
//! Each test starts `halyard serve`, this program's own executable, as a process of its own on a
//! directory of its own, and calls it over HTTP from the same machine, so the client's work is part
//! of what is measured. Everything acknowledged is durable. After a test the server's counters
//! must say what the client counted. In the same run the disk, SQLite with the same rows and HTTP
//! without a store are measured: a figure means little without the machine's limit beside it. With
//! `--database-url` the jobs lie in PostgreSQL, and the limits are its own statements.
//!
//! | file | what |
//! |---|---|
//! | `suite` | the tests, by name, and how one is run |
//! | `loads`, `window` | loops of calls, and the window in which they count |
//! | `latency` | from a create to a waiting worker |
//! | `big` | the file with millions of jobs |
//! | `limits`, `sql/` | what disk, SQLite and HTTP do by themselves |
//! | `postgres/` | schemas, limits and costs of a PostgreSQL database |
//! | `server`, `machine` | the child process; what the system says of it |
//! | `connection`, `requests` | the lean client and its bytes |
//! | `report` | table and JSON |
//!
//! Deliberately absent: a private way into the server (only public calls are used), tests against
//! the clock (no test of this repository asserts a speed), and comparisons with other systems.
//!
//! To add a test: a line in `suite`, and a kind of round in `loads` if it calls anything new.

mod big;
mod connection;
mod latency;
mod limits;
mod loads;
mod machine;
mod postgres;
mod report;
mod requests;
mod server;
mod suite;
mod window;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use halyard_api::Timestamp;
use tokio::signal::unix::{SignalKind, signal};

use self::big::Size;
use self::limits::{Limit, Limits};
use self::machine::Machine;
use self::postgres::{Raw, Schema};
use self::report::{Figure, LimitFigure, Report, StartUp, thousands};
use self::server::{Scratch, Server};
use self::window::Window;

/// Starts of a server that are timed.
const STARTS: usize = 3;

/// Measure the speed of Halyard on this machine, beside the machine's own limits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory for the servers' data: on the disk to be measured.
    #[arg(long, value_name = "PATH", default_value = "halyard-bench")]
    dir: PathBuf,
    /// Measure on this PostgreSQL database, in schemas that are dropped afterwards, instead of on
    /// SQLite: postgres://user:password@host/name. No pooler may stand in between.
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Measure although the database does not sync what it acknowledges.
    #[arg(long, requires = "database_url")]
    unsynced: bool,
    /// Write the figures to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run only tests whose name begins with NAME, such as create, work-100, latency or big; may
    /// be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// How long each test is measured, behind a warm-up of a third of it (at most a second).
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    seconds: f64,
    /// How long a PostgreSQL database is held at a steady rate beside an old snapshot.
    #[arg(long, value_name = "MINUTES", default_value_t = 10.0, requires = "database_url")]
    steady_minutes: f64,
    /// Jobs a second of that rate, each created, claimed and finished; 0 for as many as go. Each
    /// job takes some 2 kB on the database's disk until the test is over.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, requires = "database_url")]
    steady_rate: u32,
    /// Leave out the tests on the big file, and the steady rate.
    #[arg(long)]
    quick: bool,
    /// Finished jobs in the big file, which takes about 700 bytes for each on the disk and is kept.
    #[arg(long, value_name = "COUNT", default_value_t = 10_000_000)]
    big_finished: u64,
    /// Queued jobs of other tasks in the big file.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    big_queued: u64,
}

/// Measures, prints the figures and writes them.
///
/// # Errors
/// The directory is of no use, a server could not be started, or a test was not sound.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    ensure!((0.01..=600.0).contains(&args.seconds), "--seconds must be from 0.01 to 600");
    ensure!((0.01..=1_440.0).contains(&args.steady_minutes), "--steady-minutes: 0.01 to 1440");
    // One thread for the client: more only take the server's cores.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(unless_stopped(measure(args)));
    if let (Err(_), Some(url)) = (&report, &args.database_url) {
        // Whatever ended the run, it leaves no schema behind.
        runtime.block_on(async { Schema::of(url).await?.0.remove().await }).unwrap_or_else(
            |error| anstream::eprintln!("bench: the schema could not be dropped: {error:#}"),
        );
    }
    let report = report?;
    report.print();
    if let Some(file) = &args.json {
        report.write(file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Someone who stops the run must not be left with its server.
async fn unless_stopped(
    run: impl Future<Output = anyhow::Result<Report>>,
) -> anyhow::Result<Report> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    tokio::select! {
        report = run => report,
        _ = term.recv() => bail!("stopped"),
        _ = int.recv() => bail!("stopped"),
    }
}

async fn measure(args: &Args) -> anyhow::Result<Report> {
    std::fs::create_dir_all(&args.dir)
        .with_context(|| format!("cannot make {}", args.dir.display()))?;
    let machine = Machine::under(&args.dir);
    let is_here = args.database_url.is_none();
    if let Some(name @ ("tmpfs" | "ramfs")) = machine.filesystem.as_deref().filter(|_| is_here) {
        bail!(
            "{} lies in memory ({name}), where nothing is durable; name a directory on a disk \
             with --dir",
            args.dir.display()
        );
    }
    let length = Duration::from_secs_f64(args.seconds);
    let window = Window { warm_up: (length / 3).min(Duration::from_secs(1)), length };
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        at: Timestamp::from_ms(jiff::Timestamp::now().as_millisecond()),
        machine,
        seconds: args.seconds,
        database: None,
        syncs: None,
        tests: Vec::new(),
        latency: None,
        start_ups: Vec::new(),
        steady: None,
    };
    let limits = Limits::new(&args.dir, length.min(Duration::from_secs(1)));
    let mut run = Run { args, window, limits, raw: HashMap::new(), report };
    if let Some(url) = &args.database_url {
        let (schema, settings) = Schema::of(url).await?;
        if !args.unsynced {
            postgres::ensure_synced(&settings)?;
        }
        run.report.database = Some(settings);
        run.on_postgres(&schema).await?;
    } else {
        run.on_empty().await?;
        if !args.quick {
            run.on_big().await?;
        }
    }
    ensure!(!run.report.is_empty(), "no test has a name that begins with one of --only");
    Ok(run.report)
}

struct Run<'a> {
    args: &'a Args,
    window: Window,
    limits: Limits,
    /// Limits of a database, each measured when it is first asked for.
    raw: HashMap<Raw, f64>,
    report: Report,
}

impl Run<'_> {
    fn wants(&self, name: &str) -> bool {
        self.args.only.is_empty() || self.args.only.iter().any(|only| name.starts_with(only))
    }

    async fn on_empty(&mut self) -> anyhow::Result<()> {
        self.report.syncs = Some(self.limits.rate(Limit::Sync).await?);
        for test in suite::SMALL {
            if !self.wants(test.name) {
                continue;
            }
            let ran = test.on_empty(&self.args.dir, self.window).await?;
            let limits = self.limits_of(test).await?;
            self.add(test, &ran, limits);
        }
        if self.wants("latency") {
            let scratch = Scratch::new(&self.args.dir)?;
            let server = Server::start(scratch.path())?;
            self.report.latency = Some(latency::measure(&server, self.window).await?);
            server.stop()?;
        }
        if self.wants("start-up") {
            let scratch = Scratch::new(&self.args.dir)?;
            self.report.start_ups.push(start_up("an empty directory", scratch.path())?);
        }
        Ok(())
    }

    async fn on_big(&mut self) -> anyhow::Result<()> {
        let tests: Vec<_> = suite::BIG.iter().filter(|test| self.wants(test.name)).collect();
        let starts = self.wants("big-start-up");
        if tests.is_empty() && !starts {
            return Ok(());
        }
        let directory = big::directory(&self.args.dir);
        let size = Size { finished: self.args.big_finished, queued: self.args.big_queued };
        big::prepare(&directory, size).await?;
        if starts {
            self.report.start_ups.push(start_up("the big file", &directory)?);
        }
        for test in tests {
            let ran = test.on_big(&directory, self.window).await?;
            let limits = self.limits_of(test).await?;
            self.add(test, &ran, limits);
        }
        Ok(())
    }

    async fn limits_of(&mut self, test: &suite::Test) -> anyhow::Result<Vec<LimitFigure>> {
        let mut limits = Vec::new();
        for limit in test.limits() {
            let rate = self.limits.rate(limit).await?;
            limits.push(LimitFigure { limit: limit.to_string(), rate });
        }
        Ok(limits)
    }

    fn add(&mut self, test: &suite::Test, ran: &suite::Ran, limits: Vec<LimitFigure>) {
        anstream::eprintln!("bench: {}: {} jobs/s", test.name, thousands(ran.seen.rate()));
        self.report.tests.push(Figure::new(test, ran, limits));
    }
}

/// Starts a server a few times, the last time to look at its memory.
fn start_up(on: &'static str, directory: &Path) -> anyhow::Result<StartUp> {
    let mut times = Vec::new();
    let mut memory = None;
    for _ in 0..STARTS {
        let server = Server::start(directory)?;
        times.push(server.came_up_in.as_secs_f64() * 1_000.0);
        memory = server.memory();
        server.stop()?;
    }
    let file_bytes = std::fs::read_dir(server::data(directory))?
        .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()))
        .sum();
    Ok(StartUp {
        on,
        shortest_ms: times.iter().copied().fold(f64::INFINITY, f64::min),
        longest_ms: times.iter().copied().fold(0.0, f64::max),
        file_bytes,
        memory,
    })
}
