//! The night watch: stamp, promote, reap, prune. Each takes a bounded bite.

use halyard_core::chance::Seed;
use halyard_core::job::State;
use halyard_core::key::Removal;
use halyard_core::limits;
use halyard_core::operate;
use halyard_core::retention::Retention;

use super::keys;
use super::rows::{self, Guard};
use super::transaction::Tx;
use super::writer::Ran;

/// Stamps the store and writes what was counted in memory.
pub(super) fn stamp(tx: &mut Tx<'_>) -> Ran<()> {
    tx.write_tally()?;
    tx.set_stamp()
}

/// Makes due jobs claimable.
pub(super) fn promote(tx: &mut Tx<'_>, limit: usize) -> Ran<usize> {
    let seqs = seqs(tx.sql.due.query_map((tx.now, rows::limit(limit)), seq)?)?;
    for seq in &seqs {
        let mut job = tx.job_by_seq(*seq)?;
        let before = Guard::of(&job);
        operate::enqueue(&mut job, tx.now);
        tx.save(&job, before)?;
    }
    Ok(seqs.len())
}

/// Ends lapsed starts.
pub(super) fn reap(tx: &mut Tx<'_>, limit: usize, seed: Seed) -> Ran<usize> {
    let seqs = seqs(tx.sql.lapsed.query_map((tx.now, rows::limit(limit)), seq)?)?;
    for seq in &seqs {
        let mut job = tx.job_by_seq(*seq)?;
        tx.settle(&mut job, seed)?;
    }
    Ok(seqs.len())
}

/// Removes what is kept no longer: jobs by age, jobs by count, tombstones, remembered requests.
pub(super) fn prune(tx: &mut Tx<'_>, limit: usize, retention: &Retention) -> Ran<usize> {
    let mut left = limit;
    for state in State::ENDED {
        let before = retention.ended_before(state, tx.now);
        let ended =
            seqs(tx.sql.ended.query_map((state.number(), before, rows::limit(left)), seq)?)?;
        left -= ended.len();
        remove(tx, &ended)?;
    }
    let surplus = surplus(tx, left, retention)?;
    left -= surplus.len();
    remove(tx, &surplus)?;
    left -= tx.sql.keys_prune.execute((tx.now, rows::limit(left)))?;
    left -= tx.sql.requests_prune.execute((tx.now, rows::limit(left)))?;
    tx.sql.minutes_prune.execute([tx.now - limits::DAY])?;
    if left < limit {
        tx.give_back_pages()?;
    }
    Ok(limit - left)
}

/// Beyond the number that is kept, those that ended first.
fn surplus(tx: &mut Tx<'_>, limit: usize, retention: &Retention) -> Ran<Vec<i64>> {
    let Some(kept) = retention.max_jobs else { return Ok(Vec::new()) };
    let over = tx.counters.ended().saturating_sub(kept);
    let take = usize::try_from(over).unwrap_or(usize::MAX).min(limit);
    if take == 0 {
        return Ok(Vec::new());
    }
    let mut oldest: Vec<(i64, i64)> = Vec::new();
    for state in State::ENDED {
        let ended = |row: &rusqlite::Row<'_>| Ok((row.get(1)?, row.get(0)?));
        for place in tx.sql.ended_first.query_map((state.number(), rows::limit(take)), ended)? {
            oldest.push(place?);
        }
    }
    oldest.sort_unstable();
    Ok(oldest.into_iter().take(take).map(|(_, seq)| seq).collect())
}

fn remove(tx: &mut Tx<'_>, seqs: &[i64]) -> Ran<()> {
    for seq in seqs {
        let job = tx.job_by_seq(*seq)?;
        keys::bury(tx, &job, Some(Removal::Purged))?;
        tx.remove(&job)?;
    }
    Ok(())
}

fn seq(row: &rusqlite::Row<'_>) -> Ran<i64> {
    row.get(0)
}

fn seqs(rows: impl Iterator<Item = Ran<i64>>) -> Ran<Vec<i64>> {
    rows.collect()
}
