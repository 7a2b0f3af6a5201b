//! Joins creates that are called at the same time.
//!
//! What is called while a create is under way goes out together when that one returns. Nothing
//! waits on a timer: a lone call goes out at once, and the busier the client, the larger its
//! batches. With 128 callers at once this is what lets one connection carry them all.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halyard_api::jobs::create::CreatedJob;
use tokio::sync::oneshot;

use crate::connection::Connection;
use crate::error::{ConnectionError, Error};

use super::create::{self, Item};

/// How often a create is handed over anew when the runtime that was sending it ends.
const HANDOVERS_MAX: usize = 3;

/// Creates that wait for the one under way.
pub(crate) struct Joiner {
    connection: Arc<Connection>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether a task is sending, which takes what waits next.
    sending: bool,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    item: Item,
    reply: oneshot::Sender<Result<CreatedJob, Error>>,
}

impl Joiner {
    pub(crate) fn new(connection: Arc<Connection>) -> Self {
        Self { connection, state: Mutex::default() }
    }

    /// Creates one job, together with whatever else is being created. It is sent by a task of its
    /// own, so that a caller who stops waiting leaves the others alone.
    pub(crate) async fn create(self: &Arc<Self>, item: Item) -> Result<CreatedJob, Error> {
        for _ in 0..HANDOVERS_MAX {
            let (reply, result) = oneshot::channel();
            self.hand_over(Waiting { item: item.clone(), reply });
            if let Ok(result) = result.await {
                return result;
            }
        }
        Err(ConnectionError::ended("the runtime that sent the create has ended").into())
    }

    fn hand_over(self: &Arc<Self>, waiting: Waiting) {
        let mut state = self.state();
        state.waiting.push_back(waiting);
        if !state.sending {
            state.sending = true;
            drop(state);
            let sender = Sender { joiner: Arc::clone(self), done: false };
            tokio::spawn(sender.run());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends until nothing waits any more. When its runtime ends first, dropping it wakes the callers,
/// who hand over anew.
struct Sender {
    joiner: Arc<Joiner>,
    /// Whether it has ended regularly: what waits by then is its successor's.
    done: bool,
}

impl Sender {
    async fn run(mut self) {
        while let Some(next) = self.next() {
            let (items, replies): (Vec<Item>, Vec<_>) =
                next.into_iter().map(|waiting| (waiting.item, waiting.reply)).unzip();
            let results = create::all(&self.joiner.connection, &items).await;
            for (reply, result) in replies.into_iter().zip(results) {
                // A caller who stopped waiting does not need it.
                let _ = reply.send(result);
            }
        }
    }

    /// The next part of what waits; `None` at the regular end.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut state = self.joiner.state();
        if state.waiting.is_empty() {
            state.sending = false;
            self.done = true;
            return None;
        }
        let sizes = state.waiting.iter().map(|waiting| waiting.item.body.get().len());
        let first = create::parts(sizes).first().map_or(0, |part| part.len());
        Some(state.waiting.drain(..first).collect())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        if !self.done {
            let mut state = self.joiner.state();
            state.sending = false;
            state.waiting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{Joiner, Sender};
    use crate::connection::{Connection, Settings};

    #[test]
    fn a_sender_that_has_ended_leaves_its_successor_alone() {
        let settings = Settings {
            url: "http://127.0.0.1:1".parse().expect("an address"),
            api_key: None,
            timeout: Duration::from_secs(1),
            retry_for: Duration::ZERO,
        };
        let connection = Connection::new(settings).expect("a connection");
        let joiner = Arc::new(Joiner::new(Arc::new(connection)));
        joiner.state().sending = true;
        let mut first = Sender { joiner: Arc::clone(&joiner), done: false };
        assert!(first.next().is_none());
        // Another thread hands over before the first is dropped.
        joiner.state().sending = true;
        drop(first);
        assert!(joiner.state().sending);

        drop(Sender { joiner: Arc::clone(&joiner), done: false });
        assert!(!joiner.state().sending, "one whose runtime ends gives the duty back");
    }
}
