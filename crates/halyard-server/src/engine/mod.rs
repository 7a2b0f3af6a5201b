//! What the server does beside answering: waking who waits, and the loops.
//!
//! | room | what |
//! |---|---|
//! | [`wakeups`] | waiting claims, woken when a job may be there for them |
//! | [`claims`] | a claim with its wait; leases of a client that is gone go back |
//! | [`deliveries`] | … unless its repeat was answered with them |
//! | [`waits`], [`reads`] | waiting reads of one job |
//! | [`ring`] | the last changes, for listeners |
//! | [`workers`] | who is alive |
//! | [`loops`] | the runner of [`stamp`], [`promote`], [`reap`], [`prune`], [`poll`], [`tidy`] … |
//! | [`access`], [`audit`] | … and of these: who may call, and what operators did |
//! | [`refusals`] | what is told of a storage that refuses |
//! | [`chance`] | where randomness comes from |
//!
//! Wake-ups are hints: with all of them lost, [`poll`] finds every job within a second. Nothing
//! here knows HTTP; nothing is kept that a restart must not lose.

pub mod access;
pub mod audit;
pub mod chance;
pub mod claims;
pub mod deliveries;
pub mod loops;
pub mod poll;
pub mod promote;
pub mod prune;
pub mod reads;
pub mod reap;
pub mod refusals;
pub mod ring;
pub mod stamp;
pub mod tidy;
pub mod waits;
pub mod wakeups;
pub mod workers;

use std::sync::Arc;

use halyard_core::retention::Retention;
use halyard_store::postgres::OnClaimableElsewhere;
use halyard_store::{OnChange, OnClaimable, Store};
use tokio::sync::watch;

use crate::access::keyring::Keyring;

/// Who is told of commits. Made before the store, which calls [`Hints::listener`]
/// and [`Hints::waker`].
#[derive(Debug)]
pub struct Hints {
    /// Waiting claims.
    pub claims: Arc<wakeups::Wakeups>,
    /// Waiting reads.
    pub reads: Arc<waits::Waits>,
    /// Listeners.
    pub events: Arc<ring::Ring>,
}

impl Default for Hints {
    fn default() -> Self {
        Self {
            claims: Arc::default(),
            reads: Arc::default(),
            events: Arc::new(ring::Ring::new(rand::random())),
        }
    }
}

impl Hints {
    /// What the store is opened with.
    #[must_use]
    pub fn listener(&self) -> OnChange {
        let (reads, events) = (Arc::clone(&self.reads), Arc::clone(&self.events));
        Arc::new(move |changes| {
            reads.hear(changes);
            events.hear(changes);
        })
    }

    /// What the store is opened with, too.
    #[must_use]
    pub fn waker(&self) -> OnClaimable {
        let claims = Arc::clone(&self.claims);
        Arc::new(move |changes, invitation| claims.hear(changes, invitation))
    }

    /// What a store that other servers share is opened with, too.
    #[must_use]
    pub fn poker(&self) -> OnClaimableElsewhere {
        let claims = Arc::clone(&self.claims);
        Arc::new(move |queues| claims.poke(queues))
    }
}

/// The store and everything around it that is not HTTP.
pub struct Engine {
    /// Where the jobs live.
    pub store: Arc<dyn Store>,
    /// Who waits.
    pub hints: Hints,
    /// Who is alive.
    pub workers: workers::Workers,
    /// Who may call.
    pub keyring: Keyring,
    /// How long ended jobs are kept.
    pub retention: Retention,
    /// Claims whose answers are on their way.
    deliveries: Arc<deliveries::Deliveries>,
    draining: watch::Sender<bool>,
}

impl Engine {
    /// Around a store that was opened with the listener of `hints`.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        hints: Hints,
        keyring: Keyring,
        retention: Retention,
    ) -> Self {
        let (draining, _) = watch::channel(false);
        let workers = workers::Workers::default();
        Self { store, hints, workers, keyring, retention, deliveries: Arc::default(), draining }
    }

    /// From now on nothing new is handed out, and who waits is answered.
    pub fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// Says whether the server is draining.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Waits until the server begins to drain.
    pub async fn draining(&self) {
        // The sender lives in `self`, so the channel is never closed.
        let _ = self.draining.subscribe().wait_for(|draining| *draining).await;
    }
}
