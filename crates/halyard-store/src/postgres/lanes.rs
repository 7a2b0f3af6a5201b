//! Lanes: each takes what waits, runs it in one transaction and answers after its commit.
//!
//! A thousand lone calls so cost a few transactions. A group that fails is rolled back before
//! anybody was answered, and its members are run again one by one: a bad member never fails, or
//! falsely acknowledges, its neighbours. What fails for another transaction's sake (a deadlock, a
//! key that somebody else made meanwhile) is run again as it is.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halyard_core::{TimeMs, limits};
use tokio::sync::{mpsc, oneshot};

use super::call::{Call, Group, Verb};
use super::connect::{Object, OnClaimableElsewhere, Options, Pool, Time};
use super::doors::Doors;
use super::free::Strangers;
use super::front::Fronts;
use super::loaded::Hands;
use super::needs::{Needs, Ready};
use super::notify::Hints;
use super::patience::Ticket;
use super::spare::Spare;
use super::statements::Statements;
use super::transaction;
use super::turns::{Turn, Turns};
use super::{Ran, Trouble};
use crate::session::Session;
use crate::tally::Tally;
use crate::verbs::Change;
use crate::{Answer, StoreError};

/// Calls that may wait; the next one is told that the store is overloaded.
pub(super) const WAITING_CALLS_MAX: usize = 16_384;
/// A group takes no further call once it holds this many jobs.
const GROUP_WEIGHT_MAX: usize = 2_000;
/// How often a group is run that others made fail.
const TRIES_MAX: usize = 16;
/// So long a statement waits for a lock: in a group, whose other calls wait too; of a call that has
/// waited in a group before; of a lone one, which keeps a lane from others. A lane of our own holds
/// a lock for one commit.
const LOCK_AWAITED_TOGETHER: &str = "500ms";
const LOCK_AWAITED_APART: &str = "1s";
const LOCK_AWAITED_ALONE: &str = "2s";
/// After so many calls of a group that waited for a lock in vain the others are not tried: what is
/// locked is not some jobs.
const LOCKED_OUT_MAX: usize = 8;
/// So long the answers of a group wait until what was committed before it is told.
const TURN_AWAITED: Duration = Duration::from_secs(1);
/// Slots of counters: more than lanes of some servers, so that two of them seldom share one.
const SLOTS: u32 = 64;

/// How a group is run.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Where it counts.
    pub(super) slot: i16,
    /// What is only assumed otherwise is looked up.
    pub(super) careful: bool,
    /// How long a statement waits for a lock.
    pub(super) lock_timeout: &'static str,
    /// It stays open for the claims that it wakes.
    pub(super) invites: bool,
}

/// Everything that a store's lanes share.
pub(super) struct Shared {
    pub(super) pool: Pool,
    pub(super) sql: Statements,
    pub(super) options: crate::options::Options,
    pub(super) time: Time,
    /// Numbers that were taken from the sequence and not used.
    pub(super) numbers: Mutex<Spare>,
    /// Jobs that others hold.
    pub(super) strangers: Strangers,
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
            strangers: Strangers::default(),
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
        let invitation = needs.invitation;
        let ticket = Ticket::of(Box::new(Verb::new(weight, needs, (need, work), caller)));
        if invitation.is_some_and(|it| self.shared.doors.enter(it, &ticket)) {
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

    pub(super) fn numbers(&self) -> MutexGuard<'_, Spare> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time by which numbers grow old. Where it is given they do not: the model has no gaps.
    pub(super) fn time_of_numbers(&self) -> TimeMs {
        match self.time {
            Time::Given => 0,
            Time::Database => self.options.clock.now(),
        }
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
        if first.is_alone() {
            return Some(vec![first]);
        }
        let mut weight = first.weight();
        let mut wants = first.wants().cloned();
        let mut group = vec![first];
        while weight < GROUP_WEIGHT_MAX
            && let Ok(ticket) = waiting.calls.try_recv()
        {
            let Some(call) = ticket.take() else { continue };
            let differs = |known: &Ready, other: &Ready| {
                (&known.queues, &known.tasks) != (&other.queues, &other.tasks)
            };
            let both = wants.as_ref().zip(call.wants());
            if call.is_alone() || both.is_some_and(|(known, other)| differs(known, other)) {
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
    async fn commit(&self, calls: Vec<Box<dyn Call>>, how: How) -> bool {
        let mut group = Group::of(calls);
        let ran = self.run(&mut group, how).await;
        let group = group.into_all();
        match ran {
            Ok((changes, mut turn)) => {
                // Changes are hints: nobody waits long for a commit that hangs.
                drop(tokio::time::timeout(TURN_AWAITED, turn.come()).await);
                self.publish(&changes);
                drop(turn);
                group.into_iter().for_each(|call| call.answer(Ok(())));
                false
            }
            Err(trouble) if group.len() > 1 && trouble.is_of_one_call() => {
                self.commit_apart(group, how, trouble).await
            }
            Err(trouble) => {
                let is_locked_out = trouble.is_locked_out();
                refuse(group, trouble);
                is_locked_out
            }
        }
    }

    /// Runs the calls of a group that failed one by one.
    async fn commit_apart(&self, group: Vec<Box<dyn Call>>, how: How, trouble: Trouble) -> bool {
        let how = How { lock_timeout: LOCK_AWAITED_APART, invites: false, ..how };
        let mut locked_out = 0;
        let mut rest = group.into_iter();
        while locked_out < LOCKED_OUT_MAX
            && let Some(call) = rest.next()
        {
            locked_out += usize::from(Box::pin(self.commit(vec![call], how)).await);
        }
        refuse(rest.collect(), trouble);
        locked_out > 0
    }

    async fn run(&self, group: &mut Group, mut how: How) -> Ran<(Vec<Change>, Turn)> {
        let mut tries = 1;
        loop {
            match self.transaction(group, how).await {
                Err(trouble) if trouble.passes() && tries < TRIES_MAX => {
                    tracing::debug!(%trouble, tries, "a group is run again");
                    tries += 1;
                    how.careful = true;
                }
                ran => return ran,
            }
        }
    }

    async fn transaction(&self, group: &mut Group, how: How) -> Ran<(Vec<Change>, Turn)> {
        let connection = self.pool.get().await?;
        let hands = Hands::of(&connection, &self.sql);
        let ran = transaction::run(self, hands, group, how).await;
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
            (self.options.on_claimable)(changes, None);
            (self.options.on_change)(changes);
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
        let is_lone = group.len() == 1;
        let lock_timeout = if is_lone { LOCK_AWAITED_ALONE } else { LOCK_AWAITED_TOGETHER };
        shared.commit(group, How { slot, careful: false, lock_timeout, invites: true }).await;
    }
}
