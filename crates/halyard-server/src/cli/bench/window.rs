//! Loops that call the server, and the window in which what they do is counted.
//!
//! Every loop has one connection and one call under way: the next call is sent when the answer to
//! the last one is there. A loop counts a job when the server has acknowledged it; after the
//! window the server's own counters must say the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::machine;
use super::server::Server;

/// One turn of a loop.
pub(super) trait Round: Send + 'static {
    /// Calls, and says how many jobs (or requests) were acknowledged; `None` when there is
    /// nothing left to do.
    fn round(&mut self) -> impl Future<Output = anyhow::Result<Option<u64>>> + Send;
}

/// How long is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Not counted, before it.
    pub(super) warm_up: Duration,
    pub(super) length: Duration,
}

/// What a window saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Acknowledged in the window.
    pub(super) counted: u64,
    /// Acknowledged before, in and after it.
    pub(super) acknowledged: u64,
    pub(super) seconds: f64,
    /// Of the server, a unit.
    pub(super) server_cpu_us: Option<f64>,
    /// Of the database, a unit, for whomever.
    pub(super) database_cpu_us: Option<f64>,
    /// Of this program, a unit.
    pub(super) client_cpu_us: Option<f64>,
    /// Share of the machine that none of them used and that was not idle.
    pub(super) elsewhere_percent: Option<f64>,
}

impl Seen {
    /// A second.
    pub(super) fn rate(&self) -> f64 {
        per(self.counted, self.seconds)
    }
}

/// How many a second.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
pub(super) fn per(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}

#[derive(Default)]
struct Progress {
    acknowledged: AtomicU64,
    is_over: AtomicBool,
}

impl Progress {
    fn count(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }
}

/// Runs the loops until the window is over or they have nothing left to do.
pub(super) async fn watch<R: Round>(
    rounds: Vec<R>,
    server: &Server,
    window: Window,
) -> anyhow::Result<Seen> {
    let seen = watch_all(rounds, server, window, 1, |_| {}).await?;
    seen.first().copied().context("no window was seen")
}

/// The same in so many windows, one behind the other; `tell` hears of each.
pub(super) async fn watch_all<R: Round>(
    rounds: Vec<R>,
    server: &Server,
    window: Window,
    windows: usize,
    mut tell: impl FnMut(&Seen),
) -> anyhow::Result<Vec<Seen>> {
    let progress = Arc::new(Progress::default());
    let mut loops = JoinSet::new();
    for round in rounds {
        loops.spawn(turn(round, Arc::clone(&progress)));
    }
    run_until(&mut loops, Instant::now() + window.warm_up).await?;
    let mut before = Reading::take(&progress, server);
    let mut all = Vec::with_capacity(windows);
    for _ in 0..windows {
        run_until(&mut loops, before.at + window.length).await?;
        // On a slow machine the first answer may take longer than a short window.
        while progress.count() == before.acknowledged && !loops.is_empty() {
            run_until(&mut loops, Instant::now() + window.length).await?;
        }
        let after = Reading::take(&progress, server);
        ensure!(after.acknowledged > before.acknowledged, "all was done before the window began");
        let seen = seen(&before, &after);
        tell(&seen);
        all.push(seen);
        before = after;
    }
    progress.is_over.store(true, Ordering::Relaxed);
    while let Some(ended) = loops.join_next().await {
        ended??;
    }
    all.iter_mut().for_each(|seen| seen.acknowledged = progress.count());
    Ok(all)
}

/// Runs the loops until none has anything left to do; says how much they did.
pub(super) async fn run_out<R: Round>(
    rounds: Vec<R>,
    mut tell: impl FnMut(u64),
) -> anyhow::Result<u64> {
    const TELL_EVERY: Duration = Duration::from_secs(5);
    let progress = Arc::new(Progress::default());
    let mut loops = JoinSet::new();
    for round in rounds {
        loops.spawn(turn(round, Arc::clone(&progress)));
    }
    while !loops.is_empty() {
        run_until(&mut loops, Instant::now() + TELL_EVERY).await?;
        tell(progress.count());
    }
    Ok(progress.count())
}

async fn turn<R: Round>(mut round: R, progress: Arc<Progress>) -> anyhow::Result<()> {
    while !progress.is_over.load(Ordering::Relaxed) {
        let Some(done) = round.round().await? else { break };
        progress.acknowledged.fetch_add(done, Ordering::Relaxed);
    }
    Ok(())
}

/// Lets the loops run until `end`, or until all have ended. One that failed ends it.
async fn run_until(loops: &mut JoinSet<anyhow::Result<()>>, end: Instant) -> anyhow::Result<()> {
    while let Ok(Some(ended)) = timeout_at(end, loops.join_next()).await {
        ended??;
    }
    Ok(())
}

struct Reading {
    at: Instant,
    acknowledged: u64,
    server_cpu: Option<Duration>,
    database_cpu: Option<Duration>,
    client_cpu: Option<Duration>,
    cpu_of_all: Option<Duration>,
}

impl Reading {
    fn take(progress: &Progress, server: &Server) -> Self {
        Self {
            at: Instant::now(),
            acknowledged: progress.count(),
            server_cpu: server.cpu(),
            database_cpu: server.database_cpu(),
            client_cpu: machine::cpu_of(std::process::id()),
            cpu_of_all: machine::cpu_of_all(),
        }
    }
}

/// What was acknowledged in all is known later.
fn seen(before: &Reading, after: &Reading) -> Seen {
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    let counted = after.acknowledged - before.acknowledged;
    let spent = |before: Option<Duration>, after: Option<Duration>| {
        Some(after?.saturating_sub(before?).as_secs_f64())
    };
    let server = spent(before.server_cpu, after.server_cpu);
    let database = spent(before.database_cpu, after.database_cpu);
    let client = spent(before.client_cpu, after.client_cpu);
    let all = spent(before.cpu_of_all, after.cpu_of_all);
    let a_unit = |seconds: f64| 1e6 / per(counted, seconds);
    let elsewhere = |all: f64, server: f64, client: f64| {
        let whole = seconds * per(machine::cores() as u64, 1.0);
        (100.0 * (all - server - client - database.unwrap_or_default()) / whole).max(0.0)
    };
    Seen {
        counted,
        acknowledged: after.acknowledged,
        seconds,
        server_cpu_us: server.map(a_unit),
        database_cpu_us: database.map(a_unit),
        client_cpu_us: client.map(a_unit),
        elsewhere_percent: all
            .zip(server.zip(client))
            .map(|(all, (server, client))| elsewhere(all, server, client)),
    }
}
