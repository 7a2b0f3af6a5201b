//! A run that is dropped in the middle, as where a worker waits no longer for its handler.

use tokio::runtime::Handle;

use super::Store;

/// Ends a claim whose run is dropped before it has said how it ended.
pub(super) struct Watch<'c, S: Store> {
    store: &'c S,
    key: &'c str,
    owner: &'c str,
    /// Whether the claim was answered, so that the effect may have happened.
    pub(super) begun: bool,
    ended: bool,
}

impl<'c, S: Store> Watch<'c, S> {
    pub(super) fn new(store: &'c S, key: &'c str, owner: &'c str) -> Self {
        Self { store, key, owner, begun: false, ended: false }
    }

    /// The run has said how it ended.
    pub(super) fn end(mut self) {
        self.ended = true;
    }
}

impl<S: Store> Drop for Watch<'_, S> {
    fn drop(&mut self) {
        let Some(runtime) = (!self.ended).then(Handle::try_current).and_then(Result::ok) else {
            return;
        };
        let (store, begun) = (self.store.clone(), self.begun);
        let (key, owner) = (self.key.to_owned(), self.owner.to_owned());
        runtime.spawn(async move {
            let told = if begun {
                store.leave(&key, &owner).await
            } else {
                // The claim may have arrived, and nobody else knows its owner.
                store.remove(&key, &owner).await
            };
            if let Err(error) = told {
                tracing::warn!(key, %error, "cannot end the record of a run that was dropped");
            }
        });
    }
}
