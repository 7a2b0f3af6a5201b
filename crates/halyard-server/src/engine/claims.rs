//! Claims that wait, and leases whose client is gone.
//!
//! A claim runs in a task of its own: when its caller is dropped (the client hung up) while the
//! store is at work, what was leased is still known and is given back. The same holds until the
//! answer was handed over, see [`Leased::hand_over`]. A repeat of the claim calls that off, see
//! [`deliveries`](super::deliveries).

use std::sync::Arc;
use std::time::Duration;

use halyard_core::id::{JobId, Token};
use halyard_core::outcome::Report;
use halyard_store::verbs::{Claim, Claims, Invitation, Outcome};
use halyard_store::{Answer, Store, StoreError};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::deliveries::Delivery;
use super::wakeups::{Waiter, Wants};
use super::{Engine, chance};

/// What a claim leased. Dropped before it was handed over, it gives everything back at once, unless
/// it is a repeat's: an earlier answer may have brought the same leases to the client.
pub struct Leased {
    store: Arc<dyn Store>,
    runtime: Handle,
    held: Vec<(JobId, Token)>,
    /// Who may give back.
    delivery: Option<Delivery>,
}

impl std::fmt::Debug for Leased {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Leased({} jobs)", self.held.len())
    }
}

impl Leased {
    fn new(store: Arc<dyn Store>, claims: &Claims, delivery: Option<Delivery>) -> Self {
        let held = claims
            .jobs
            .iter()
            .filter_map(|claimed| {
                let job = &claimed.view.job;
                job.start.as_ref().map(|start| (job.id, start.marks.token))
            })
            .collect();
        Self { store, runtime: Handle::current(), held, delivery }
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
            let Some(_turn) = delivery.give_back().await else { return };
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
        let read = Instant::now();
        let (claims, leased) = self.claim_now(&claim, None, read).await?;
        if !claims.jobs.is_empty() || wait.is_zero() || self.is_draining() {
            return Ok((claims, leased));
        }
        // Boxed, since it holds a timer, and most claims of a busy worker do not wait.
        Box::pin(self.claim_later(claim, read, wait)).await
    }

    async fn claim_later(
        &self,
        claim: Claim,
        read: Instant,
        wait: Duration,
    ) -> Answer<(Claims, Leased)> {
        let wants = Wants::new(&claim.queues, claim.tasks.as_deref());
        let mut waiter = self.hints.claims.join(wants, claim.max);
        loop {
            let (claims, leased) = self.claim_now(&claim, waiter.invitation(), read).await?;
            waiter.settle(claims.jobs.iter().map(|claimed| claimed.view.job.id));
            if !claims.jobs.is_empty() {
                return Ok((claims, leased));
            }
            if !self.is_woken(&mut waiter, read + wait).await {
                return Ok((claims, leased));
            }
        }
    }

    /// False when the wait is over.
    async fn is_woken(&self, waiter: &mut Waiter, until: Instant) -> bool {
        tokio::select! {
            biased;
            () = self.draining() => false,
            () = waiter.woken() => {
                waiter.rejoin();
                true
            }
            () = tokio::time::sleep_until(until) => false,
        }
    }

    async fn claim_now(
        &self,
        claim: &Claim,
        invitation: Option<Invitation>,
        read: Instant,
    ) -> Answer<(Claims, Leased)> {
        let store = Arc::clone(&self.store);
        let claim = Claim { seed: chance::seed(), invitation, ..claim.clone() };
        let Some((delivery, turn)) = self.deliveries.begin(claim.mark, claim.repeat, read).await
        else {
            return Ok(self.nothing());
        };
        // A repeat may have gone to another server of a shared store, which answered with these
        // leases: if nobody is there any more, they lapse.
        let is_told_of_repeats = claim.mark.is_none() || !store.is_shared();
        let delivery = delivery.filter(|_| is_told_of_repeats);
        let repeated = claim.mark.filter(|_| claim.repeat);
        let deliveries = Arc::clone(&self.deliveries);
        let task = tokio::spawn(async move {
            let claims = store.claim(claim).await?;
            if let Some(mark) = repeated {
                deliveries.take_over(mark);
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

    fn nothing(&self) -> (Claims, Leased) {
        let claims = Claims { now: self.store.now(), jobs: Vec::new() };
        let leased = Leased::new(Arc::clone(&self.store), &claims, None);
        (claims, leased)
    }
}
