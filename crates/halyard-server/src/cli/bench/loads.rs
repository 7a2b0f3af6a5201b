//! What the loops do: one kind of round for each kind of test.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::requests::{self, Finish, KeyedCreate};
use super::window::Round;

/// The same request again and again, each of which stands for `jobs` jobs.
pub(super) struct Repeat {
    connection: Connection,
    request: Arc<[u8]>,
    status: u16,
    jobs: u64,
}

impl Repeat {
    /// A request that touches no store: what HTTP alone costs.
    pub(super) async fn health(address: SocketAddr, loops: usize) -> anyhow::Result<Vec<Self>> {
        Self::open(address, loops, requests::get(address, "/healthz"), 200, 1).await
    }

    /// Single creates without a key.
    pub(super) async fn creates(address: SocketAddr, loops: usize) -> anyhow::Result<Vec<Self>> {
        Self::open(address, loops, requests::create(address), 201, 1).await
    }

    /// Creates of many jobs of a task in one request.
    pub(super) async fn batches(
        address: SocketAddr,
        loops: usize,
        task: &str,
        jobs: usize,
    ) -> anyhow::Result<Vec<Self>> {
        Self::open(address, loops, requests::batch(address, task, jobs), 200, jobs as u64).await
    }

    async fn open(
        address: SocketAddr,
        loops: usize,
        request: Vec<u8>,
        status: u16,
        jobs: u64,
    ) -> anyhow::Result<Vec<Self>> {
        let request: Arc<[u8]> = request.into();
        let mut rounds = Vec::with_capacity(loops);
        for _ in 0..loops {
            let connection = Connection::open(address).await?;
            rounds.push(Self { connection, request: Arc::clone(&request), status, jobs });
        }
        Ok(rounds)
    }
}

impl Round for Repeat {
    async fn round(&mut self) -> anyhow::Result<Option<u64>> {
        self.connection.call_for(&self.request, self.status).await?;
        Ok(Some(self.jobs))
    }
}

/// Single creates, each with a key of its own.
pub(super) struct Keyed {
    connection: Connection,
    create: KeyedCreate,
    next: Arc<AtomicU64>,
}

impl Keyed {
    pub(super) async fn creates(address: SocketAddr, loops: usize) -> anyhow::Result<Vec<Self>> {
        let next = Arc::new(AtomicU64::new(1));
        let mut rounds = Vec::with_capacity(loops);
        for _ in 0..loops {
            let connection = Connection::open(address).await?;
            let create = KeyedCreate::new(address);
            rounds.push(Self { connection, create, next: Arc::clone(&next) });
        }
        Ok(rounds)
    }
}

impl Round for Keyed {
    async fn round(&mut self) -> anyhow::Result<Option<u64>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.connection.call_for(self.create.with(number), 201).await?;
        Ok(Some(1))
    }
}

/// At most so many rounds of another kind, shared by all its loops.
pub(super) struct Limited<R> {
    round: R,
    left: Arc<AtomicU64>,
}

impl<R> Limited<R> {
    /// `rounds` stops after `turns` turns together.
    pub(super) fn to(turns: u64, rounds: Vec<R>) -> Vec<Self> {
        let left = Arc::new(AtomicU64::new(turns));
        rounds.into_iter().map(|round| Self { round, left: Arc::clone(&left) }).collect()
    }
}

impl<R: Round> Round for Limited<R> {
    async fn round(&mut self) -> anyhow::Result<Option<u64>> {
        let one_less = |left: u64| left.checked_sub(1);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
            Ok(_) => self.round.round().await,
            Err(_) => Ok(None),
        }
    }
}

/// Rounds of another kind at a steady rate, which all its loops keep together. Whoever is late
/// begins at once, until what was missed is made up for.
pub(super) struct Paced<R> {
    round: R,
    begun: Instant,
    every: Duration,
    next: Arc<AtomicU32>,
}

impl<R> Paced<R> {
    /// A round `every` so often.
    pub(super) fn to(every: Duration, rounds: Vec<R>) -> Vec<Self> {
        let (begun, next) = (Instant::now(), Arc::new(AtomicU32::new(0)));
        let paced = |round| Self { round, begun, every, next: Arc::clone(&next) };
        rounds.into_iter().map(paced).collect()
    }
}

impl<R: Round> Round for Paced<R> {
    async fn round(&mut self) -> anyhow::Result<Option<u64>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep_until(self.begun + self.every * number).await;
        self.round.round().await
    }
}

/// A worker whose handlers take no time: it claims a batch, reports all of it as completed, and
/// claims again, until a claim finds nothing.
pub(super) struct Work {
    connection: Connection,
    claim: Vec<u8>,
    finish: Finish,
}

impl Work {
    pub(super) async fn workers(
        address: SocketAddr,
        loops: usize,
        task: &str,
        batch: usize,
    ) -> anyhow::Result<Vec<Self>> {
        let mut rounds = Vec::with_capacity(loops);
        for _ in 0..loops {
            let claim = requests::claim(address, task, batch, 0);
            let connection = Connection::open(address).await?;
            rounds.push(Self { connection, claim, finish: Finish::new(address) });
        }
        Ok(rounds)
    }
}

impl Round for Work {
    async fn round(&mut self) -> anyhow::Result<Option<u64>> {
        let answer = self.connection.call(&self.claim).await?;
        let claimed = answer.of(200)?;
        let Some((jobs, request)) = self.finish.all_of(claimed)? else { return Ok(None) };
        self.connection.call_for(request, 200).await?;
        Ok(Some(jobs as u64))
    }
}

/// Jobs from their creation to their end: a batch is created, and as many are worked off.
pub(super) struct Whole {
    create: Repeat,
    work: Work,
}

impl Whole {
    pub(super) async fn lives(
        address: SocketAddr,
        loops: usize,
        task: &str,
        batch: usize,
    ) -> anyhow::Result<Vec<Self>> {
        let creates = Repeat::batches(address, loops, task, batch).await?;
        let works = Work::workers(address, loops, task, batch).await?;
        Ok(creates.into_iter().zip(works).map(|(create, work)| Self { create, work }).collect())
    }
}

impl Round for Whole {
    async fn round(&mut self) -> anyhow::Result<Option<u64>> {
        self.create.round().await?;
        self.work.round().await
    }
}
