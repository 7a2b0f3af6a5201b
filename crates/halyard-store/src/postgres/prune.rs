//! Retention: jobs by age and by count, tombstones, remembered requests.

use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_core::retention::Retention;
use halyard_core::{TimeMs, limits};

use super::Ran;
use super::lanes::{Lanes, Shared};
use super::loaded::Hands;
use super::rows::{Columns, limit};
use crate::{Answer, StoreError};

/// Queues, tasks and states whose counters are taken away at a time.
const COUNTERS_MAX: i64 = 1_000;

/// Removes up to `max` of what is kept no longer; says how much it found.
pub(super) async fn prune(lanes: &Lanes, max: usize, retention: Retention) -> Answer<usize> {
    let shared = &lanes.shared;
    let now = shared.now();
    let ended = found(shared, max, &retention, now).await.map_err(StoreError::from)?;
    let count = ended.len();
    let ids: Vec<JobId> = ended.iter().map(|(id, _)| *id).collect();
    lanes
        .call(
            count,
            move |needs| needs.whole.extend(&ids),
            move |session| {
                for (id, finished_at) in &ended {
                    // Another server may have been here, or an operator opened a new life.
                    let stands = |at: &Option<TimeMs>| *at == Some(*finished_at);
                    let job = session.load(*id).map(|row| row.job);
                    if job.is_some_and(|job| stands(&job.finished_at)) {
                        session.purge(&[*id]);
                    }
                }
            },
        )
        .await?;
    Ok(count + forget(shared, max - count, now).await.map_err(StoreError::from)?)
}

/// Which jobs go, with when they ended.
async fn found(
    shared: &Shared,
    max: usize,
    retention: &Retention,
    now: TimeMs,
) -> Ran<Vec<(JobId, TimeMs)>> {
    let connection = shared.pool.get().await?;
    let hands = Hands::of(&connection, &shared.sql);
    let mut found = Vec::new();
    for state in State::ENDED {
        let before = retention.ended_before(state, now);
        let left = limit(max - found.len());
        let number = i16::from(state.number());
        for row in hands.query(&shared.sql.ended, &[&number, &before, &left]).await? {
            let mut next = Columns::from(&row, 0);
            found.push((next.id()?, next.next()?));
        }
    }
    if let Some(kept) = retention.max_jobs {
        let rows = hands.query(&shared.sql.ended_count, &[]).await?;
        let ended: i64 = rows.first().map_or(Ok(0), |row| Columns::from(row, 0).next())?;
        let left = ended.unsigned_abs().saturating_sub(found.len() as u64).saturating_sub(kept);
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(max - found.len());
        found.extend(surplus(hands, take, &found).await?);
    }
    Ok(found)
}

/// Beyond the number that is kept, those that ended first.
async fn surplus(
    hands: Hands<'_>,
    take: usize,
    known: &[(JobId, TimeMs)],
) -> Ran<Vec<(JobId, TimeMs)>> {
    if take == 0 {
        return Ok(Vec::new());
    }
    let mut oldest: Vec<(TimeMs, i64, JobId)> = Vec::new();
    for state in State::ENDED {
        let number = i16::from(state.number());
        let wanted = limit(take + known.len());
        for row in hands.query(&hands.sql.ended_first, &[&number, &wanted]).await? {
            let mut next = Columns::from(&row, 0);
            let place = (next.next()?, next.next()?, next.id()?);
            if !known.iter().any(|(id, _)| *id == place.2) {
                oldest.push(place);
            }
        }
    }
    oldest.sort_unstable();
    Ok(oldest.into_iter().take(take).map(|(at, _, id)| (id, at)).collect())
}

/// Expired tombstones, requests and minutes, and counters that count nothing.
async fn forget(shared: &Shared, max: usize, now: TimeMs) -> Ran<usize> {
    let connection = shared.pool.get().await?;
    let hands = Hands::of(&connection, &shared.sql);
    let keys = hands.execute(&shared.sql.keys_prune, &[&now, &limit(max)]).await?;
    let keys = usize::try_from(keys).unwrap_or(max);
    let left = limit(max - keys);
    let requests = hands.execute(&shared.sql.requests_prune, &[&now, &left]).await?;
    hands.execute(&shared.sql.minutes_prune, &[&(now - limits::DAY)]).await?;
    hands.execute(&shared.sql.counters_clean, &[&COUNTERS_MAX]).await?;
    Ok(keys + usize::try_from(requests).unwrap_or(0))
}
