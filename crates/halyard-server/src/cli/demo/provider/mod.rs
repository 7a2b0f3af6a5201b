//! The demo's payment provider: a small HTTP server that speaks enough of Stripe's wire for the
//! official clients to run against it unchanged, once they are pointed at its address.
//!
//! # What it answers
//!
//! | Noun | Endpoints |
//! |---|---|
//! | charge | `POST /v1/charges`, `GET /v1/charges`, `GET /v1/charges/{id}` |
//! | payment intent | `POST` and `GET /v1/payment_intents`, `GET …/{id}`, `POST …/{id}/confirm` |
//! | customer | `POST /v1/customers`, `GET` of one and of the list |
//! | control, not Stripe's | everything under `/test/`: see [`control`] |
//!
//! Bodies are forms, answers are JSON, the key is a bearer token, errors are Stripe's error
//! objects. What a card does depends on its token (`tok_visa`, `pm_card_chargeDeclined`, …: see
//! [`card`]), what a customer meets besides on its [`Behaviour`].
//!
//! # `Idempotency-Key`
//!
//! What an endpoint answered under a key, 402 and 500 included, is replayed for 24 hours with
//! `Idempotent-Replayed: true`. Refusals before the endpoint ran leave the key free: 400, 401, 404,
//! 409 while the first call is under way, 429. A charge and its recorded answer are made under one
//! lock, before the answer is written, in a task that a dropped connection does not cancel.
//! Source: <https://docs.stripe.com/api/idempotent_requests>.
//!
//! # Map
//!
//! A call goes through [`wire`] (HTTP) → [`route`] (which verb) → [`ledger`] (admission, effect,
//! record) → one file per noun: [`charge`], [`intent`], [`customer`]. They read parameters with
//! [`form`] and [`params`], answer with [`answer`], keep objects on a [`shelf`], and [`keys`] holds
//! the rules above. A [`witness`] is told of every answer. [`command`] runs it as a program of its
//! own.
//!
//! To add an endpoint: a variant in [`route`], its parameters and its object in the noun's file,
//! and a line in [`ledger`] if it has an effect.
//!
//! # Deliberately absent
//!
//! Refunds, captures of their own, updates, deletes, events, webhooks, `expand`, raw card numbers,
//! payment methods attached to customers, basic authentication, more than one account, and anything
//! on disk: a provider that stops forgets its charges.

mod answer;
mod behaviour;
mod card;
mod charge;
mod clock;
pub mod command;
mod control;
mod customer;
mod form;
mod id;
mod intent;
mod keys;
mod ledger;
mod params;
mod route;
mod shelf;
mod summary;
#[cfg(test)]
mod tests;
mod wire;
mod witness;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use behaviour::{Behaviour, Behaviours, SECRET_KEY_DEFAULT};
pub use card::Decline;
pub use summary::{ChargeRow, CustomerSummary, Summary};
pub use witness::{Deed, Witness};

use wire::Shop;

/// A running provider. Dropping it stops it without waiting; [`Provider::stop`] waits.
#[derive(Debug)]
pub struct Provider {
    address: SocketAddr,
    shop: Arc<Shop>,
    shutdown: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
}

impl Provider {
    /// Serves on `listener` until stopped. The customers named in `behaviours` exist from the
    /// start, each with a working card as its default source.
    ///
    /// # Errors
    ///
    /// When the listener's own address cannot be read.
    pub fn start(listener: TcpListener, behaviours: Behaviours) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let shop = Arc::new(Shop::new(behaviours));
        let router = control::router().fallback(wire::call).with_state(Arc::clone(&shop));
        let (shutdown, stopped) = oneshot::channel();
        let until_stopped = async move {
            // A dropped sender means the same as a sent message: stop.
            let _ = stopped.await;
        };
        let serving = axum::serve(listener, router).with_graceful_shutdown(until_stopped);
        let server = tokio::spawn(serving.into_future());
        Ok(Self { address, shop, shutdown, server })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was charged and asked so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.shop.ledger().summary()
    }

    /// Every charge so far, declined ones included, oldest first.
    #[must_use]
    pub fn charges(&self) -> Vec<ChargeRow> {
        self.shop.ledger().charge_rows()
    }

    /// Ends every wait that a [`Behaviour`] imposes on a call under way now.
    pub fn release(&self) {
        self.shop.release();
    }

    /// Takes no more calls, ends the waits of those under way, and returns when they are answered.
    ///
    /// # Errors
    ///
    /// When the server task ended with an error or a panic.
    pub async fn stop(self) -> io::Result<()> {
        let _ = self.shutdown.send(());
        self.shop.release_for_good();
        self.server.await.map_err(io::Error::other)?
    }
}
