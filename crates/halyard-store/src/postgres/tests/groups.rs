//! Calls of one group, which run on what all of them have loaded.

use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use halyard_core::admission::NewJob;
use halyard_core::job::State;
use halyard_core::limits;
use halyard_core::outcome::Report;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Ground;
use crate::Store;
use crate::contract::trial::{a_claim, job, seed, with_payload};
use crate::postgres::{Options, Postgres};
use crate::verbs::{Change, Claim, Claimed, Outcome};

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

/// One transaction makes the job and gives it out.
#[tokio::test]
async fn a_job_is_made_and_claimed_in_one_group() {
    let ground = Ground::bare().await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut options = Options { connections: 2, ..ground.options.clone() };
    let listener = Arc::clone(&heard);
    options.store.on_change = Arc::new(move |changes: &[Change]| {
        let states: Vec<_> = changes.iter().map(|change| change.state).collect();
        listener.lock().unwrap().push(states);
    });
    let store = Postgres::open(options).await.unwrap();
    let new = NewJob { queue: "q".into(), ..job(1) };
    let (created, claimed) =
        tokio::join!(store.create(vec![new], None), store.claim(a_claim(&["q"], seed(1))));
    created.unwrap();
    let claimed = claimed.unwrap().jobs.pop().unwrap().view.job;
    assert_eq!(*heard.lock().unwrap(), [[Some(State::Queued), Some(State::Running)]]);
    assert_eq!(store.get(claimed.id).await.unwrap().unwrap().view.job, claimed);
    ground.drop_schema().await;
}

/// Each of two claims of one group gets what it would get alone.
#[tokio::test]
async fn claims_of_large_jobs_in_one_group_have_a_full_answer_each() {
    let ground = Ground::bare().await;
    let store = Postgres::open(Options { connections: 2, ..ground.options.clone() }).await.unwrap();
    let payload = format!("\"{}\"", "x".repeat(limits::PAYLOAD_BYTES_MAX - 2));
    let full = limits::CLAIM_ANSWER_BYTES_MAX / limits::PAYLOAD_BYTES_MAX;
    let numbers = (0_u64..).take(2 * full);
    let new = |number| with_payload(NewJob { queue: "q".into(), ..job(number) }, &payload);
    store.create(numbers.map(new).collect(), None).await.unwrap();
    let (one, other) =
        tokio::join!(store.claim(a_claim(&["q"], seed(1))), store.claim(a_claim(&["q"], seed(2))));
    assert_eq!([one, other].map(|claims| claims.unwrap().jobs.len()), [full, full]);
    ground.drop_schema().await;
}

/// A store with one claim that waits, until the store says that there may be a job for it.
struct Waited {
    store: Arc<Postgres>,
    claim: JoinHandle<Vec<Claimed>>,
    /// Changes as they were told, commit by commit.
    heard: Arc<Mutex<Vec<Vec<Option<State>>>>>,
}

impl Waited {
    async fn of(ground: &Ground) -> Self {
        let mut options = Options { connections: 2, ..ground.options.clone() };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        options.store.on_change = Arc::new(move |changes: &[Change]| {
            listener.lock().unwrap().push(changes.iter().map(|change| change.state).collect());
        });
        let (wake, woken) = oneshot::channel();
        let wake = Mutex::new(Some(wake));
        options.store.on_claimable = Arc::new(move |_, invitation| {
            let wake = wake.lock().unwrap().take();
            wake.map_or(0, |wake| usize::from(wake.send(invitation).is_ok()))
        });
        let store = Arc::new(Postgres::open(options).await.unwrap());
        let asked = Arc::clone(&store);
        let claim = tokio::spawn(async move {
            let invitation = woken.await.unwrap();
            asked.claim(Claim { invitation, ..a_claim(&["q"], seed(1)) }).await.unwrap().jobs
        });
        Self { store, claim, heard }
    }
}

#[tokio::test]
async fn a_claim_comes_to_the_commit_that_woke_it() {
    let ground = Ground::bare().await;
    let Waited { store, claim, heard } = Waited::of(&ground).await;
    store.create(vec![NewJob { queue: "q".into(), ..job(1) }], None).await.unwrap();
    let claimed = claim.await.unwrap().pop().unwrap().view.job;
    assert_eq!(*heard.lock().unwrap(), [[Some(State::Queued), Some(State::Running)]]);
    assert_eq!(store.get(claimed.id).await.unwrap().unwrap().view.job, claimed);
    ground.drop_schema().await;
}

#[tokio::test]
async fn a_claim_that_comes_to_a_commit_takes_nothing_from_a_paused_queue() {
    let ground = Ground::bare().await;
    let Waited { store, claim, .. } = Waited::of(&ground).await;
    store.set_paused("q", true, None).await.unwrap();
    let new = NewJob { queue: "q".into(), ..job(1) };
    let id = new.id;
    store.create(vec![new], None).await.unwrap();
    assert!(claim.await.unwrap().is_empty());
    assert_eq!(store.get(id).await.unwrap().unwrap().view.job.state, State::Queued);
    ground.drop_schema().await;
}

/// A claim that was not woken knows nothing of what else there is: it does not come to a commit
/// that is open for another, but takes its turn.
#[tokio::test]
async fn a_claim_that_nobody_invited_takes_the_next_job() {
    let ground = Ground::bare().await;
    let (begun, begins) = oneshot::channel();
    let begun = Mutex::new(Some(begun));
    let mut options = Options { connections: 3, ..ground.options.clone() };
    options.store.on_claimable = Arc::new(move |changes: &[Change], _| {
        let is_second = changes.iter().any(|change| change.id == job(2).id);
        let begun = begun.lock().unwrap().take_if(|_| is_second);
        begun.map_or(0, |begun| usize::from(begun.send(()).is_ok()))
    });
    let store = Arc::new(Postgres::open(options).await.unwrap());
    let new = |number| vec![NewJob { queue: "q".into(), ..job(number) }];
    store.create(new(1), None).await.unwrap();
    let asked = Arc::clone(&store);
    let claim = tokio::spawn(async move {
        begins.await.unwrap();
        asked.claim(Claim { max: 1, ..a_claim(&["q"], seed(1)) }).await.unwrap().jobs
    });
    store.create(new(2), None).await.unwrap();
    assert_eq!(claim.await.unwrap()[0].view.job.id, job(1).id);
    ground.drop_schema().await;
}
