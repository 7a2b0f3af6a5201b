//! Claims that come to the commit that woke them.
//!
//! A group that makes a job claimable for which a claim waits wakes that claim before it commits,
//! and stays open for it: one commit then serves both. Nobody else may come: the group has loaded
//! no other claimable jobs, and only who waited knows that there were none. Who comes too late runs
//! as any other, and after the commit whatever is queued still is told once more.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;

use super::call::Call;
use super::patience::Ticket;
use crate::verbs::Invitation;

/// So long a group stays open for the next claim that it woke: one takes a tenth of that to come,
/// the commit that it is spared about as long.
const AWAITED: Duration = Duration::from_millis(1);

/// The groups that are open.
#[derive(Default)]
pub(super) struct Doors(Mutex<Entrances>);

#[derive(Default)]
struct Entrances {
    /// How many there were.
    count: u64,
    open: Vec<(Invitation, mpsc::UnboundedSender<Ticket>)>,
}

/// One open group. Dropped, it is shut.
pub(super) struct Door<'d> {
    doors: &'d Doors,
    pub(super) invitation: Invitation,
    guests: mpsc::UnboundedReceiver<Ticket>,
}

impl Doors {
    /// Opens a group.
    pub(super) fn open(&self) -> Door<'_> {
        let (sender, guests) = mpsc::unbounded_channel();
        let mut entrances = self.entrances();
        entrances.count += 1;
        let invitation = Invitation(entrances.count);
        entrances.open.push((invitation, sender));
        Door { doors: self, invitation, guests }
    }

    /// Brings a claim to the group that has woken it; says whether that is open still.
    pub(super) fn enter(&self, invitation: Invitation, ticket: &Ticket) -> bool {
        let entrances = self.entrances();
        let entrance = entrances.open.iter().find(|(of, _)| *of == invitation);
        entrance.is_some_and(|(_, guests)| guests.send(ticket.clone()).is_ok())
    }

    fn entrances(&self) -> MutexGuard<'_, Entrances> {
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
        self.doors.entrances().open.retain(|(of, _)| *of != self.invitation);
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        self.shut();
    }
}
