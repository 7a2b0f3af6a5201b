//! Who is woken by what, without a store: a test plays the claims.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use futures_util::FutureExt;
use halyard_core::id::JobId;
use halyard_core::job::{Name, State};
use halyard_store::verbs::{Change, Invitation};

use super::{Waiter, Wakeups, Wants};

fn queued(number: u128, queue: &str, task: &str) -> Change {
    let (queue, task) = (Name::from(queue), Name::from(task));
    Change { id: JobId(number), task, queue, state: Some(State::Queued), life: 1, attempt: 0 }
}

fn taken(number: u128) -> Change {
    Change { state: Some(State::Running), ..queued(number, "q", "t") }
}

fn join(wakeups: &Arc<Wakeups>, queue: &str, tasks: Option<&[&str]>, max: usize) -> Waiter {
    let tasks = tasks.map(|tasks| tasks.iter().copied().map(Name::from).collect::<Vec<_>>());
    wakeups.join(Wants::new(&[Name::from(queue)], tasks.as_deref()), max)
}

/// Whether a claim was woken; then it stands in line again and asks the store.
fn wake(waiter: &mut Waiter) -> bool {
    let woken = waiter.woken().now_or_never().is_some();
    if woken {
        waiter.rejoin();
    }
    woken
}

#[test]
fn a_job_wakes_the_first_claim_that_may_take_it() {
    let wakeups = Arc::new(Wakeups::default());
    let mut other_queue = join(&wakeups, "p", None, 1);
    let mut other_task = join(&wakeups, "q", Some(&["u"]), 1);
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", Some(&["t"]), 1);
    wakeups.hear(&[queued(1, "q", "t")], None);
    assert!(wake(&mut first));
    for waiter in [&mut other_queue, &mut other_task, &mut second] {
        assert!(!wake(waiter));
    }
    wakeups.hear(&[queued(2, "q", "u")], None);
    assert!(wake(&mut other_task), "it joined before the other two");
}

#[test]
fn one_claim_takes_as_many_hints_as_it_may_take_jobs() {
    let wakeups = Arc::new(Wakeups::default());
    let mut waiters: Vec<Waiter> = (0..3).map(|_| join(&wakeups, "q", None, 2)).collect();
    wakeups.hear(&[queued(1, "q", "t"), queued(2, "q", "t"), queued(3, "q", "t")], None);
    let woken: Vec<bool> = waiters.iter_mut().map(wake).collect();
    assert_eq!(woken, [true, true, false]);
}

#[test]
fn a_hint_that_was_not_taken_is_passed_on_and_visits_nobody_twice() {
    let wakeups = Arc::new(Wakeups::default());
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    wakeups.hear(&[queued(1, "q", "t")], None);
    assert!(wake(&mut first));
    let mut later = join(&wakeups, "q", None, 1);
    first.settle(std::iter::empty());
    assert!(wake(&mut second));
    second.settle(std::iter::empty());
    assert!(!wake(&mut first), "it was asked already");
    assert!(!wake(&mut later), "it asked the store by itself when it joined");
}

#[test]
fn only_who_is_woken_by_a_commit_is_invited_to_it() {
    let wakeups = Arc::new(Wakeups::default());
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    wakeups.hear(&[queued(1, "q", "t")], Some(Invitation(7)));
    assert!(wake(&mut first));
    assert_eq!(first.invitation(), Some(Invitation(7)));
    first.settle(std::iter::empty());
    assert_eq!(first.invitation(), None, "it has been there");
    assert!(wake(&mut second));
    assert_eq!(second.invitation(), None, "by then it is committed");
}

#[test]
fn a_hint_ends_when_the_job_is_taken() {
    let wakeups = Arc::new(Wakeups::default());
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    wakeups.hear(&[queued(1, "q", "t")], None);
    assert!(wake(&mut first));
    wakeups.hear(&[taken(1)], None);
    first.settle(std::iter::empty());
    assert!(!wake(&mut second), "a faster worker has it");
}

#[test]
fn a_claim_that_took_another_job_passes_its_hint_on() {
    let wakeups = Arc::new(Wakeups::default());
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    wakeups.hear(&[queued(1, "q", "t")], None);
    assert!(wake(&mut first));
    first.settle([JobId(9)].into_iter());
    assert!(wake(&mut second));
}

#[test]
fn a_claim_that_is_gone_passes_its_hint_on() {
    let wakeups = Arc::new(Wakeups::default());
    let first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    wakeups.hear(&[queued(1, "q", "t")], None);
    drop(first);
    assert!(wake(&mut second));
    drop(second);
    assert_eq!(wakeups.waiting(), 0);
}

/// The store refuses it, or its client hangs up, before the store has answered.
#[test]
fn a_woken_claim_that_is_not_answered_passes_its_hints_on() {
    let wakeups = Arc::new(Wakeups::default());
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    wakeups.hear(&[queued(1, "q", "t")], None);
    assert!(wake(&mut first));
    // It stands in line again meanwhile.
    wakeups.hear(&[queued(2, "q", "t")], None);
    let mut third = join(&wakeups, "q", None, 1);
    drop(first);
    assert!(wake(&mut second));
    assert!(!wake(&mut third), "it asked the store by itself when it joined");
    wakeups.poke(&[Name::from("q")]);
    assert!(wake(&mut second), "the base poll's");
    drop(second);
    assert!(wake(&mut third));
}

#[test]
fn the_base_poll_wakes_one_claim_of_each_line_and_goes_on_while_there_is_work() {
    let wakeups = Arc::new(Wakeups::default());
    let mut first = join(&wakeups, "q", None, 1);
    let mut second = join(&wakeups, "q", None, 1);
    let mut other_line = join(&wakeups, "q", Some(&["t"]), 1);
    let mut other_queue = join(&wakeups, "p", None, 1);
    wakeups.poke(&[Name::from("q")]);
    assert!(wake(&mut first));
    assert!(!wake(&mut second));
    assert!(wake(&mut other_line));
    assert!(!wake(&mut other_queue));
    first.settle([JobId(1)].into_iter());
    drop(first);
    assert!(wake(&mut second), "there was work, so there may be more");
}

/// Whatever happens in whatever order: as long as a job is queued and a claim that may take it
/// waits, either a claim is woken, or the job's hint was turned down by all that were there.
#[test]
fn no_wake_is_lost_in_any_order() {
    for seed in 0..2_000_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % below as u64).unwrap()
        };
        let wakeups = Arc::new(Wakeups::default());
        let mut store: Vec<u128> = Vec::new();
        let mut waiters: Vec<Waiter> = Vec::new();
        let mut made = 0;
        for _ in 0..40 {
            match draw(4) {
                0 => {
                    made += 1;
                    store.push(made);
                    wakeups.hear(&[queued(made, "q", "t")], None);
                }
                1 => {
                    let waiter = join(&wakeups, "q", None, 1 + draw(3));
                    if let Some(job) = store.pop() {
                        wakeups.hear(&[taken(job)], None);
                    } else {
                        waiters.push(waiter);
                    }
                }
                2 if !waiters.is_empty() => drop(waiters.swap_remove(draw(waiters.len()))),
                _ if !waiters.is_empty() => {
                    let index = draw(waiters.len());
                    claim_if_woken(&wakeups, &mut store, &mut waiters, index);
                }
                _ => {}
            }
        }
        for _ in 0..waiters.len() * 2 {
            for index in (0..waiters.len()).rev() {
                claim_if_woken(&wakeups, &mut store, &mut waiters, index);
            }
        }
        assert!(store.is_empty() || waiters.is_empty(), "seed {seed}: {store:?} is left");
    }
}

fn claim_if_woken(
    wakeups: &Arc<Wakeups>,
    store: &mut Vec<u128>,
    waiters: &mut Vec<Waiter>,
    index: usize,
) {
    let Some(waiter) = waiters.get_mut(index) else { return };
    if !wake(waiter) {
        return;
    }
    let job = store.pop();
    waiter.settle(job.map(JobId).into_iter());
    if let Some(job) = job {
        drop(waiters.swap_remove(index));
        wakeups.hear(&[taken(job)], None);
    }
}
