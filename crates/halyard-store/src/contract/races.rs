//! Many callers at once: whoever wins, the answers and the store agree.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::job::{ReportKind, State};
use halyard_core::operate::{Refusal, Retry};
use halyard_core::outcome::Finish;

use super::Trial;
use super::requests::request;
use super::trial::{Lease, MINUTE, a_claim, completed, id, job, keyed, lease_of, seed};
use crate::verbs::{Acted, Claim, Created, Keyed};

/// Runs `many` calls at once and gives their answers.
async fn at_once<T, F>(many: u64, call: impl Fn(u64) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(tokio::sync::Barrier::new(usize::try_from(many).unwrap()));
    let calls: Vec<_> = (0..many)
        .map(|number| {
            let (barrier, call) = (Arc::clone(&barrier), call(number));
            tokio::spawn(async move {
                barrier.wait().await;
                call.await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.unwrap());
    }
    answers
}

/// One 201, the rest 200, one id; also when a tenth of them come in batches.
pub async fn one_key_many_creators(trial: Arc<Trial>) {
    let answers = at_once(64, |number| {
        let trial = Arc::clone(&trial);
        async move {
            let mut batch = vec![keyed(number + 1, "k")];
            if number % 10 == 0 {
                batch.push(keyed(number + 100, "k"));
            }
            match trial.store.create(batch, None).await.unwrap() {
                Keyed::Fresh(created) => created,
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    let (mut new, mut ids) = (0, BTreeSet::new());
    for created in answers.iter().flatten() {
        match created {
            Created::New(view) => {
                new += 1;
                ids.insert(view.job.id);
            }
            Created::Replayed { view, revived: false } => {
                ids.insert(view.job.id);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((new, ids.len()), (1, 1));
    let holder = trial.store.holder("t", "k").await.unwrap().unwrap();
    assert_eq!(ids.into_iter().next(), Some(holder.job_id));
    assert_eq!(trial.store.stats().await.unwrap().totals.created, 1);
}

/// One is fresh, the rest are answered with its jobs.
pub async fn one_request_many_senders(trial: Arc<Trial>) {
    let answers = at_once(64, |number| {
        let trial = Arc::clone(&trial);
        async move {
            let jobs = vec![job(2 * number + 1), job(2 * number + 2)];
            match trial.store.create(jobs, request("s", "v", "1")).await.unwrap() {
                Keyed::Fresh(created) => (true, created),
                Keyed::Replayed(created) => (false, created),
                Keyed::Reused(_) => panic!("the body was the same"),
            }
        }
    })
    .await;
    assert_eq!(answers.iter().filter(|(fresh, _)| *fresh).count(), 1);
    let ids: BTreeSet<_> = answers
        .iter()
        .flat_map(|(_, created)| created)
        .map(|created| match created {
            Created::New(view) | Created::Replayed { view, .. } => view.job.id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(trial.store.stats().await.unwrap().totals.created, 2);
}

/// Every job goes to one claim.
pub async fn claims_share_no_job(trial: Arc<Trial>) {
    for number in 1..=100 {
        trial.make(NewJob { queue: "q".into(), ..job(number) }).await;
    }
    let answers = at_once(32, |number| {
        let trial = Arc::clone(&trial);
        async move {
            let claim = Claim { max: 3, ..a_claim(&["q"], seed(1_000 + number)) };
            trial.store.claim(claim).await.unwrap().jobs
        }
    })
    .await;
    assert!(answers.iter().all(|jobs| jobs.len() <= 3));
    let leases: Vec<Lease> = answers.iter().flatten().map(lease_of).collect();
    let ids: BTreeSet<_> = leases.iter().map(|lease| lease.id).collect();
    let tokens: BTreeSet<_> = leases.iter().map(|lease| lease.token.0).collect();
    assert_eq!((leases.len(), ids.len(), tokens.len()), (96, 96, 96));
    for lease in leases {
        assert!(trial.beat(lease).await.is_some());
    }
}

/// One wins; both answers and the final state agree.
pub async fn cancel_meets_finish(trial: Arc<Trial>) {
    for number in 1..=50 {
        let lease = trial.running(job(number)).await;
        let (cancels, finishes) = (Arc::clone(&trial), Arc::clone(&trial));
        let cancel = tokio::spawn(async move { cancels.cancel(lease.id).await });
        let finish = tokio::spawn(async move { finishes.finish(lease, completed("1")).await });
        let (acted, finished) = (cancel.await.unwrap(), finish.await.unwrap());
        assert_eq!(finished, Finish::Ok { state: State::Completed, repeated: false });
        match acted {
            Acted::Refused(Refusal::Finished(State::Completed)) => {}
            Acted::Done { view: Some(view), .. } => {
                assert_eq!((view.job.state, view.job.cancel_requested), (State::Running, true));
            }
            other => panic!("{other:?}"),
        }
        let job = trial.get(lease.id).await.view.job;
        assert_eq!((job.state, job.cancel_requested), (State::Completed, false));
    }
}

/// At the instant of the lapse the report is late, whoever comes first; just before, it counts.
pub async fn reap_meets_finish(trial: Arc<Trial>) {
    for number in 1..=20 {
        let late = number % 2 == 0;
        let lease = trial.running(job(number)).await;
        trial.serve(if late { MINUTE } else { MINUTE - 1 }).await;
        let (reaps, finishes) = (Arc::clone(&trial), Arc::clone(&trial));
        let reap = tokio::spawn(async move { reaps.store.reap(9, reaps.seed()).await.unwrap() });
        let finish = tokio::spawn(async move { finishes.finish(lease, completed("1")).await });
        let (reaped, finished) = (reap.await.unwrap(), finish.await.unwrap());
        if late {
            assert!(reaped <= 1, "the finish may have settled it");
            assert_eq!(finished, Finish::LeaseLost { state: State::Retrying });
        } else {
            assert_eq!(reaped, 0);
            assert_eq!(finished, Finish::Ok { state: State::Completed, repeated: false });
            let again = trial.finish(lease, super::trial::failed()).await;
            let recorded = Some(ReportKind::Completed);
            assert_eq!(again, Finish::Conflict { state: State::Completed, recorded });
        }
        assert_eq!(trial.get(lease.id).await.attempts_total, 1);
    }
}

/// One new life, not many.
pub async fn one_life_many_retries(trial: Arc<Trial>) {
    trial.in_state(job(1), State::Failed).await;
    let answers = at_once(32, |_| {
        let trial = Arc::clone(&trial);
        async move { trial.retry(id(1), Retry { life: Some(1), ..Retry::default() }).await }
    })
    .await;
    let opened =
        answers.iter().filter(|acted| matches!(acted, Acted::Done { repeated: false, .. }));
    assert_eq!(opened.count(), 1);
    let repeated =
        answers.iter().filter(|acted| matches!(acted, Acted::Done { repeated: true, .. }));
    assert_eq!(repeated.count(), 31);
    assert_eq!(trial.get(id(1)).await.view.job.life, 2);
}

/// Either it runs and cannot be deleted, or it is gone and nobody got it.
pub async fn delete_meets_claim(trial: Arc<Trial>) {
    for number in 1..=50 {
        trial.make(job(number)).await;
        let queue = format!("q{number}");
        let (deletes, claims) = (Arc::clone(&trial), Arc::clone(&trial));
        let delete = tokio::spawn(async move { deletes.delete(id(number), false).await });
        let claim = tokio::spawn(async move { claims.claim(&queue, 1).await });
        let (deleted, claimed) = (delete.await.unwrap(), claim.await.unwrap());
        let there = trial.store.get(id(number)).await.unwrap().is_some();
        match deleted {
            Acted::Done { view: None, .. } => assert!(claimed.is_empty() && !there),
            Acted::Refused(Refusal::Running) => assert!(claimed.len() == 1 && there),
            other => panic!("{other:?}"),
        }
    }
}
