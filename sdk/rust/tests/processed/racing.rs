//! A hundred callers at once, and one whose client sends its claim again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use halyard::HandlerError;
use halyard::processed::{AlreadyInProgress, Claim, Claimed, OnUnknown, Store, StoreError};
use serde_json::value::RawValue;

use crate::key;

pub(crate) async fn one_of_a_hundred_works<S: Store>(store: &S) {
    let key = key("race");
    let runs = Arc::new(AtomicU64::new(0));
    let callers = (0..100).map(|_| {
        let (store, key, runs) = (store.clone(), key.clone(), Arc::clone(&runs));
        tokio::spawn(async move {
            let work = || async {
                let run = runs.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                Ok::<_, HandlerError>(run)
            };
            store.once(key).run(work).await
        })
    });
    let callers: Vec<_> = callers.collect();
    for caller in callers {
        match caller.await.expect("no panic") {
            Ok(response) => assert_eq!(response, 0),
            Err(error) => assert!(error.find::<AlreadyInProgress>().is_some(), "{error}"),
        }
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// A store whose client sends each claim again, as if the first answer had been lost.
#[derive(Clone)]
struct Repeating<S>(S);

impl<S: Store> Store for Repeating<S> {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        self.0.claim(claim).await?;
        self.0.claim(claim).await
    }

    async fn complete(
        &self,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        self.0.complete(key, owner, response, expires_in).await
    }

    async fn leave(&self, _: &str, _: &str) -> Result<bool, StoreError> {
        panic!("one round trip is enough")
    }

    async fn remove(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        self.0.remove(key, owner).await
    }
}

pub(crate) async fn a_claim_that_is_repeated_meets_itself<S: Store>(store: &S) {
    let store = Repeating(store.clone());
    // Nothing was begun, so nothing is unknown.
    let once = store.once(key("repeated")).on_unknown(OnUnknown::Fail);
    let response = once.run(|| async { Ok::<_, HandlerError>("done".to_owned()) }).await;
    assert_eq!(response.expect("a response"), "done");
    let held = key("held");
    let work = || async {
        // Another owner's, also in the same process.
        let second = store.once(&held).run(|| async { Ok::<_, HandlerError>(2) }).await;
        let error = second.expect_err("it is in progress");
        assert!(error.find::<AlreadyInProgress>().is_some(), "{error}");
        Ok::<_, HandlerError>(1)
    };
    assert_eq!(store.once(&held).run(work).await.expect("a response"), 1);
}
