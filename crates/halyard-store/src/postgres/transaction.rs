//! One transaction: what stands around it, load, run, write, commit.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use halyard_core::job::State;
use halyard_core::{TimeMs, limits};

use super::call::{Call, Group};
use super::connect::Time;
use super::difference::Difference;
use super::lanes::{How, Shared};
use super::load;
use super::loaded::{Hands, Loaded};
use super::names::PLAN_ONCE;
use super::needs::Needs;
use super::outcome::{TransactionId, outcome};
use super::rows::Columns;
use super::turns::Turn;
use super::{Ran, Trouble};
use crate::options::tell_of_outage;
use crate::session::{Numbers, Session};
use crate::tally::Tally;
use crate::verbs::Change;

/// Every statement of a transaction finds its rows by an index, whatever the planner believes of
/// tables that it has no statistics of. Where there is no index it believes that the statement is
/// costly, and would compile it first.
///
/// How long it waits is our own choice, whatever an administrator has set for all: a statement
/// waits for locks alone, and a commit that waits for a standby must not be cut short. Who began
/// and does not go on, because its machine stands still, holds its locks for some seconds only.
const BEGIN: &str = "BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; \
                     SET LOCAL enable_mergejoin = off; SET LOCAL jit = off; \
                     SET LOCAL statement_timeout = 0; \
                     SET LOCAL idle_in_transaction_session_timeout = '10s'; \
                     SET LOCAL lock_timeout = ";

/// After so long in a group nobody is invited any more: a lease would have begun before it was
/// given.
const INVITES_MS: TimeMs = 50;

/// Runs calls. On an error nothing was changed, or it says that nobody knows.
pub(super) async fn run(
    shared: &Shared,
    hands: Hands<'_>,
    group: &mut Group,
    how: How,
) -> Ran<(Vec<Change>, Turn)> {
    let mut needs = Needs::default();
    group.calls.iter().for_each(|call| call.need(&mut needs));
    let taken = if needs.tally { std::mem::take(&mut *shared.tally()) } else { Tally::default() };
    needs.free.extend(taken.jobs.keys());
    let ran = run_on(shared, hands, group, how, &needs, &taken).await;
    if matches!(&ran, Err(trouble) if !matches!(trouble, Trouble::OutcomeUnknown)) {
        shared.tally().add(taken);
    }
    ran
}

/// The same on what the calls need, with what a stamp among them has taken to write.
async fn run_on(
    shared: &Shared,
    hands: Hands<'_>,
    group: &mut Group,
    how: How,
    needs: &Needs,
    taken: &Tally,
) -> Ran<(Vec<Change>, Turn)> {
    let Begun { hands, now, stamp } = begin(shared, hands, how, needs.tally).await?;
    let fronts = shared.fronts.as_ref();
    let loaded = load::load(shared, hands, needs, (now, stamp), how.careful).await?;
    let Loaded { mut tables, mut before, look } = loaded;
    let (numbers, since) = numbers(shared, hands, needs.numbers).await?;
    tables.numbers = Numbers::Taken(numbers.clone());
    tables.gathered = taken.clone();
    let extended = tables.extend_leases_over_outage(now);
    let mut session = Session { tables: &mut tables, now, changes: Vec::new() };
    group.calls.iter_mut().for_each(|call| call.run(&mut session));
    if group.guests.is_empty() && how.invites && shared.now() - now < INVITES_MS {
        group.guests = invite(shared, &session).await;
    }
    if !group.guests.is_empty() {
        // As they are now: a queue may have been paused since the group began.
        if session.tables.queues == before.queues {
            before.queues = load::queues(hands).await?;
            session.tables.queues.clone_from(&before.queues);
        }
        group.guests.iter_mut().for_each(|guest| guest.run(&mut session));
    }
    let changes = session.changes;
    let mut turn = None;
    let wrote = write(shared, hands, &Difference::of(&before, &tables), how.slot, &mut turn).await;
    match (&wrote, &mut tables.numbers) {
        (Ok(()), Numbers::Taken(unused)) => shared.numbers().give_back(unused, since),
        (Err(trouble), _) if trouble.may_be_of_numbers() => shared.numbers().clear(),
        (_, Numbers::From(_)) => {}
        (Err(_), Numbers::Taken(_)) => {
            shared.numbers().give_back(&mut numbers.clone(), since);
        }
    }
    wrote?;
    if let Some(look) = look {
        look.commit();
    }
    if let Some(fronts) = fronts {
        let jobs = tables.jobs.values().map(|row| &row.job);
        fronts.are_claimable(jobs.filter(|job| job.state == State::Queued));
    }
    tell_of_outage(now - stamp, extended);
    let mut tally = shared.tally();
    for (id, known) in &before.jobs {
        if !known.is_in(&tables) {
            tally.jobs.remove(id);
        }
    }
    tally.add(tables.gathered);
    drop(tally);
    Ok((changes, turn.unwrap_or_else(|| shared.turns.take())))
}

/// Wakes the claims that wait for what the calls have made claimable, and gives those that came.
/// Who waits has found nothing before: for such a claim no other jobs are loaded, and jobs of which
/// little is loaded are told of after the commit only.
async fn invite(shared: &Shared, session: &Session<'_>) -> Vec<Box<dyn Call>> {
    let is_there = |change: &&Change| {
        let row = session.tables.jobs.get(&change.id);
        row.is_some_and(|row| row.job.state == State::Queued && !row.is_bare)
    };
    let news: Vec<Change> = session.changes.iter().filter(is_there).cloned().collect();
    if news.is_empty() {
        return Vec::new();
    }
    let door = shared.doors.open();
    let woken = (shared.options.on_claimable)(&news, Some(door.invitation));
    door.welcome(woken).await
}

async fn write(
    shared: &Shared,
    hands: Hands<'_>,
    difference: &Difference<'_>,
    slot: i16,
    turn: &mut Option<Turn>,
) -> Ran<()> {
    let writes = !difference.is_empty();
    let mut id = None;
    if writes {
        let (written, rows) = tokio::join!(biased;
            difference.write(hands, slot),
            hands.query(&hands.sql.transaction_id, &[])
        );
        written?;
        id = rows?.first().map(TransactionId::of).transpose()?.flatten();
    }
    *turn = Some(shared.turns.take());
    match (hands.client.commit().await, id) {
        (Ok(()), _) => Ok(()),
        (Err(trouble), _) if !writes => Err(trouble),
        (Err(_), None) => Err(Trouble::OutcomeUnknown),
        (Err(trouble), Some(id)) => {
            // Nobody else waits for the answer.
            *turn = None;
            tracing::warn!(%trouble, "a commit was not simply answered; asking what became of it");
            outcome(shared, &id).await
        }
    }
}

/// What stands around a transaction.
pub(super) struct Around {
    pub(super) now: TimeMs,
    stamp: TimeMs,
    is_durable: bool,
    mark: Option<String>,
}

struct Begun<'c> {
    hands: Hands<'c>,
    now: TimeMs,
    stamp: TimeMs,
}

/// Begins, and reads the time and the stamp. The stamp is locked, before any job, by who may write
/// it.
async fn begin<'c>(shared: &Shared, hands: Hands<'c>, how: How, stamps: bool) -> Ran<Begun<'c>> {
    let names = &hands.client.names;
    names.mark(hands.client, hands.sql, &shared.is_pooled).await?;
    let plan_once = if names.are_there() { PLAN_ONCE } else { "" };
    let begin = format!("{BEGIN}'{}'{plan_once}", how.lock_timeout);
    let (begun, around) =
        tokio::join!(biased; hands.client.batch_execute(&begin), look_at_clock(shared, hands));
    begun?;
    let Around { now, mut stamp, is_durable, mark } = around?;
    let known = names.of_session(hands.client, hands.sql, mark.as_deref(), &shared.is_pooled);
    let hands = hands.with(known.await?);
    if !is_durable {
        hands.client.batch_execute("SET LOCAL synchronous_commit = on").await?;
    }
    if stamps || now - stamp > limits::OUTAGE_MS {
        let rows = hands.query(&hands.sql.stamp_lock, &[]).await?;
        let row = rows.first().ok_or(Trouble::ChangedMeanwhile)?;
        stamp = Columns::from(row, 0).next()?;
    }
    Ok(Begun { hands, now, stamp })
}

/// Reads the clock, the stamp, and whether a commit is durable.
pub(super) async fn look_at_clock(shared: &Shared, hands: Hands<'_>) -> Ran<Around> {
    let rows = hands.query(&hands.sql.clock, &[]).await?;
    let row = rows.first().ok_or(Trouble::ChangedMeanwhile)?;
    let mut next = Columns::from(row, 0);
    let (stamp, at): (TimeMs, TimeMs) = (next.next()?, next.next()?);
    let synchronous: &str = next.next()?;
    let mark = next.next()?;
    let now = match shared.time {
        Time::Given => shared.options.clock.now(),
        Time::Database => {
            shared.ahead_ms.store(at - shared.options.clock.now(), Ordering::Relaxed);
            at
        }
    };
    Ok(Around { now, stamp, is_durable: !matches!(synchronous, "off" | "local"), mark })
}

/// Numbers for new jobs, those that were not used before and then new ones; and since when they
/// are there.
async fn numbers(shared: &Shared, hands: Hands<'_>, count: usize) -> Ran<(VecDeque<i64>, TimeMs)> {
    let (mut taken, since) = shared.numbers().take(count, shared.time_of_numbers());
    let missing = i32::try_from(count - taken.len()).unwrap_or(i32::MAX);
    if missing > 0 {
        for row in &hands.query(&hands.sql.numbers, &[&missing]).await? {
            taken.push_back(Columns::from(row, 0).next()?);
        }
    }
    Ok((taken, since))
}
