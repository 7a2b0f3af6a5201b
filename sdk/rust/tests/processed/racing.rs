//! A hundred callers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use halyard::HandlerError;
use halyard::processed::{AlreadyInProgress, Store};

use crate::key;

pub(crate) async fn one_of_a_hundred_works<S: Store + Clone>(store: &S) {
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
