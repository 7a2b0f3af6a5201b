//! What the machine itself can do, measured in the same run: syncs of the disk, SQLite with the
//! same rows and nothing around it, and HTTP without a store.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use super::loads::Repeat;
use super::requests::{PAYLOAD, QUEUE, TASK};
use super::server::{Scratch, Server};
use super::window::{self, Window, per};

/// What one sync is asked to keep.
const APPEND_BYTES: usize = 4 << 10;

/// Groups that are measured; a test is compared with the smallest that its connections could fill.
const GROUPS: &[usize] = &[1, 64, 128, 1_000];

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Limit {
    /// Appends of 4 KiB, each synced (`fdatasync`).
    Sync,
    /// Rows of new jobs, so many a transaction.
    Insert { group: usize },
    /// The same with a key each.
    InsertKeyed { group: usize },
    /// Jobs claimed and finished: two transactions for so many.
    Update { group: usize },
    /// Calls of `/healthz` over so many connections.
    Http { connections: usize },
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sync => f.write_str("4 KiB appends, each synced"),
            Self::Insert { group } => write!(f, "SQLite inserts by {group}"),
            Self::InsertKeyed { group } => write!(f, "SQLite keyed inserts by {group}"),
            Self::Update { group } => write!(f, "SQLite claims and finishes by {group}"),
            Self::Http { connections } => write!(f, "HTTP over {connections}"),
        }
    }
}

/// The smallest measured group that holds `jobs`.
pub(super) fn group(jobs: usize) -> usize {
    GROUPS.iter().copied().find(|group| jobs <= *group).unwrap_or(1_000)
}

/// Limits, each measured when it is first asked for.
#[derive(Debug)]
pub(super) struct Limits {
    directory: PathBuf,
    length: Duration,
    known: HashMap<Limit, f64>,
}

impl Limits {
    /// On the disk of `directory`, each for `length`.
    pub(super) fn new(directory: &Path, length: Duration) -> Self {
        Self { directory: directory.to_owned(), length, known: HashMap::new() }
    }

    /// How long each takes.
    pub(super) fn length(&self) -> Duration {
        self.length
    }

    /// How many a second.
    pub(super) async fn rate(&mut self, limit: Limit) -> anyhow::Result<f64> {
        if let Some(rate) = self.known.get(&limit) {
            return Ok(*rate);
        }
        let scratch = Scratch::new(&self.directory)?;
        let rate = match limit {
            Limit::Sync => syncs(scratch.path(), self.length)?,
            Limit::Insert { group } => {
                Rows::new(scratch.path())?.inserts(group, false, self.length)?
            }
            Limit::InsertKeyed { group } => {
                Rows::new(scratch.path())?.inserts(group, true, self.length)?
            }
            Limit::Update { group } => Rows::new(scratch.path())?.updates(group, self.length)?,
            Limit::Http { connections } => http(scratch.path(), connections, self.length).await?,
        };
        self.known.insert(limit, rate);
        Ok(rate)
    }
}

fn syncs(directory: &Path, length: Duration) -> anyhow::Result<f64> {
    let mut file = File::create(directory.join("appends"))?;
    let bytes = [0x5A; APPEND_BYTES];
    let begun = Instant::now();
    let mut count = 0;
    while begun.elapsed() < length {
        file.write_all(&bytes)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(per(count, begun.elapsed().as_secs_f64()))
}

async fn http(directory: &Path, connections: usize, length: Duration) -> anyhow::Result<f64> {
    let server = Server::start(directory)?;
    let rounds = Repeat::health(server.address, connections).await?;
    let window = Window { warm_up: length / 4, length };
    let seen = window::watch(rounds, &server, window).await?;
    server.stop()?;
    Ok(seen.rate())
}

/// SQLite with the store's settings and bare tables.
struct Rows {
    connection: Connection,
    last: i64,
}

impl Rows {
    fn new(directory: &Path) -> anyhow::Result<Self> {
        let path = directory.join("rows.sqlite3");
        if path.exists() {
            fs::remove_file(&path)?;
        }
        let connection = Connection::open(path)?;
        for (name, value) in
            [("auto_vacuum", 2), ("cache_size", -(16 << 10)), ("wal_autocheckpoint", 8_192)]
        {
            connection.pragma_update(None, name, value)?;
        }
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch(include_str!("sql/tables.sql"))?;
        Ok(Self { connection, last: 0 })
    }

    /// Jobs a second, so many in each transaction.
    fn inserts(&mut self, group: usize, keyed: bool, length: Duration) -> anyhow::Result<f64> {
        self.insert(group, keyed)?;
        let (begun, before) = (Instant::now(), self.last);
        while begun.elapsed() < length {
            self.insert(group, keyed)?;
        }
        let jobs = (self.last - before).unsigned_abs();
        Ok(per(jobs, begun.elapsed().as_secs_f64()))
    }

    /// Jobs a second that are claimed and finished.
    fn updates(&mut self, group: usize, length: Duration) -> anyhow::Result<f64> {
        // More than can be updated in the time: 200,000 a second.
        let rows = i64::try_from(length.as_millis())? * 200 + i64::try_from(group)?;
        while self.last < rows {
            self.insert(1_000, false)?;
        }
        let (mut next, group) = (1, i64::try_from(group)?);
        let begun = Instant::now();
        while begun.elapsed() < length && next + group <= self.last {
            self.update(include_str!("sql/claim.sql"), next..next + group, true)?;
            self.update(include_str!("sql/finish.sql"), next..next + group, false)?;
            next += group;
        }
        Ok(per((next - 1).unsigned_abs(), begun.elapsed().as_secs_f64()))
    }

    fn insert(&mut self, group: usize, keyed: bool) -> anyhow::Result<()> {
        let tx = self.connection.transaction()?;
        {
            let mut job = tx.prepare_cached(include_str!("sql/insert_job.sql"))?;
            let mut body = tx.prepare_cached(include_str!("sql/insert_body.sql"))?;
            let mut key = tx.prepare_cached(include_str!("sql/insert_key.sql"))?;
            for _ in 0..group {
                self.last += 1;
                let (id, spread) = (id(self.last), spread(self.last));
                let name = keyed.then(|| format!("charge:sub_{spread:016x}"));
                job.execute(params![self.last, id, TASK, QUEUE, keyed])?;
                body.execute(params![self.last, name, PAYLOAD])?;
                if name.is_some() {
                    key.execute(params![TASK, name, id, [0x5A_u8; 32], self.last])?;
                }
            }
        }
        tx.commit()?;
        Ok(())
    }

    fn update(
        &mut self,
        sql: &str,
        rows: std::ops::Range<i64>,
        with_id: bool,
    ) -> anyhow::Result<()> {
        let tx = self.connection.transaction()?;
        {
            let mut statement = tx.prepare_cached(sql)?;
            for row in rows {
                let token =
                    (u128::from(spread(row)) << 64 | u128::from(spread(!row))).to_be_bytes();
                if with_id {
                    statement.execute(params![row, id(row), token])?;
                } else {
                    statement.execute(params![row, token])?;
                }
            }
        }
        tx.commit()?;
        Ok(())
    }
}

/// An id that rises with time and is random behind that, as a UUIDv7.
pub(super) fn id(number: i64) -> [u8; 16] {
    let time = 1_764_000_000_000 + u128::from((number / 100).unsigned_abs());
    (time << 80 | u128::from(spread(number))).to_be_bytes()
}

/// A number's image among all 64-bit numbers, another for each.
pub(super) fn spread(number: i64) -> u64 {
    number.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn groups() {
        assert_eq!([1, 2, 64, 65, 320, 4_000].map(group), [1, 64, 64, 128, 1_000, 1_000]);
    }

    #[test]
    fn rates_count_rows() {
        let directory = tempfile::tempdir().unwrap();
        assert!(syncs(directory.path(), SHORT).unwrap() > 0.0);
        let mut rows = Rows::new(directory.path()).unwrap();
        assert!(rows.inserts(3, true, SHORT).unwrap() > 0.0);
        assert!(rows.updates(3, SHORT).unwrap() > 0.0);
        let count =
            |sql: &str| -> i64 { rows.connection.query_row(sql, [], |r| r.get(0)).unwrap() };
        assert_eq!(count("SELECT count(*) FROM jobs"), rows.last);
        assert_eq!(count("SELECT count(*) FROM bodies"), rows.last);
        let finished = count("SELECT count(*) FROM jobs WHERE state = 4 AND token IS NOT NULL");
        assert!(finished > 0 && finished % 3 == 0);
        assert!(count("SELECT count(*) FROM keys") > 0);
    }
}
