//! Calls of one group, which run on what all of them have loaded.

use std::sync::Arc;

use futures_util::future::join_all;
use halyard_core::admission::NewJob;
use halyard_core::outcome::Report;

use super::Ground;
use crate::Store;
use crate::contract::trial::{a_claim, job, seed, with_payload};
use crate::postgres::{Options, Postgres};
use crate::verbs::Outcome;

const JOBS: u64 = 20;
const ROUNDS: u64 = 30;

/// A report needs little of its job. A claim beside it that is given the job needs all.
#[tokio::test]
async fn a_job_that_comes_back_beside_a_claim_is_whole() {
    let ground = Ground::bare().await;
    let store = Postgres::open(Options { connections: 2, ..ground.options.clone() }).await.unwrap();
    let store = Arc::new(store);
    let new = |number| with_payload(NewJob { queue: "q".into(), ..job(number) }, "\"whole\"");
    store.create((0..JOBS).map(new).collect(), None).await.unwrap();
    for round in 0..ROUNDS {
        let claims = store.claim(a_claim(&["q"], seed(round))).await.unwrap();
        let reports = claims.jobs.iter().map(|claimed| {
            assert_eq!(claimed.view.payload.as_str(), "\"whole\"", "{round}");
            let start = claimed.view.job.start.as_ref().unwrap();
            let outcome = Outcome {
                id: Some(claimed.view.job.id),
                token: Some(start.marks.token),
                report: Report::Released,
            };
            store.finish(vec![outcome], seed(1_000 + round))
        });
        let (_, beside) =
            tokio::join!(join_all(reports), store.claim(a_claim(&["q"], seed(2_000 + round))));
        for claimed in beside.unwrap().jobs {
            assert_eq!(claimed.view.payload.as_str(), "\"whole\"", "{round}, beside reports");
        }
    }
    ground.drop_schema().await;
}
