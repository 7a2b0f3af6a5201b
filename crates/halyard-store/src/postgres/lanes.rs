//! Lanes: each takes what waits, runs it in one transaction and answers after its commit.
//!
//! A thousand lone calls so cost a few transactions. A group that fails is rolled back before
//! anybody was answered, and its members are run again one by one: a bad member never fails, or
//! falsely acknowledges, its neighbours. What fails for another transaction's sake (a deadlock, a
//! key that somebody else made meanwhile) is run again as it is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_core::{TimeMs, limits};
use tokio::sync::{mpsc, oneshot};

use super::connect::{Object, OnClaimableElsewhere, Options, Pool, Time};
use super::doors::Doors;
use super::front::Fronts;
use super::loaded::Hands;
use super::needs::{Needs, Ready};
use super::notify::Hints;
use super::patience::Ticket;
use super::statements::Statements;
use super::transaction;
use super::turns::{Turn, Turns};
use super::{Ran, Trouble};
use crate::session::{Session, Tables};
use crate::tally::Tally;
use crate::verbs::Change;
use crate::{Answer, StoreError};

/// Calls that may wait; the next one is told that the store is overloaded.
pub(super) const WAITING_CALLS_MAX: usize = 16_384;
/// A group takes no further call once it holds this many jobs.
const GROUP_WEIGHT_MAX: usize = 2_000;
/// How often a group is run that others made fail.
const TRIES_MAX: usize = 16;
/// After so many calls of a group that waited for a lock in vain the others are not tried: what is
/// locked is not one job.
const LOCKED_OUT_MAX: usize = 2;
/// Slots of counters: more than lanes of some servers, so that two of them seldom share one.
const SLOTS: u32 = 64;

/// A call on its way: run as often as its group must be, answered once.
pub(super) trait Call: Send {
    fn weight(&self) -> usize;
    fn need(&self, needs: &mut Needs);
    /// What it wants of the claimable jobs. Calls of one group want the same.
    fn wants(&self) -> Option<&Ready>;
    fn run(&mut self, session: &mut Session<'_>);
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Verb<N, F, T> {
    weight: usize,
    wants: Option<Ready>,
    need: N,
    work: F,
    given: Option<T>,
    caller: oneshot::Sender<Answer<T>>,
}

impl<N, F, T> Call for Verb<N, F, T>
where
    N: Fn(&mut Needs) + Send,
    F: FnMut(&mut Session<'_>) -> T + Send,
    T: Send,
{
    fn weight(&self) -> usize {
        self.weight.max(1)
    }

    fn need(&self, needs: &mut Needs) {
        (self.need)(needs);
    }

    fn wants(&self) -> Option<&Ready> {
        self.wants.as_ref()
    }

    fn run(&mut self, session: &mut Session<'_>) {
        self.given = Some((self.work)(session));
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { given, caller, .. } = *self;
        let lost = || Err(StoreError::Unavailable("the call was not run".to_owned()));
        let answer = committed.and_then(|()| given.map_or_else(lost, Ok));
        // A caller that went away is nobody's loss: what it asked for is done.
        drop(caller.send(answer));
    }
}

/// Calls that share a transaction.
pub(super) struct Group {
    pub(super) calls: Vec<Box<dyn Call>>,
    /// Claims that the calls woke, and that came in time.
    pub(super) guests: Vec<Box<dyn Call>>,
}

impl Group {
    fn of(calls: Vec<Box<dyn Call>>) -> Self {
        Self { calls, guests: Vec::new() }
    }

    fn into_all(mut self) -> Vec<Box<dyn Call>> {
        self.calls.append(&mut self.guests);
        self.calls
    }
}

/// Everything that a store's lanes share.
pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) sql: Statements,
    pub(super) options: crate::options::Options,
    pub(super) time: Time,
    /// Numbers that were taken from the sequence and not used.
    pub(super) numbers: Mutex<VecDeque<i64>>,
    /// Answers that wrote nothing.
    pub(super) tally: Mutex<Tally>,
    /// How far the database's clock is ahead of ours.
    pub(super) ahead_ms: AtomicI64,
    /// What other servers are to hear.
    pub(super) hints: Hints,
    /// Hears of queues in which another server made jobs claimable.
    pub(super) on_claimable_elsewhere: OnClaimableElsewhere,
    on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// This server among those on the database.
    pub(super) node: String,
    /// Where the servers of one schema talk.
    pub(super) channel: String,
    /// Where claims begin; `None`: always at the start.
    pub(super) fronts: Option<Fronts>,
    /// In which order commits are told of.
    pub(super) turns: Turns,
    /// Where claims come in that a group has woken.
    pub(super) doors: Doors,
    /// A pooler stands between, or something like it: no statement has a name.
    pub(super) is_pooled: AtomicBool,
    waiting: tokio::sync::Mutex<Waiting>,
}

struct Waiting {
    calls: mpsc::Receiver<Ticket>,
    /// It wants other jobs than the group before it.
    held_back: Option<Box<dyn Call>>,
}

/// The way to the lanes.
pub(super) struct Lanes {
    calls: mpsc::Sender<Ticket>,
    pub(super) shared: Arc<Shared>,
}

impl Lanes {
    pub(super) fn open(pool: Pool, sql: Statements, options: Options, lanes: usize) -> Self {
        let (calls, waiting) = mpsc::channel(WAITING_CALLS_MAX);
        let opened_at = options.store.clock.now();
        let shared = Arc::new(Shared {
            pool,
            sql,
            node: format!("{}-{opened_at}", std::process::id()),
            channel: options.schema,
            hints: Hints::default(),
            fronts: (options.time == Time::Database)
                .then(|| Fronts::of(Arc::clone(&options.store.clock))),
            turns: Turns::default(),
            doors: Doors::default(),
            is_pooled: AtomicBool::new(false),
            on_claimable_elsewhere: options.on_claimable_elsewhere,
            on_fatal: options.on_fatal,
            options: options.store,
            time: options.time,
            numbers: Mutex::default(),
            tally: Mutex::default(),
            ahead_ms: AtomicI64::new(0),
            waiting: tokio::sync::Mutex::new(Waiting { calls: waiting, held_back: None }),
        });
        let first = std::process::id() % SLOTS;
        for lane in (first..).take(lanes) {
            let slot = i16::try_from(lane % SLOTS).unwrap_or_default();
            tokio::spawn(serve(Arc::clone(&shared), slot));
        }
        Self { calls, shared }
    }

    /// Runs `work` in a group that has loaded what `need` names, and answers after its commit.
    /// `weight` is about how many rows it writes.
    pub(super) async fn call<N, F, T>(&self, weight: usize, need: N, work: F) -> Answer<T>
    where
        N: Fn(&mut Needs) + Send + 'static,
        F: FnMut(&mut Session<'_>) -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut needs = Needs::default();
        need(&mut needs);
        let (caller, answer) = oneshot::channel();
        // Who repeats a claim asks for what it was given, which no open group has loaded.
        let may_join = needs.ready.clone().filter(|_| needs.marks.is_empty());
        let call = Verb { weight, wants: needs.ready, need, work, given: None, caller };
        let ticket = Ticket::of(Box::new(call));
        if may_join.is_some_and(|wants| self.shared.doors.enter(&wants, &ticket)) {
            return ticket.answered(answer).await;
        }
        self.calls.try_send(ticket.clone()).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => stopped(),
        })?;
        ticket.answered(answer).await
    }
}

pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

impl Shared {
    /// Learns the database's time, stamps a store that was never served, and ends what no server
    /// could have given.
    pub(super) async fn begin_to_serve(&self) -> Ran<()> {
        let connection = self.pool.get().await?;
        let hands = Hands::of(&connection, &self.sql);
        let now = transaction::look_at_clock(self, hands).await?.now;
        hands.execute(&self.sql.stamp_begin, &[&now]).await?;
        let (longest, outage) = (limits::LEASE_MS_MAX, limits::OUTAGE_MS);
        let cut = hands.execute(&self.sql.leases_cut, &[&now, &longest, &outage]).await?;
        if cut > 0 {
            tracing::warn!(jobs = cut, "leases without a usable end were given one");
        }
        Ok(())
    }

    /// The time, as the database tells it, without asking it.
    pub(super) fn now(&self) -> TimeMs {
        self.options.clock.now() + self.ahead_ms.load(Ordering::Relaxed)
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn numbers(&self) -> MutexGuard<'_, VecDeque<i64>> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next_group(&self) -> Option<Vec<Box<dyn Call>>> {
        let mut waiting = self.waiting.lock().await;
        let first = match waiting.held_back.take() {
            Some(call) => call,
            None => loop {
                if let Some(call) = waiting.calls.recv().await?.take() {
                    break call;
                }
            },
        };
        let mut weight = first.weight();
        let mut wants = first.wants().cloned();
        let mut group = vec![first];
        while weight < GROUP_WEIGHT_MAX
            && let Ok(ticket) = waiting.calls.try_recv()
        {
            let Some(call) = ticket.take() else { continue };
            if let (Some(known), Some(other)) = (&wants, call.wants())
                && (&known.queues, &known.tasks) != (&other.queues, &other.tasks)
            {
                waiting.held_back = Some(call);
                break;
            }
            weight += call.weight();
            wants = wants.or_else(|| call.wants().cloned());
            group.push(call);
        }
        Some(group)
    }

    /// Runs a group and answers it; says whether a lock was waited for in vain.
    async fn commit(&self, calls: Vec<Box<dyn Call>>, slot: i16) -> bool {
        let mut group = Group::of(calls);
        let ran = self.run(&mut group, slot).await;
        let group = group.into_all();
        match ran {
            Ok((changes, mut turn)) => {
                turn.come().await;
                self.publish(&changes);
                drop(turn);
                group.into_iter().for_each(|call| call.answer(Ok(())));
                false
            }
            Err(trouble) if group.len() > 1 && trouble.is_of_one_call() => {
                self.commit_apart(group, slot, trouble).await
            }
            Err(trouble) => {
                let is_locked_out = trouble.is_locked_out();
                refuse(group, trouble);
                is_locked_out
            }
        }
    }

    /// Runs the calls of a group that failed one by one.
    async fn commit_apart(&self, group: Vec<Box<dyn Call>>, slot: i16, trouble: Trouble) -> bool {
        let mut locked_out = 0;
        let mut rest = group.into_iter();
        while locked_out < LOCKED_OUT_MAX
            && let Some(call) = rest.next()
        {
            locked_out += usize::from(Box::pin(self.commit(vec![call], slot)).await);
        }
        refuse(rest.collect(), trouble);
        locked_out > 0
    }

    async fn run(&self, group: &mut Group, slot: i16) -> Ran<(Vec<Change>, Turn)> {
        let mut tries = 1;
        loop {
            match self.transaction(group, slot, tries > 1).await {
                Err(trouble) if trouble.passes() && tries < TRIES_MAX => {
                    tracing::debug!(%trouble, tries, "a group is run again");
                    tries += 1;
                }
                ran => return ran,
            }
        }
    }

    async fn transaction(
        &self,
        group: &mut Group,
        slot: i16,
        careful: bool,
    ) -> Ran<(Vec<Change>, Turn)> {
        let connection = self.pool.get().await?;
        let hands = Hands::of(&connection, &self.sql);
        let ran = transaction::run(self, hands, group, slot, careful).await;
        let Err(trouble) = &ran else { return ran };
        if trouble.is_of_names() {
            self.is_pooled.store(true, Ordering::Relaxed);
        }
        if connection.batch_execute("ROLLBACK").await.is_err() || trouble.is_read_only() {
            // Whatever it is in the middle of, nobody gets it after this.
            drop(Object::take(connection));
            self.pool.distrust();
        } else if trouble.is_of_old_plan() {
            drop(Object::take(connection));
        }
        ran
    }

    fn publish(&self, changes: &[Change]) {
        if !changes.is_empty() {
            self.hints.hear(changes);
            (self.options.on_claimable)(changes);
            (self.options.on_change)(changes);
        }
    }
}

impl Tally {
    /// What a committed group counted beside its rows.
    pub(super) fn gather(&mut self, tables: &Tables) {
        self.totals.add_gathered(&tables.gathered);
        for row in tables.jobs.values() {
            if row.gathered_replays + row.gathered_rejected > 0 {
                self.add_of_job(row.job.id, (row.gathered_replays, row.gathered_rejected));
            }
        }
    }
}

/// A broken invariant stops the process: what it would write next cannot be trusted.
struct PanicAlarm<'s>(&'s Shared);

impl Drop for PanicAlarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0.on_fatal)("a lane found a broken invariant");
        }
    }
}

fn refuse(group: Vec<Box<dyn Call>>, trouble: Trouble) {
    if !group.is_empty() {
        let error = StoreError::from(trouble);
        // Who hears of it tells it: a call, or a loop.
        tracing::debug!(%error, "the database refused a group of {} calls", group.len());
        group.into_iter().for_each(|call| call.answer(Err(error.clone())));
    }
}

async fn serve(shared: Arc<Shared>, slot: i16) {
    let _alarm = PanicAlarm(&shared);
    while let Some(group) = shared.next_group().await {
        shared.commit(group, slot).await;
    }
}
