//! Claims that wait, and leases whose client is gone.
//!
//! A claim runs in a task of its own: when its caller is dropped (the client hung up) while the
//! store is at work, what was leased is still known and is given back. The same holds until the
//! answer was handed over, see [`Leased::hand_over`].
//!
//! Whose answer was lost may be gone, or may be about to repeat the claim. What a repeat is given
//! must not be taken back behind its back, so a repeat calls off the giving back, see
//! [`Deliveries`].

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halyard_core::id::{JobId, Token};
use halyard_core::job::ClaimMark;
use halyard_core::outcome::Report;
use halyard_store::verbs::{Claim, Claims, Outcome};
use halyard_store::{Answer, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::RwLock;
use tokio::time::Instant;

use super::wakeups::{Waiter, Wake, Wants};
use super::{Engine, chance};

/// Claims whose leases are not with their client yet.
#[derive(Debug, Default)]
pub struct Deliveries {
    /// By mark: of each such claim whether a repeat has answered with its leases meanwhile.
    under_way: Mutex<HashMap<ClaimMark, Vec<Arc<AtomicBool>>>>,
    /// Held together by those who give back, and alone by who repeats: a repeat comes before a
    /// giving back, and calls it off, or after it is committed, and finds nothing to repeat.
    turn: Arc<RwLock<()>>,
}

impl Deliveries {
    fn begin(self: &Arc<Self>, mark: Option<ClaimMark>) -> Delivery {
        let taken_over = Arc::default();
        if let Some(mark) = mark {
            self.lock().entry(mark).or_default().push(Arc::clone(&taken_over));
        }
        Delivery { all: Arc::clone(self), mark, taken_over }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClaimMark, Vec<Arc<AtomicBool>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them.
struct Delivery {
    all: Arc<Deliveries>,
    mark: Option<ClaimMark>,
    taken_over: Arc<AtomicBool>,
}

impl Delivery {
    /// The leases of every other claim of this mark are in this one's answer too.
    fn take_over(&self) {
        let under_way = self.all.lock();
        let same_mark = self.mark.and_then(|mark| under_way.get(&mark));
        for other in same_mark.into_iter().flatten() {
            if !Arc::ptr_eq(other, &self.taken_over) {
                other.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let Some(mark) = self.mark else { return };
        let mut under_way = self.all.lock();
        if let Entry::Occupied(mut same_mark) = under_way.entry(mark) {
            same_mark.get_mut().retain(|other| !Arc::ptr_eq(other, &self.taken_over));
            if same_mark.get().is_empty() {
                same_mark.remove();
            }
        }
    }
}

/// What a claim leased. Dropped before it was handed over, it gives everything back at once.
pub struct Leased {
    store: Arc<dyn Store>,
    runtime: Handle,
    held: Vec<(JobId, Token)>,
    delivery: Option<Delivery>,
}

impl std::fmt::Debug for Leased {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Leased({} jobs)", self.held.len())
    }
}

impl Leased {
    fn new(store: Arc<dyn Store>, claims: &Claims, delivery: Delivery) -> Self {
        let held = claims
            .jobs
            .iter()
            .filter_map(|claimed| {
                let job = &claimed.view.job;
                job.start.as_ref().map(|start| (job.id, start.marks.token))
            })
            .collect();
        Self { store, runtime: Handle::current(), held, delivery: Some(delivery) }
    }

    /// The answer is with the client, as far as can be told.
    pub fn hand_over(mut self) {
        self.held.clear();
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        if self.held.is_empty() {
            return;
        }
        let outcomes: Vec<Outcome> = self
            .held
            .drain(..)
            .map(|(id, token)| Outcome {
                id: Some(id),
                token: Some(token),
                report: Report::Released,
            })
            .collect();
        let store = Arc::clone(&self.store);
        let Some(delivery) = self.delivery.take() else { return };
        self.runtime.spawn(async move {
            let count = outcomes.len();
            let _turn = delivery.all.turn.read().await;
            if delivery.taken_over.load(Ordering::Relaxed) {
                return;
            }
            match store.finish(outcomes, chance::seed()).await {
                Ok(_) => tracing::debug!(count, "gave jobs back: their client had gone"),
                Err(error) => {
                    tracing::warn!(count, %error, "could not give jobs back; their leases lapse");
                }
            }
        });
    }
}

impl Engine {
    /// Claims, and waits up to `wait` for a job to be there. Ends early, with nothing, when the
    /// server begins to drain.
    ///
    /// # Errors
    /// The store's.
    pub async fn claim(&self, claim: Claim, wait: Duration) -> Answer<(Claims, Leased)> {
        let until = Instant::now() + wait;
        let (claims, leased) = self.claim_now(&claim).await?;
        if !claims.jobs.is_empty() || wait.is_zero() || self.is_draining() {
            return Ok((claims, leased));
        }
        // Boxed, since it holds a timer, and most claims of a busy worker do not wait.
        Box::pin(self.claim_later(claim, until)).await
    }

    async fn claim_later(&self, claim: Claim, until: Instant) -> Answer<(Claims, Leased)> {
        let wants = Wants::new(&claim.queues, claim.tasks.as_deref());
        let mut waiter = self.hints.claims.join(wants, claim.max);
        let mut wake = Wake::default();
        loop {
            let (claims, leased) = self.claim_now(&claim).await?;
            waiter.settle(wake, claims.jobs.iter().map(|claimed| claimed.view.job.id));
            if !claims.jobs.is_empty() {
                return Ok((claims, leased));
            }
            wake = match self.next_wake(&mut waiter, until).await {
                Some(wake) => wake,
                None => return Ok((claims, leased)),
            };
        }
    }

    /// `None` when the wait is over.
    async fn next_wake(&self, waiter: &mut Waiter, until: Instant) -> Option<Wake> {
        tokio::select! {
            biased;
            () = self.draining() => None,
            wake = waiter.woken() => {
                waiter.rejoin();
                Some(wake)
            }
            () = tokio::time::sleep_until(until) => None,
        }
    }

    async fn claim_now(&self, claim: &Claim) -> Answer<(Claims, Leased)> {
        let store = Arc::clone(&self.store);
        let claim = Claim { seed: chance::seed(), ..claim.clone() };
        let turn = match claim.repeat {
            true => Some(Arc::clone(&self.deliveries.turn).write_owned().await),
            false => None,
        };
        let delivery = self.deliveries.begin(claim.mark);
        let task = tokio::spawn(async move {
            let claims = store.claim(claim).await?;
            if turn.is_some() {
                delivery.take_over();
            }
            drop(turn);
            let leased = Leased::new(store, &claims, delivery);
            Ok((claims, leased))
        });
        match task.await {
            Ok(answer) => answer,
            Err(error) => Err(StoreError::Unavailable(format!("a claim was cut short: {error}"))),
        }
    }
}
