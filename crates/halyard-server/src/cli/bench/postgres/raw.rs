//! What PostgreSQL does with the same rows by itself: one statement for a whole group, on the
//! server's own tables, with nothing around it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::task::JoinSet;
use tokio_postgres::{Client, Statement};
use uuid::Uuid;

use super::super::limits::{id, spread};
use super::super::requests::{PAYLOAD, QUEUE, TASK};
use super::super::window::per;
use super::Schema;

/// Jobs that no database claims in a second on one connection.
const CLAIMS_MAX: usize = 150_000;

/// A limit, over so many connections, each of which commits so many rows at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Raw {
    Insert { group: usize, connections: usize },
    InsertKeyed { group: usize, connections: usize },
    Claim { group: usize, connections: usize },
    Finish { group: usize, connections: usize },
}

impl std::fmt::Display for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (what, group, connections) = match self {
            Self::Insert { group, connections } => ("raw inserts", group, connections),
            Self::InsertKeyed { group, connections } => ("raw keyed inserts", group, connections),
            Self::Claim { group, connections } => ("raw claims", group, connections),
            Self::Finish { group, connections } => ("raw finishes", group, connections),
        };
        write!(f, "{what} by {group} over {connections}")
    }
}

/// Rows that were claimed, with their tokens.
type Claimed = (Vec<i64>, Vec<Uuid>);

impl Raw {
    /// Measures it, and what comes with it, on the empty tables of a schema: rows a second.
    pub(super) async fn measure(
        self,
        schema: &Schema,
        length: Duration,
    ) -> anyhow::Result<Vec<(Self, f64)>> {
        match self {
            Self::Insert { group, connections } | Self::InsertKeyed { group, connections } => {
                let is_keyed = matches!(self, Self::InsertKeyed { .. });
                let all = Hands::open(schema, connections).await?;
                let rate = inserts(all, group, is_keyed, length).await?;
                Ok(vec![(self, rate)])
            }
            Self::Claim { group, connections } | Self::Finish { group, connections } => {
                let (claims, finishes) = updates(schema, group, connections, length).await?;
                Ok(vec![
                    (Self::Claim { group, connections }, claims),
                    (Self::Finish { group, connections }, finishes),
                ])
            }
        }
    }
}

/// A connection with its statements.
struct Hands {
    client: Client,
    insert: Statement,
    claim: Statement,
    finish: Statement,
    last: Arc<AtomicI64>,
}

impl Hands {
    async fn open(schema: &Schema, connections: usize) -> anyhow::Result<Vec<Self>> {
        let last = Arc::new(AtomicI64::new(0));
        let mut all = Vec::with_capacity(connections);
        for _ in 0..connections {
            let client = schema.connect().await?;
            client.batch_execute(&format!("SET search_path = {}", schema.name)).await?;
            client.batch_execute(include_str!("sql/raw.sql")).await?;
            let insert = client.prepare(include_str!("sql/insert.sql")).await?;
            let claim = client.prepare(include_str!("sql/claim.sql")).await?;
            let finish = client.prepare(include_str!("sql/finish.sql")).await?;
            all.push(Self { client, insert, claim, finish, last: Arc::clone(&last) });
        }
        Ok(all)
    }

    async fn insert(&self, group: usize, is_keyed: bool) -> anyhow::Result<u64> {
        let count = i64::try_from(group)?;
        let first = self.last.fetch_add(count, Ordering::Relaxed) + 1;
        let numbers: Vec<i64> = (first..first + count).collect();
        let ids: Vec<Uuid> = numbers.iter().map(|number| Uuid::from_bytes(id(*number))).collect();
        let key = |number: &i64| is_keyed.then(|| format!("charge:sub_{:016x}", spread(*number)));
        let keys: Vec<Option<String>> = numbers.iter().map(key).collect();
        let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
            &[&numbers, &ids, &keys, &TASK, &QUEUE, &PAYLOAD];
        let rows = self.client.execute(&self.insert, values).await?;
        ensure!(rows == group as u64, "{rows} of {group} rows were inserted");
        Ok(rows)
    }

    async fn claim(&self, group: usize) -> anyhow::Result<Claimed> {
        let max = i64::try_from(group)?;
        let rows = self.client.query(&self.claim, &[&QUEUE, &TASK, &max]).await?;
        let mut claimed = Claimed::default();
        for row in rows {
            claimed.0.push(row.try_get(0)?);
            claimed.1.push(row.try_get(1)?);
        }
        Ok(claimed)
    }

    async fn finish(&self, (numbers, tokens): &Claimed) -> anyhow::Result<u64> {
        let rows = self.client.execute(&self.finish, &[numbers, tokens]).await?;
        ensure!(rows == numbers.len() as u64, "{rows} of {} jobs were finished", numbers.len());
        Ok(rows)
    }
}

/// Runs `turn` on every connection, until the time is over or there is nothing left; rows a second.
async fn together<T, U, F>(
    turns: Vec<T>,
    length: Duration,
    turn: impl Fn(T, Instant) -> F,
) -> anyhow::Result<(f64, Vec<U>)>
where
    U: Send + 'static,
    F: Future<Output = anyhow::Result<(u64, U)>> + Send + 'static,
{
    let (begun, mut loops) = (Instant::now(), JoinSet::new());
    for one in turns {
        loops.spawn(turn(one, begun + length));
    }
    let (mut rows, mut turns) = (0, Vec::new());
    while let Some(done) = loops.join_next().await {
        let (count, one) = done??;
        rows += count;
        turns.push(one);
    }
    ensure!(rows > 0, "no row was written");
    Ok((per(rows, begun.elapsed().as_secs_f64()), turns))
}

async fn inserts(
    all: Vec<Hands>,
    group: usize,
    is_keyed: bool,
    length: Duration,
) -> anyhow::Result<f64> {
    let turn = move |hands: Hands, end: Instant| async move {
        let mut rows = hands.insert(group, is_keyed).await?;
        while Instant::now() < end {
            rows += hands.insert(group, is_keyed).await?;
        }
        Ok((rows, hands))
    };
    Ok(together(all, length, turn).await?.0)
}

/// Claims for the time, then finishes of what was claimed.
async fn updates(
    schema: &Schema,
    group: usize,
    connections: usize,
    length: Duration,
) -> anyhow::Result<(f64, f64)> {
    const BATCH: usize = 1_000;
    let all = Hands::open(schema, connections).await?;
    let ready = CLAIMS_MAX * usize::try_from(length.as_millis())? / 1_000 + connections * group;
    if let Some(hands) = all.first() {
        for _ in 0..ready.div_ceil(BATCH) {
            hands.insert(BATCH, false).await?;
        }
    }
    let claim = move |hands: Hands, end: Instant| async move {
        let (mut rows, mut groups) = (0, Vec::new());
        loop {
            let claimed = hands.claim(group).await?;
            if claimed.0.is_empty() {
                break;
            }
            rows += claimed.0.len() as u64;
            groups.push(claimed);
            if Instant::now() >= end {
                break;
            }
        }
        Ok((rows, (hands, groups)))
    };
    let (claims, claimed) = together(all, length, claim).await?;
    let finish = |(hands, groups): (Hands, Vec<Claimed>), end: Instant| async move {
        let mut rows = 0;
        for claimed in &groups {
            rows += hands.finish(claimed).await?;
            if Instant::now() >= end {
                break;
            }
        }
        Ok((rows, (hands, groups)))
    };
    let (finishes, _) = together(claimed, length, finish).await?;
    Ok((claims, finishes))
}
