//! Heartbeat: live leases are renewed, all others are lost.

use halyard_core::lease;
use halyard_core::planted::{Bug, planted};

use super::rows::Guard;
use super::transaction::Tx;
use super::writer::Ran;
use crate::verbs::{Beat, Beats, Renewed};

pub(super) fn heartbeat(tx: &mut Tx<'_>, beats: &[Beat], lease_ms: i64) -> Ran<Beats> {
    let leases = beats.iter().map(|beat| renew(tx, beat, lease_ms)).collect::<Ran<_>>()?;
    Ok(Beats { now: tx.now, leases })
}

fn renew(tx: &mut Tx<'_>, beat: &Beat, lease_ms: i64) -> Ran<Option<Renewed>> {
    let Some(id) = beat.id else { return Ok(None) };
    let Some(mut job) = tx.job_by_id(id)? else { return Ok(None) };
    let before = Guard::of(&job);
    let now = tx.now;
    let live = job.running().is_some_and(|start| {
        Some(start.marks.token) == beat.token
            && (planted(Bug::HeartbeatRevives) || !start.has_lapsed(now))
    });
    let Some(start) = job.start.as_mut().filter(|_| live) else {
        tx.count_rejected(job.id);
        return Ok(None);
    };
    lease::renew(start, lease_ms, now);
    let expires_at = start.expires_at;
    let renewed = Renewed { expires_at, cancel_requested: job.cancel_requested };
    tx.save(&job, before)?;
    Ok(Some(renewed))
}
