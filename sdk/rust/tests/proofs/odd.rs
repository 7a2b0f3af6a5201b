//! Handlers that panic, wait for ever, fail on purpose or do several things at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use halyard::processed::{AlreadyInProgress, OnUnknown, Store};
use halyard::testing::{Proof, Report, crash_point, prove_idempotent};
use halyard::{HandlerResult, Job, NonRetryable, OutcomeUnknown};
use serde_json::json;

use crate::prove;
use crate::world::World;

/// A proof of a handler that changes no world.
fn of_nothing<F, Fut>(handler: F) -> Proof
where
    F: Fn(Job) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<()>> + Send + 'static,
{
    prove_idempotent(handler)
        .world(|| std::future::ready(json!({})))
        .reset(|| std::future::ready(()))
}

fn message(report: &Report) -> &str {
    &report.findings[0].message
}

#[tokio::test]
async fn outside_of_a_proof_a_point_is_nothing() {
    crash_point("anywhere").await;
}

#[tokio::test]
async fn points_are_listed_in_order() {
    let report = of_nothing(|job: Job| async move {
        crash_point("begun").await;
        job.checkpoint("a").await?;
        job.checkpoint("a").await?;
        crash_point("begun").await;
        Ok(())
    });
    let report = report.run().await;
    let points = [
        "at `begun`",
        "before checkpoint `a`",
        "after checkpoint `a`",
        "before checkpoint `a` (the 2nd time)",
        "after checkpoint `a` (the 2nd time)",
        "at `begun` (the 2nd time)",
    ];
    assert_eq!(report.points, points);
    // Clean, twice, before the first line, by hand; and four for each point.
    assert_eq!(report.ways, 4 + 4 * points.len());
    assert_eq!(report.to_string().lines().count(), 1, "{report}");
    report.assert_idempotent();
}

#[tokio::test]
async fn a_clean_run_that_never_completes_ends_the_proof() {
    let report = of_nothing(|_: Job| async { Err("always".into()) }).run().await;
    assert_eq!((message(&report), report.ways), ("never completes: run: Error: always", 1));
    let report = of_nothing(|_: Job| async { panic!("a bug") }).run().await;
    assert_eq!(message(&report), "never completes: run: panic: a bug");
}

#[tokio::test]
async fn an_error_on_purpose_is_an_end() {
    let refuse = |_: Job| async { Err(NonRetryable::new("declined").into()) };
    let report = of_nothing(refuse).run().await.to_string();
    let told = [
        "nothing proved: one clean run, without any fault, did not end as it should, so no other \
         way was tried; it passed no points",
        "",
        "1. the clean run fails for good, so nothing was proved: NonRetryable: declined",
        "   advice:   a job that fails did nothing that could be done twice; correct the payload, \
         or what `reset` leaves in the world, so that the handler completes; if the job is to \
         fail, say so with `.expect_failure(true)`",
    ];
    assert_eq!(report.lines().collect::<Vec<_>>(), told);
    let report = of_nothing(refuse).expect_failure(true).run().await;
    report.assert_idempotent();
    let note = "the clean run failed, as expected: NonRetryable: declined";
    assert!(report.to_string().ends_with(&format!("\nnote: {note}")), "{report}");
    let once = Arc::new(AtomicU64::new(0));
    let report = of_nothing(move |_: Job| {
        let run = once.fetch_add(1, Ordering::SeqCst);
        async move { if run == 0 { Ok(()) } else { Err(NonRetryable::new("paid before").into()) } }
    });
    let report = report.run().await;
    let expected = "fails for good: run, run again: NonRetryable: paid before";
    assert_eq!(message(&report), expected);
}

#[tokio::test]
async fn errors_that_pass_are_retried() {
    let runs = Arc::new(AtomicU64::new(0));
    let report = of_nothing(move |_: Job| {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        async move { if run % 3 == 2 { Ok(()) } else { Err("busy".into()) } }
    });
    report.run().await.assert_idempotent();
}

#[tokio::test]
async fn a_lock_that_a_killed_run_holds() {
    let lock = Arc::new(tokio::sync::Mutex::new(()));
    let report = of_nothing(move |_: Job| {
        let lock = Arc::clone(&lock);
        async move {
            let _held = lock.lock().await;
            crash_point("locked").await;
            Ok(())
        }
    });
    let report = report.patience(Duration::from_millis(100)).run().await;
    let expected =
        "never completes: run, killed at `locked`, run again: it was still waiting after 100ms";
    assert_eq!(message(&report), expected);
}

#[tokio::test]
async fn a_lock_that_a_frozen_run_gives_back() {
    let lock = std::sync::Mutex::new(Arc::new(tokio::sync::Mutex::new(())));
    let lock = Arc::new(lock);
    let fresh = Arc::clone(&lock);
    let current = move || Arc::clone(&lock.lock().expect("a lock"));
    let report = prove_idempotent(move |_: Job| {
        let lock = current();
        async move {
            let held = lock.lock_owned().await;
            crash_point("locked").await;
            drop(held);
            HandlerResult::Ok(())
        }
    })
    .world(|| std::future::ready(json!({})))
    .reset(|| std::future::ready(()))
    // A lock of a process goes with it.
    .after_kill(move || {
        *fresh.lock().expect("a lock") = Arc::default();
        std::future::ready(())
    });
    report.run().await.assert_idempotent();
}

#[tokio::test]
async fn nothing_beside_a_stopped_point_goes_on() {
    let report = prove(|world: World, job: Job| async move {
        let key = Some(job.id().to_owned());
        // Both stop: what is beside the kill does not come to its effect.
        tokio::join!(world.charge(key.clone()), world.send_mail(key));
        Ok(())
    });
    report.await.assert_idempotent();
}

#[tokio::test]
async fn an_unknown_outcome_that_is_asked_for() {
    // The provider takes no key, but can be asked.
    async fn charge(world: World, job: Job) -> HandlerResult<()> {
        let seen = world.clone();
        let asked = OnUnknown::ask(move |_| {
            let charged = !seen.shown()["charges"].as_array().expect("charges").is_empty();
            std::future::ready(HandlerResult::Ok(charged.then_some("a charge")))
        });
        let once = world.store.once(job.id()).job(&job).on_unknown(asked);
        once.run(|| async { HandlerResult::Ok(world.charge(None).await) }).await?;
        Ok(())
    }
    prove(charge).await.assert_idempotent();
    // Without asking, the window between the effect and its record is open.
    let report = prove(|world: World, job: Job| async move {
        let charge = || async { HandlerResult::Ok(world.charge(None).await) };
        world.store.once(job.id()).job(&job).run(charge).await?;
        Ok(())
    });
    let expected =
        "`charges` has 2 rows, 1 was expected, after: run, killed at `charged`, run again";
    assert_eq!(message(&report.await), expected);
}

#[tokio::test]
async fn a_second_call_of_the_same_run_is_another_owners() {
    let report = prove(|world: World, job: Job| async move {
        let work = || async {
            crash_point("claimed").await;
            let mail = || async {
                world.send_mail(None).await;
                HandlerResult::Ok(())
            };
            let error = world.store.once(job.id()).run(mail).await.expect_err("in progress");
            assert!(error.find::<AlreadyInProgress>().is_some(), "{error}");
            HandlerResult::Ok(())
        };
        world.store.once(job.id()).run(work).await?;
        Ok(())
    });
    report.await.assert_idempotent();
}

/// Each way finds something that those before it do not.
#[tokio::test]
async fn no_way_is_in_vain() {
    type MakeKey = fn(&Job) -> String;
    let keys: [(&str, MakeKey); 3] = [
        ("retried by hand", |job| format!("{}:{}", job.id(), job.life())),
        ("killed twice", |job| format!("{}:{}", job.id(), job.attempt().max(2))),
        ("killed in the last attempt", |job| {
            format!("{}:{}", job.id(), job.attempt() == job.max_attempts())
        }),
    ];
    for (way, key) in keys {
        let report = prove(move |world: World, job: Job| async move {
            world.charge(Some(key(&job))).await;
            Ok(())
        });
        let report = report.await;
        assert_eq!(report.findings[0].way, way, "{report}");
        assert!(message(&report).starts_with("`charges` has 2 rows, 1 was expected"), "{report}");
    }
}

#[tokio::test]
async fn the_report_for_people() {
    let report = prove(|world: World, _: Job| async move {
        world.upsert_invoice(None).await;
        world.charge(None).await;
        Err(OutcomeUnknown::new("no answer").into())
    });
    let text = report.await.to_string();
    assert!(text.contains("\n\n1. never completes: run: OutcomeUnknown: no answer"), "{text}");
    let report = prove(crate::mistaken::charge_without_key).await;
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "not idempotent: 1 effect wrong, in 20 ways to run it, with 4 points: at `inserted`, at \
         `charging`, at `charged`, at `paid`"
    );
    assert!(lines[2].starts_with("1. `charges` has 2 rows, 1 was expected, after: "), "{text}");
    assert!(lines[2].ends_with(" more ways)"), "{text}");
    assert_eq!(lines[3..5], ["   expected: [\"ch_1\"]", "   got:      [\"ch_1\",\"ch_2\"]"]);
    assert!(lines[5].starts_with("   advice:   the next run did it again"), "{text}");
}
