//! The one thread that writes: group commit.
//!
//! What waits is run in one transaction and answered after one commit. A group that fails is
//! rolled back whole, before anybody was answered, and its members are run again one by one: a bad
//! member never fails, or falsely acknowledges, its neighbours.
//!
//! A group that makes jobs claimable wakes waiting claims before its commit, and stays open for
//! them for a moment: one sync of the disk then serves the create and the claim.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread;
use std::time::Duration;

use halyard_core::planted::{Bug, planted};
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use super::statements::Statements;
use super::transaction::Tx;
use super::{OpenError, Options, files, migrations, planted};
use crate::ticket::Ticket;
use crate::{Answer, StoreError};

/// Calls that may wait for the writer; the next one is told that the store is overloaded.
pub const WAITING_CALLS_MAX: usize = 16_384;
/// A group takes no further call once it holds this many jobs, not even a claim that it woke:
/// bounds how long a commit is waited for. A group of 1,000 takes some 10 ms.
const GROUP_WEIGHT_MAX: usize = 2_000;
/// So long a group stays open for the next claim that it woke: one takes a tenth of a millisecond
/// to come, a sync of the disk several of them.
const CLAIM_AWAITED: Duration = Duration::from_micros(250);

/// What a verb gives inside the thread.
pub(super) type Ran<T> = rusqlite::Result<T>;

/// The end of the way into the thread.
type Waiting = Receiver<Ticket<dyn Call>>;

/// A call on its way: run as often as its group must be, answered once.
pub(super) trait Call: Send {
    fn weight(&self) -> usize;
    fn run(&mut self, tx: &mut Tx<'_>) -> Ran<()>;
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Verb<F, T> {
    weight: usize,
    work: F,
    given: Option<T>,
    caller: oneshot::Sender<Answer<T>>,
}

impl<F, T> Call for Verb<F, T>
where
    F: FnMut(&mut Tx<'_>) -> Ran<T> + Send,
    T: Send,
{
    fn weight(&self) -> usize {
        self.weight.max(1)
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> Ran<()> {
        self.given = Some((self.work)(tx)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Self { given, caller, .. } = *self;
        let lost = || Err(StoreError::Unavailable("the call was not run".to_owned()));
        let answer = committed.and_then(|()| given.map_or_else(lost, Ok));
        // A caller that went away is nobody's loss: what it asked for is done.
        drop(caller.send(answer));
    }
}

/// The way into the thread.
pub(super) struct Writer {
    calls: SyncSender<Ticket<dyn Call>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Writer {
    /// Opens the connection, migrates, and starts the thread.
    pub(super) fn start(directory: &Path, options: &Options) -> Result<Self, OpenError> {
        let mut connection = files::open_writer(directory, options)?;
        migrations::migrate(&mut connection)?;
        if planted(Bug::KeyIndexGone) {
            connection.execute_batch(include_str!("planted/key_index_gone.sql"))?;
        }
        let (calls, waiting) = mpsc::sync_channel(WAITING_CALLS_MAX);
        let (ready, opened) = mpsc::channel();
        let options = options.clone();
        let thread = thread::Builder::new()
            .name("halyard-writer".to_owned())
            .spawn(move || serve(&connection, &options, &waiting, &ready))
            .map_err(OpenError::Thread)?;
        // The thread ends without a word only when it panics, which is reported already.
        opened.recv().unwrap_or(Ok(()))?;
        Ok(Self { calls, thread: Some(thread) })
    }

    /// Runs `work` in the next group and answers after its commit, unless its caller has gone
    /// before it is begun. `weight` is about how many rows it writes.
    pub(super) async fn call<F, T>(&self, weight: usize, work: F) -> Answer<T>
    where
        F: FnMut(&mut Tx<'_>) -> Ran<T> + Send + 'static,
        T: Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let ticket: Ticket<dyn Call> =
            Ticket::of(Box::new(Verb { weight, work, given: None, caller }));
        self.calls.try_send(ticket.clone()).map_err(|refused| match refused {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => stopped(),
        })?;
        let _caller = ticket.caller();
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

impl Drop for Writer {
    /// Waits until the thread has closed the database.
    fn drop(&mut self) {
        let (closed, _) = mpsc::sync_channel(1);
        self.calls = closed;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the store is closed".to_owned())
}

fn serve(
    connection: &Connection,
    options: &Options,
    waiting: &Waiting,
    ready: &mpsc::Sender<Result<(), OpenError>>,
) {
    let _alarm = PanicAlarm(options);
    let opened = Statements::prepare(connection).and_then(|sql| Tx::load(connection, sql, options));
    let mut tx = match opened {
        Ok(tx) => tx,
        Err(error) => return drop(ready.send(Err(error.into()))),
    };
    drop(ready.send(Ok(())));
    while let Ok(first) = waiting.recv() {
        let Some(first) = first.take() else { continue };
        let mut weight = first.weight();
        let mut group = vec![first];
        while weight < GROUP_WEIGHT_MAX
            && let Ok(ticket) = waiting.try_recv()
        {
            let Some(call) = ticket.take() else { continue };
            weight += call.weight();
            group.push(call);
        }
        commit(&mut tx, group, Some(waiting), options);
    }
}

/// Runs a group, commits it and answers its members; `waiting` is where claims come from that it
/// wakes.
fn commit(
    tx: &mut Tx<'_>,
    mut group: Vec<Box<dyn Call>>,
    waiting: Option<&Waiting>,
    options: &Options,
) {
    if planted(Bug::AnsweredBeforeCommit) {
        return planted::answer_first(tx, group);
    }
    match run(tx, &mut group, waiting) {
        Ok(()) => {
            tx.publish();
            for call in group {
                call.answer(Ok(()));
            }
        }
        Err(_) if planted(Bug::GroupAcknowledgedWhole) && group.len() > 1 => {
            group.into_iter().for_each(|call| call.answer(Ok(())));
        }
        Err(error)
            if group.len() > 1 && !is_of_the_storage(&error) && !planted(Bug::NeighboursFailed) =>
        {
            for call in group {
                commit(tx, vec![call], None, options);
            }
        }
        Err(error) => {
            if breaks_trust(&error) {
                (options.on_fatal)(&error.to_string());
            }
            tracing::error!(%error, "the storage refused a group of {} calls", group.len());
            for call in group {
                call.answer(Err(StoreError::Unavailable(error.to_string())));
            }
        }
    }
}

fn run(tx: &mut Tx<'_>, group: &mut Vec<Box<dyn Call>>, waiting: Option<&Waiting>) -> Ran<()> {
    let ran = tx.begin().and_then(|()| {
        for call in group.iter_mut() {
            tx.enter()?;
            call.run(tx)?;
        }
        let woken = tx.announce();
        if let Some(waiting) = waiting.filter(|_| woken > 0) {
            run_woken(tx, group, waiting, woken)?;
        }
        if planted(Bug::ToldBeforeCommit) {
            tx.publish();
        }
        let committed = tx.commit();
        if planted(Bug::CommitErrorAnswered) && committed.is_err() {
            tx.roll_back();
            return Ok(());
        }
        committed
    });
    if ran.is_err() {
        tx.roll_back();
    }
    ran
}

/// Runs the claims that the group woke, or what comes instead of them, in the group too.
fn run_woken(
    tx: &mut Tx<'_>,
    group: &mut Vec<Box<dyn Call>>,
    waiting: &Waiting,
    woken: usize,
) -> Ran<()> {
    let mut weight: usize = group.iter().map(|call| call.weight()).sum();
    for _ in 0..woken {
        if weight >= GROUP_WEIGHT_MAX {
            break;
        }
        let Ok(ticket) = waiting.recv_timeout(CLAIM_AWAITED) else { break };
        let Some(mut call) = ticket.take() else { continue };
        weight += call.weight();
        let ran = tx.enter().and_then(|()| call.run(tx));
        group.push(call);
        ran?;
    }
    tx.announce();
    Ok(())
}

/// The storage's own trouble meets every member alike: running them singly would not help.
fn is_of_the_storage(error: &rusqlite::Error) -> bool {
    is_full(error) || breaks_trust(error)
}

/// There was no space, for the data or for the index of the log. Nothing was committed, and what
/// was written before stands as it did: calls are taken again once there is space.
fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE)
}

/// After a failed write or sync nobody knows what the disk holds: the only way on is to start
/// again from it.
fn breaks_trust(error: &rusqlite::Error) -> bool {
    !is_full(error)
        && matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        )
}

/// A broken invariant stops the process: what it would write next cannot be trusted.
struct PanicAlarm<'o>(&'o Options);

impl Drop for PanicAlarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.0.on_fatal)("the writer found a broken invariant");
        }
    }
}
