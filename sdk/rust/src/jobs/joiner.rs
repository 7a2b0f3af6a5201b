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
            let sender = Sender { joiner: Arc::clone(self) };
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
}

impl Sender {
    async fn run(self) {
        loop {
            let next: Vec<Waiting> = {
                let mut state = self.joiner.state();
                if state.waiting.is_empty() {
                    state.sending = false;
                    return;
                }
                let sizes = state.waiting.iter().map(|waiting| waiting.item.body.get().len());
                let first = create::parts(sizes).first().map_or(0, |part| part.len());
                state.waiting.drain(..first).collect()
            };
            let (items, replies): (Vec<Item>, Vec<_>) =
                next.into_iter().map(|waiting| (waiting.item, waiting.reply)).unzip();
            let results = create::all(&self.joiner.connection, &items).await;
            for (reply, result) in replies.into_iter().zip(results) {
                // A caller who stopped waiting does not need it.
                let _ = reply.send(result);
            }
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let mut state = self.joiner.state();
        // After a regular end nothing waits and nobody sends, or a new sender has begun.
        if std::mem::take(&mut state.sending) {
            state.waiting.clear();
        }
    }
}
