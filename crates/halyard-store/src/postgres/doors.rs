//! Claims that come to the commit that woke them.
//!
//! A group that makes a job claimable for which a claim waits wakes that claim before it commits,
//! and stays open for it: one commit then serves both. Who comes too late runs as any other, and
//! after the commit whatever is queued still is told once more.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use super::call::Call;
use super::front::Pair;
use super::needs::Ready;
use super::patience::Ticket;

/// So long a group stays open for the next claim that it woke: one takes a tenth of that to come,
/// the commit that it is spared about as long.
const AWAITED: Duration = Duration::from_millis(1);

/// The groups that are open.
#[derive(Default)]
pub(super) struct Doors(Mutex<Vec<Entrance>>);

struct Entrance {
    number: u64,
    pairs: BTreeSet<Pair>,
    guests: mpsc::UnboundedSender<Ticket>,
}

/// One open group. Dropped, it is shut.
pub(super) struct Door<'d> {
    doors: &'d Doors,
    number: u64,
    guests: mpsc::UnboundedReceiver<Ticket>,
}

impl Doors {
    /// Opens a group that holds claimable jobs of these pairs of queue and task.
    pub(super) fn open(&self, pairs: BTreeSet<Pair>) -> Door<'_> {
        let (sender, guests) = mpsc::unbounded_channel();
        let mut open = self.entrances();
        let number = open.last().map_or(0, |last| last.number + 1);
        open.push(Entrance { number, pairs, guests: sender });
        Door { doors: self, number, guests }
    }

    /// Brings a claim to an open group that has what it wants; says whether there was one.
    pub(super) fn enter(&self, wants: &Ready, ticket: &Ticket) -> bool {
        let open = self.entrances();
        let fits = |it: &&Entrance| it.pairs.iter().any(|(queue, task)| wants.takes(queue, task));
        open.iter().find(fits).is_some_and(|it| it.guests.send(ticket.clone()).is_ok())
    }

    fn entrances(&self) -> MutexGuard<'_, Vec<Entrance>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Door<'_> {
    /// Waits for so many claims at most, shuts the door, and gives those that came.
    pub(super) async fn welcome(mut self, count: usize) -> Vec<Box<dyn Call>> {
        let mut came = Vec::new();
        while came.len() < count
            && let Ok(Some(ticket)) = tokio::time::timeout(AWAITED, self.guests.recv()).await
        {
            came.push(ticket);
        }
        self.shut();
        while let Ok(ticket) = self.guests.try_recv() {
            came.push(ticket);
        }
        came.iter().filter_map(Ticket::take).collect()
    }

    /// Nobody is brought here after this.
    fn shut(&self) {
        self.doors.entrances().retain(|it| it.number != self.number);
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        self.shut();
    }
}
