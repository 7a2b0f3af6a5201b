//! The order in which commits are told of.
//!
//! Transactions of one server commit side by side, and their answers come in any order. A group
//! takes its turn before it sends its commit. What it changed is locked until then, so whoever
//! changes the same job later takes a later turn: of one job, changes are told in their order.

use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

/// A line of turns.
#[derive(Default)]
pub(super) struct Turns {
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

/// One of them. It is over when it is dropped and those before it are over.
pub(super) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    over: Option<oneshot::Sender<()>>,
}

impl Turns {
    pub(super) fn take(&self) -> Turn {
        let (over, mine) = oneshot::channel();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        Turn { before: last.replace(mine), over: Some(over) }
    }
}

impl Turn {
    /// Waits until all turns before this one are over.
    pub(super) async fn come(&mut self) {
        if let Some(before) = self.before.take() {
            // It ends by being dropped.
            let _ = before.await;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let (Some(before), Some(over)) = (self.before.take(), self.over.take()) {
            tokio::spawn(async move {
                let _ = before.await;
                drop(over);
            });
        }
    }
}
