//! The `Idempotency-Key` header: an accepted request is answered again.

use std::sync::Arc;

use halyard_core::admission::NewJob;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::job::State;
use halyard_core::key::IdClash;
use halyard_core::limits::DAY;
use halyard_core::operate::{Refusal, Retry};

use super::Trial;
use super::create::show;
use super::trial::{MINUTE, completed, id, job, keyed, text, with_payload};
use crate::verbs::{Acted, Bulk, BulkAction, Created, Keyed, RequestKey};

pub(super) fn request(scope: &str, value: &str, body: &str) -> Option<RequestKey> {
    let body = Fingerprint::of(&text(body));
    Some(RequestKey { scope: scope.to_owned(), value: value.to_owned(), body })
}

fn shown(answer: &Keyed<Vec<Created>>) -> String {
    match answer {
        Keyed::Fresh(created) => format!("fresh {}", created.iter().map(show).collect::<String>()),
        Keyed::Replayed(created) => {
            format!("again {}", created.iter().map(show).collect::<String>())
        }
        Keyed::Reused(id) => format!("reused {id:?}"),
    }
}

/// The same body gets the same job as it is now, another body is refused, a deleted job is gone.
pub async fn a_request_is_answered_again(trial: Arc<Trial>) {
    let create = async |number, scope: &str, value: &str, body: &str| {
        let request = request(scope, value, body);
        shown(&trial.store.create(vec![job(number)], request).await.unwrap())
    };
    let (first, second) = (id(1), id(2));
    assert_eq!(create(1, "POST /a", "v", "1").await, format!("fresh new {first}"));
    assert_eq!(create(2, "POST /a", "v", "1.0").await, format!("again replay {first}"));
    assert_eq!(create(2, "POST /a", "v", "2").await, format!("reused {:?}", Some(first)));
    assert_eq!(create(2, "POST /b", "v", "1").await, format!("fresh new {second}"));
    assert_eq!(create(3, "POST /a", "w", "1").await, format!("fresh new {}", id(3)));
    trial.cancel(first).await;
    let Keyed::Replayed(now) =
        trial.store.create(vec![job(4)], request("POST /a", "v", "1")).await.unwrap()
    else {
        panic!("not replayed");
    };
    assert!(matches!(&now[0], Created::Replayed { view, revived: false }
        if view.job.state == State::Cancelled));
    trial.delete(first, false).await;
    assert_eq!(create(4, "POST /a", "v", "1").await, format!("again gone {first}"));
    assert_eq!(create(4, "POST /a", "v", "2").await, format!("reused {:?}", Some(first)));
    assert_eq!(trial.store.get(id(4)).await.unwrap(), None);
}

/// An id that was used twice left two of them.
pub async fn a_request_is_answered_with_a_tombstone(trial: Arc<Trial>) {
    let send = async || trial.store.create(vec![keyed(1, "b")], request("s", "v", "1")).await;
    send().await.unwrap();
    let purged = async || match send().await.unwrap() {
        Keyed::Replayed(created) => match &created[..] {
            [Created::Purged(grave)] => grave.key.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let lease = trial.start("q1").await;
    trial.finish(lease, completed("1")).await;
    trial.delete(id(1), false).await;
    assert_eq!(purged().await, "b");
    trial.in_state(NewJob { key_ttl_ms: MINUTE, ..keyed(1, "a") }, State::Completed).await;
    trial.delete(id(1), false).await;
    assert_eq!(purged().await, "a", "the first by its key");
    trial.advance(MINUTE);
    assert_eq!(purged().await, "b", "the first one's time is over");
}

/// By the clock, not by a sweeper.
pub async fn a_request_is_forgotten_after_a_day(trial: Arc<Trial>) {
    let create = async |number| {
        shown(&trial.store.create(vec![job(number)], request("s", "v", "1")).await.unwrap())
    };
    create(1).await;
    trial.advance(DAY - 1);
    assert_eq!(create(2).await, format!("again replay {}", id(1)));
    trial.advance(1);
    assert_eq!(create(2).await, format!("fresh new {}", id(2)));
    assert_eq!(create(3).await, format!("again replay {}", id(2)));
}

/// Only accepted requests are remembered.
pub async fn what_was_refused_is_judged_anew(trial: Arc<Trial>) {
    trial.make(keyed(1, "k")).await;
    let create = async |body: &str, payload: &str| {
        let job = with_payload(keyed(2, "k"), payload);
        shown(&trial.store.create(vec![job], request("s", "v", body)).await.unwrap())
    };
    assert_eq!(create("1", "1").await, format!("fresh reused {}", id(1)));
    assert_eq!(create("2", "null").await, format!("fresh replay {}", id(1)));
    assert_eq!(create("1", "1").await, format!("reused {:?}", Some(id(1))));

    let retry = async |body: &str| {
        let request = request("retry", "v", body);
        trial.store.retry(id(1), Retry::default(), request, trial.seed(), None).await.unwrap()
    };
    let refused = Acted::Refused(Refusal::NotRetryable(State::Queued));
    assert_eq!(retry("1").await, Keyed::Fresh(refused));
    trial.cancel(id(1)).await;
    assert!(matches!(retry("2").await, Keyed::Fresh(Acted::Done { repeated: false, .. })));
    assert_eq!(retry("1").await, Keyed::Reused(Some(id(1))));
}

/// A batch with an accepted member is remembered whole.
pub async fn a_batch_remembers_its_refused_members(trial: Arc<Trial>) {
    trial.in_state(keyed(1, "k"), State::Completed).await;
    trial.in_state(keyed(2, "l"), State::Completed).await;
    trial.delete(id(2), false).await;
    let batch = || {
        vec![
            with_payload(keyed(3, "k"), "1"),
            keyed(4, "l"),
            keyed(5, "m"),
            with_payload(job(1), "1"),
            keyed(6, "k"),
            NewJob { id: id(1), ..keyed(7, "n") },
            NewJob { id: id(8), ..keyed(8, "n") },
        ]
    };
    let send = async || trial.store.create(batch(), request("s", "v", "1")).await.unwrap();
    let Keyed::Fresh(first) = send().await else { panic!("not fresh") };
    assert!(matches!(first[2], Created::New(_)));
    trial.store.forget_key(id(1), None).await.unwrap();
    let Keyed::Replayed(second) = send().await else { panic!("not replayed") };
    assert_eq!(second[..2], first[..2], "refused so again, and the tombstone again");
    assert_eq!(show(&second[2]), format!("replay {}", id(5)));
    assert_eq!(second[3], Created::IdTaken { id: id(1), clash: IdClash::Work });
    assert_eq!(show(&second[4]), format!("replay {}", id(1)));
    assert_eq!(second[5], Created::IdTaken { id: id(1), clash: IdClash::OtherKey });
    assert_eq!(show(&second[6]), format!("replay {}", id(8)));
    trial.store.forget_key(id(2), None).await.unwrap();
    let Keyed::Replayed(third) = send().await else { panic!("not replayed") };
    assert_eq!(third[1], Created::Gone(id(2)));

    // A job that is gone is remembered as long as its key is, like without the header.
    let lease = trial.start("q5").await;
    trial.finish(lease, completed("1")).await;
    trial.delete(id(5), false).await;
    let Keyed::Replayed(fourth) = send().await else { panic!("not replayed") };
    assert_eq!(show(&fourth[2]), format!("purged {}", id(5)));
    trial.store.forget_key(id(5), None).await.unwrap();
    let Keyed::Replayed(fifth) = send().await else { panic!("not replayed") };
    assert_eq!(fifth[2], Created::Gone(id(5)));
}

/// Retry, run as new and bulk.
pub async fn actions_are_answered_again(trial: Arc<Trial>) {
    for number in 1..=4 {
        trial.in_state(job(number), State::Failed).await;
    }
    let seed = || trial.seed();
    let retry = async || {
        let key = request("retry", "v", "{}");
        trial.store.retry(id(1), Retry::default(), key, seed(), None).await.unwrap()
    };
    assert!(matches!(retry().await, Keyed::Fresh(Acted::Done { repeated: false, .. })));
    let lease = trial.start("q1").await;
    let Keyed::Replayed(Acted::Done { view: Some(view), repeated: true, .. }) = retry().await
    else {
        panic!("not answered again");
    };
    assert_eq!((view.job.state, view.job.life), (State::Running, 2));
    trial.finish(lease, super::trial::hopeless()).await;
    trial.delete(id(1), false).await;
    assert_eq!(retry().await, Keyed::Replayed(Acted::NotFound));

    let again = async |new| {
        let key = request("again", "v", "{}");
        trial.store.run_as_new(id(2), id(new), None, key, None).await.unwrap()
    };
    assert!(matches!(again(11).await, Keyed::Fresh(Created::New(_))));
    assert!(matches!(again(12).await,
        Keyed::Replayed(Created::Replayed { view, .. }) if view.job.id == id(11)));
    trial.delete(id(11), false).await;
    assert_eq!(again(13).await, Keyed::Replayed(Created::Gone(id(11))));

    let bulk = async |action, value: &str| {
        let targets = vec![(Some(id(3)), None), (None, None), (Some(id(9)), None)];
        let bulk = Bulk { action, targets, filter: None };
        trial.store.bulk(bulk, request("bulk", value, "[]"), seed(), None).await.unwrap()
    };
    let Keyed::Fresh(first) = bulk(BulkAction::Retry, "v").await else { panic!("not fresh") };
    assert!(matches!(first[0], Acted::Done { repeated: false, .. }));
    let Keyed::Replayed(second) = bulk(BulkAction::Retry, "v").await else { panic!("not again") };
    assert!(matches!(&second[0], Acted::Done { view: Some(_), repeated: true, .. }));
    assert_eq!(second[1..], [Acted::NotFound, Acted::NotFound]);
    bulk(BulkAction::Delete, "w").await;
    let Keyed::Replayed(third) = bulk(BulkAction::Delete, "w").await else { panic!("not again") };
    assert_eq!(third[0], Acted::Done { view: None, repeated: true, changed: false });
    let Keyed::Replayed(fourth) = bulk(BulkAction::Retry, "v").await else { panic!("not again") };
    assert_eq!(fourth[0], Acted::NotFound);
    let Keyed::Fresh(none) = bulk(BulkAction::Cancel, "x").await else { panic!("not fresh") };
    assert_eq!(none, vec![Acted::NotFound; 3]);
    assert!(matches!(bulk(BulkAction::Cancel, "x").await, Keyed::Fresh(_)), "nothing was accepted");
}
