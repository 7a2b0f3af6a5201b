//! How long a new job takes to reach a worker that waits for one.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::connection::Connection;
use super::requests::{self, Finish, TASK};
use super::server::Server;
use super::window::Window;

/// The worker waits for so long before a job is created: its claim has been looked at and found
/// nothing by then.
const REST: Duration = Duration::from_millis(2);

/// From before the create is sent until the claim's answer is read, both on this side.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latency {
    pub(super) samples: usize,
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
    pub(super) max_us: u64,
}

/// What the worker tells.
enum Word {
    Waits,
    Received(Instant),
}

impl Word {
    fn received(self) -> Option<Instant> {
        match self {
            Self::Received(at) => Some(at),
            Self::Waits => None,
        }
    }
}

/// Creates one job after another for one waiting worker.
pub(super) async fn measure(server: &Server, window: Window) -> anyhow::Result<Latency> {
    let (tell, mut words) = mpsc::channel(4);
    let mut worker =
        tokio::spawn(work(Connection::open(server.address).await?, server.address, tell));
    let mut connection = Connection::open(server.address).await?;
    let create = requests::create(server.address);
    let begun = Instant::now();
    let mut samples = Vec::new();
    let mut jobs = 0;
    // On a slow machine the first job may take longer than a short window.
    let is_over = |samples: &[Duration]| {
        begun.elapsed() >= window.warm_up + window.length && !samples.is_empty()
    };
    while words.recv().await.is_some() && !is_over(&samples) {
        tokio::time::sleep(REST).await;
        let sent = Instant::now();
        connection.call_for(&create, 201).await?;
        let Some(received) = words.recv().await.and_then(Word::received) else { break };
        jobs += 1;
        if sent.duration_since(begun) > window.warm_up {
            samples.push(received.duration_since(sent));
        }
    }
    if words.is_closed() {
        // It hears of the end only from here, so it ended for a reason of its own.
        (&mut worker).await??;
    }
    worker.abort();
    let completed = server.stats().await?.totals.completed;
    ensure!(completed == jobs, "{jobs} jobs were reported, the server counts {completed}");
    summary(samples)
}

async fn work(
    mut connection: Connection,
    address: std::net::SocketAddr,
    tell: mpsc::Sender<Word>,
) -> anyhow::Result<()> {
    let claim = requests::claim(address, TASK, 1, 55_000);
    let mut finish = Finish::new(address);
    while tell.send(Word::Waits).await.is_ok() {
        let claimed = connection.call(&claim).await?.of(200)?;
        let at = Instant::now();
        let (_, request) = finish.all_of(claimed)?.context("a claim waited 55 s for nothing")?;
        connection.call_for(request, 200).await?;
        if tell.send(Word::Received(at)).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn summary(mut samples: Vec<Duration>) -> anyhow::Result<Latency> {
    samples.sort_unstable();
    let at = |permille: usize| {
        let sample = samples.get((samples.len() * permille / 1_000).min(samples.len() - 1));
        sample.map_or(0, |sample| u64::try_from(sample.as_micros()).unwrap_or(u64::MAX))
    };
    ensure!(!samples.is_empty(), "no job reached the worker in the window");
    Ok(Latency { samples: samples.len(), p50_us: at(500), p99_us: at(990), max_us: at(1_000) })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn summaries() {
        let latency = summary((1..=200).rev().map(Duration::from_micros).collect()).unwrap();
        assert_eq!((latency.p50_us, latency.p99_us, latency.max_us), (101, 199, 200));
        let one = summary(vec![Duration::from_micros(7)]).unwrap();
        assert_eq!((one.p50_us, one.p99_us, one.max_us), (7, 7, 7));
        assert!(summary(Vec::new()).is_err());
    }
}
