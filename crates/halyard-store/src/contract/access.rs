//! Keys, sign-ins, and what is written down of operators' calls.

use std::sync::Arc;

use halyard_core::admission::{Due, NewJob};
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::KeyId;
use halyard_core::operate::Retry;
use halyard_core::role::Role;

use super::trial::{START, Trial, completed, id, job, keyed, somebody};
use crate::access::{
    Access, Action, ApiKey, AuditKept, By, Deed, Revoked, SIGN_INS_MAX, SIGN_INS_OF_KEY_MAX, SignIn,
};
use crate::verbs::{Bulk, BulkAction, RequestKey};

fn key(number: u128, role: Role) -> ApiKey {
    ApiKey {
        id: KeyId::make(START, number),
        name: format!("key {number}").into(),
        role,
        hash: [u8::try_from(number).unwrap(); 32],
        created_at: START,
        last_used_at: None,
    }
}

fn sign_in(number: u16, expires_at: i64) -> SignIn {
    let mut hash = [0; 32];
    hash[..2].copy_from_slice(&number.to_be_bytes());
    SignIn { hash, key_hash: [7; 32], expires_at }
}

/// One of another key for every few.
fn sign_in_of_many(number: u16, expires_at: i64) -> SignIn {
    let mut key_hash = [8; 32];
    key_hash[..2].copy_from_slice(&(number / 40).to_be_bytes());
    SignIn { key_hash, ..sign_in(number, expires_at) }
}

/// What was done, oldest first, and to how many.
async fn deeds(trial: &Trial) -> Vec<Deed> {
    let page = trial.store.audit(None, 1_000).await.unwrap();
    assert_eq!(page.next, None);
    assert!(page.entries.iter().all(|entry| entry.by == somebody()));
    page.entries.into_iter().rev().map(|entry| entry.deed).collect()
}

/// A key is kept as it was made, until it is revoked; when it was used only moves on.
pub async fn keys_are_kept_until_they_are_revoked(trial: Arc<Trial>) {
    let store = &trial.store;
    assert_eq!(store.access().await.unwrap(), Access::default());
    let (worker, admin) = (key(2, Role::Worker), key(1, Role::Admin));
    store.create_api_key(worker.clone(), somebody()).await.unwrap();
    store.create_api_key(admin.clone(), somebody()).await.unwrap();
    assert_eq!(store.access().await.unwrap().keys, [admin.clone(), worker.clone()]);
    let used = vec![(worker.id, START + 5), (key(9, Role::Admin).id, START)];
    store.use_api_keys(used).await.unwrap();
    store.use_api_keys(vec![(worker.id, START + 3)]).await.unwrap();
    let last_used = store.access().await.unwrap().keys[1].last_used_at;
    assert_eq!(last_used, Some(START + 5));

    let revoke = async |id, keep| store.revoke_api_key(id, keep, somebody()).await.unwrap();
    assert_eq!(revoke(admin.id, true).await, Revoked::LastAdmin);
    let gone = ApiKey { last_used_at: last_used, ..worker.clone() };
    assert_eq!(revoke(worker.id, true).await, Revoked::Done(gone));
    assert_eq!(revoke(worker.id, true).await, Revoked::Unknown);
    let second = key(3, Role::Admin);
    store.create_api_key(second.clone(), somebody()).await.unwrap();
    assert_eq!(revoke(admin.id, true).await, Revoked::Done(admin.clone()));
    assert_eq!(revoke(second.id, false).await, Revoked::Done(second.clone()));
    assert_eq!(store.access().await.unwrap(), Access::default());
    let (made, revoked) = (Action::CreateKey, Action::RevokeKey);
    let expected = [
        (made, &worker),
        (made, &admin),
        (revoked, &worker),
        (made, &second),
        (revoked, &admin),
        (revoked, &second),
    ];
    let expected = expected.map(|(action, key)| Deed::to(action, key.called()));
    assert_eq!(deeds(&trial).await, expected);
}

/// A sign-in is kept until it ends, somebody signs out, or too many are newer.
pub async fn sign_ins_are_kept_until_they_end(trial: Arc<Trial>) {
    let store = &trial.store;
    let later = START + 10_000;
    store.sign_in(sign_in(2, later), somebody()).await.unwrap();
    store.sign_in(sign_in(1, START + 1_000), somebody()).await.unwrap();
    let known = async || store.access().await.unwrap().sign_ins;
    assert_eq!(known().await, [sign_in(1, START + 1_000), sign_in(2, later)]);
    trial.advance(1_000);
    store.sign_in(sign_in(3, later), somebody()).await.unwrap();
    assert_eq!(known().await, [sign_in(2, later), sign_in(3, later)], "one has ended");
    store.sign_out(sign_in(2, later).hash).await.unwrap();
    store.sign_out(sign_in(2, later).hash).await.unwrap();
    assert_eq!(known().await, [sign_in(3, later)]);
    for number in 0..SIGN_INS_MAX {
        let number = u16::try_from(number).unwrap() + 10;
        store.sign_in(sign_in_of_many(number, later + 1), somebody()).await.unwrap();
    }
    let all = known().await;
    assert_eq!(all.len(), SIGN_INS_MAX);
    assert!(all.iter().all(|it| it.expires_at == later + 1), "the one that ends first has gone");
}

/// Whoever signs in again and again signs nobody else out, but their own oldest browsers.
pub async fn a_key_pushes_out_its_own_sign_ins_alone(trial: Arc<Trial>) {
    let store = &trial.store;
    let other = SignIn { key_hash: [9; 32], ..sign_in(1, START + 1_000) };
    store.sign_in(other.clone(), somebody()).await.unwrap();
    let count = u16::try_from(SIGN_INS_OF_KEY_MAX).unwrap() + 3;
    for number in 0..count {
        let ends = START + 2_000 + i64::from(number);
        store.sign_in(sign_in(10 + number, ends), somebody()).await.unwrap();
    }
    let newest = (3..count).map(|number| sign_in(10 + number, START + 2_000 + i64::from(number)));
    let expected: Vec<SignIn> = std::iter::once(other).chain(newest).collect();
    assert_eq!(store.access().await.unwrap().sign_ins, expected);
}

/// What an operator changes is written down with it; what changes nothing is not.
pub async fn what_operators_do_is_written_down(trial: Arc<Trial>) {
    let store = &trial.store;
    let by = || Some(somebody());
    let lease = trial.running(job(1)).await;
    trial.finish(lease, completed("1")).await;
    for number in 2..=5 {
        trial.make(job(number)).await;
    }
    let mut expected = Vec::new();
    let mut done = |action, ids: &[u64]| {
        let ids = ids.iter().map(|number| id(*number)).collect();
        expected.push(Deed::to_jobs(action, ids));
    };
    let again = Retry { allow_completed: true, life: Some(1), ..Retry::default() };
    for _ in 0..2 {
        // The second time it is a repeat.
        store.retry(id(1), again.clone(), None, trial.seed(), by()).await.unwrap();
    }
    done(Action::Retry, &[1]);
    store.retry(id(2), Retry::default(), None, trial.seed(), by()).await.unwrap();
    store.cancel(id(2), trial.seed(), by()).await.unwrap();
    done(Action::Cancel, &[2]);
    store.cancel(id(90), trial.seed(), by()).await.unwrap();
    store.cancel(id(3), trial.seed(), None).await.unwrap();
    // It is claimable already.
    store.run_now(id(4), trial.seed(), by()).await.unwrap();
    trial.make(NewJob { due: Due::After(60_000), ..job(6) }).await;
    for _ in 0..2 {
        store.run_now(id(6), trial.seed(), by()).await.unwrap();
    }
    done(Action::RunNow, &[6]);
    let ids = [Some(id(1)), None, Some(id(91)), Some(id(4)), Some(id(5))];
    let targets = ids.map(|id| (id, None)).to_vec();
    let filter = Some("queue=default".to_owned());
    let bulk = Bulk { action: BulkAction::Cancel, targets, filter: filter.clone() };
    let request = RequestKey {
        scope: "bulk".to_owned(),
        value: "once".to_owned(),
        body: Fingerprint([1; 32]),
    };
    for _ in 0..2 {
        let request = Some(request.clone());
        store.bulk(bulk.clone(), request, trial.seed(), by()).await.unwrap();
    }
    done(Action::Cancel, &[1, 4, 5]);
    store.bulk(bulk, None, trial.seed(), by()).await.unwrap();
    store.cancel(id(5), trial.seed(), by()).await.unwrap();
    store.delete(id(2), false, trial.seed(), by()).await.unwrap();
    store.delete(id(2), false, trial.seed(), by()).await.unwrap();
    done(Action::Delete, &[2]);
    trial.make(keyed(7, "held")).await;
    for number in [4, 7, 7, 92] {
        store.forget_key(id(number), by()).await.unwrap();
    }
    done(Action::ForgetKey, &[7]);
    store.run_as_new(id(4), id(20), None, None, by()).await.unwrap();
    store.run_as_new(id(93), id(21), None, None, by()).await.unwrap();
    done(Action::RunAsNew, &[20]);
    expected.last_mut().unwrap().target = Some(id(4).to_string());
    expected.iter_mut().find(|deed| deed.job_ids.len() > 1).unwrap().target = filter;
    for paused in [false, true, true, false, false] {
        store.set_paused("idle", paused, by()).await.unwrap();
    }
    expected.push(Deed::to(Action::Pause, "idle".to_owned()));
    expected.push(Deed::to(Action::Resume, "idle".to_owned()));
    assert_eq!(deeds(&trial).await, expected);
}

/// A delete that frees the job's key is two things, and has a line for each.
pub async fn a_delete_with_its_key_is_written_down_as_both(trial: Arc<Trial>) {
    let store = &trial.store;
    trial.make(keyed(1, "freed")).await;
    trial.make(keyed(2, "kept")).await;
    trial.make(job(3)).await;
    for (number, forget_key) in [(1, true), (1, true), (2, false), (3, true)] {
        store.delete(id(number), forget_key, trial.seed(), Some(somebody())).await.unwrap();
    }
    let line = |action, number| Deed::to_jobs(action, vec![id(number)]);
    let expected = [
        line(Action::Delete, 1),
        line(Action::ForgetKey, 1),
        line(Action::Delete, 2),
        line(Action::Delete, 3),
    ];
    assert_eq!(deeds(&trial).await, expected);
}

/// Pages go from the newest line to the oldest, also while lines are added.
pub async fn the_audit_log_is_read_in_pages(trial: Arc<Trial>) {
    let store = &trial.store;
    let pause = async |number: usize| {
        let queue = format!("q{number}");
        store.set_paused(&queue, true, Some(somebody())).await.unwrap();
        trial.advance(1);
    };
    for number in 0..5 {
        pause(number).await;
    }
    let (mut seen, mut place) = (Vec::new(), None);
    loop {
        let page = store.audit(place, 2).await.unwrap();
        seen.extend(page.entries.into_iter().map(|it| (it.at, it.deed.target.unwrap())));
        pause(5 + seen.len()).await;
        place = page.next;
        if place.is_none() {
            break;
        }
    }
    let expected = (0..5).rev().map(|number| (START + number, format!("q{number}")));
    assert_eq!(seen, expected.collect::<Vec<_>>());
}

/// Old lines go, and the oldest of too many.
pub async fn the_audit_log_is_kept_so_long(trial: Arc<Trial>) {
    let store = &trial.store;
    for number in 0..10 {
        let by = By { actor: format!("n{number}").into(), ..somebody() };
        store.set_paused(&format!("q{number}"), true, Some(by)).await.unwrap();
        trial.advance(100);
    }
    let prune = async |limit, for_ms, lines_max| {
        store.prune_audit(limit, AuditKept { for_ms, lines_max }).await.unwrap()
    };
    let left = async || store.audit(None, 100).await.unwrap().entries.len();
    assert_eq!(prune(100, 1_000, 10).await, 0);
    assert_eq!(prune(100, 799, 10).await, 3, "older than so long");
    assert_eq!((prune(1, 1_000, 5).await, left().await), (1, 6), "a bounded bite");
    assert_eq!((prune(100, 1_000, 5).await, left().await), (1, 5));
    let newest = store.audit(None, 1).await.unwrap().entries;
    assert_eq!(&*newest[0].by.actor, "n9");
    assert_eq!(prune(100, 1, 0).await, 5);
}
