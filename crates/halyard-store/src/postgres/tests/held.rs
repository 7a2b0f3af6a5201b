//! Jobs that somebody else's transaction holds.

use std::time::Duration;

use halyard_core::admission::NewJob;

use super::Ground;
use crate::Store;
use crate::clock::pause;
use crate::contract::trial::{a_claim, job, seed};
use crate::postgres::{Options, Postgres};
use crate::verbs::{Beat, Claimed};

const LOCK: &str = "BEGIN; SELECT FROM halyard.jobs WHERE state = 2 FOR UPDATE";

async fn with_a_running_job(ground: &Ground) -> (Postgres, Claimed) {
    let store = Postgres::open(Options { connections: 2, ..ground.options.clone() }).await.unwrap();
    store.create(vec![NewJob { queue: "q".into(), ..job(1) }], None).await.unwrap();
    let claimed = store.claim(a_claim(&["q"], seed(1))).await.unwrap().jobs.pop().unwrap();
    (store, claimed)
}

/// A lane that held the row over the outage had it for one commit: its lease is made good too.
#[tokio::test]
async fn a_lease_that_was_held_for_a_moment_begins_anew_after_an_outage() {
    let ground = Ground::bare().await;
    let (store, claimed) = with_a_running_job(&ground).await;
    let expired_at = claimed.view.job.start.unwrap().expires_at;
    ground.run("UPDATE halyard.stamp SET at = at - 20000").await;
    ground.run(LOCK).await;
    let unlock = async {
        pause(Duration::from_millis(40)).await;
        ground.run("COMMIT").await;
    };
    let (created, ()) = tokio::join!(store.create(vec![job(2)], None), unlock);
    created.unwrap();
    let job = store.get(claimed.view.job.id).await.unwrap().unwrap().view.job;
    assert!(job.start.unwrap().expires_at > expired_at);
    ground.drop_schema().await;
}

/// Who was a stranger the last time is not waited for; what has become free is found.
#[tokio::test]
async fn a_stranger_is_known_until_its_job_is_free() {
    let ground = Ground::bare().await;
    let (store, claimed) = with_a_running_job(&ground).await;
    let start = claimed.view.job.start.unwrap();
    let (id, lease_ms) = (claimed.view.job.id, start.expires_at - start.started_at + 1_000);
    let beat = || vec![Beat { id: Some(id), token: Some(start.marks.token) }];
    ground.run(LOCK).await;
    for _ in 0..2 {
        let beats = store.heartbeat(beat(), lease_ms).await.unwrap();
        assert_eq!(beats.leases[0].unwrap().expires_at, start.expires_at, "as it was");
        assert!(store.lanes.shared.strangers.knows(id));
    }
    ground.run("COMMIT").await;
    let beats = store.heartbeat(beat(), lease_ms).await.unwrap();
    assert!(beats.leases[0].unwrap().expires_at > start.expires_at);
    assert!(!store.lanes.shared.strangers.knows(id));
    ground.drop_schema().await;
}
