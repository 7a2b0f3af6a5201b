//! A call on its way to whoever runs it: one whose caller has gone is not run, and what it carries
//! is let go of at once. Otherwise bodies whose clients hung up would wait in the queue, where
//! nobody counts them.

use std::sync::{Arc, Mutex, PoisonError};

/// A call, until it is begun.
pub(crate) struct Ticket<C: ?Sized>(Arc<Mutex<Option<Box<C>>>>);

/// Whoever waits for a call; it goes with them, unless it was begun.
pub(crate) struct Caller<C: ?Sized>(Ticket<C>);

impl<C: ?Sized> Ticket<C> {
    pub(crate) fn of(call: Box<C>) -> Self {
        Self(Arc::new(Mutex::new(Some(call))))
    }

    /// Its caller holds this for as long as it waits.
    pub(crate) fn caller(self) -> Caller<C> {
        Caller(self)
    }

    /// The call, to begin it; `None` when its caller waits no longer.
    pub(crate) fn take(&self) -> Option<Box<C>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

// Derived, it would ask for a call that can be cloned.
impl<C: ?Sized> Clone for Ticket<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C: ?Sized> Drop for Caller<C> {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}
