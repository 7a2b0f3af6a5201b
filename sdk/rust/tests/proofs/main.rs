//! `prove_idempotent` finds every mistake of `sdk/scenarios/proofs.json`, and nothing in the mended
//! twins.
//!
//! | file | |
//! |---|---|
//! | `world` | what the handlers change |
//! | `mistaken`, `mended` | the handlers |
//! | `expectations` | clean runs that fail, told beforehand or not |
//! | `odd` | handlers that panic, wait for ever or fail on purpose |
//! | `transaction` | a handler in a transaction of PostgreSQL |

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod expectations;
mod mended;
mod mistaken;
mod odd;
#[cfg(feature = "postgres")]
mod transaction;
mod world;

use std::collections::BTreeSet;

use halyard::testing::{Proof, Report, prove_idempotent};
use halyard::{HandlerResult, Job};
use serde_json::{Value, json};

use world::World;

/// Makes a test of each proof.
macro_rules! proofs {
    ($($name:ident)* ; only mended: $($mended:ident)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                finds(stringify!($name), &prove(mistaken::$name).await);
                passes(&prove(mended::$name).await);
            }
        )*
        $(
            #[tokio::test]
            async fn $mended() {
                passes(&prove(mended::$mended).await);
            }
        )*
        const PROOFS: &[&str] = &[$(stringify!($name)),*];
        const ONLY_MENDED: &[&str] = &[$(stringify!($mended)),*];
    };
}

proofs! {
    insert_without_constraint
    checkpoint_before_work
    charge_without_key
    random_key
    key_from_attempt
    mail_without_flag
    check_then_act
    finally_hides_the_crash
    record_before_effect
    step_value_ignored
    recovery_in_two_steps;
    only mended: module_state
}

/// The shared list of mistakes.
fn table() -> Vec<Value> {
    table_of("proofs")
}

fn table_of(name: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../scenarios/proofs.json"))
        .expect("the shared list");
    file[name].as_array().expect("a table").clone()
}

#[test]
fn every_proof_is_run() {
    let table = table();
    let names = |absent: bool| -> BTreeSet<String> {
        let chosen = table.iter().filter(|proof| proof["absent"]["rust"].is_string() == absent);
        chosen.filter_map(|proof| proof["name"].as_str().map(str::to_owned)).collect()
    };
    let run = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names(false), run(PROOFS));
    assert_eq!(names(true), run(ONLY_MENDED));
}

/// The proof of a handler on a world of its own.
async fn prove<F, Fut>(handler: F) -> Report
where
    F: Fn(World, Job) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<()>> + Send + 'static,
{
    proof(handler).run().await
}

fn proof<F, Fut>(handler: F) -> Proof
where
    F: Fn(World, Job) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<()>> + Send + 'static,
{
    let world = World::default();
    let (used, seen) = (world.clone(), world.clone());
    prove_idempotent(move |job: Job| handler(used.clone(), job))
        .payload(&json!({"subscription": "sub_1", "period": "2026-11"}))
        .world(move || std::future::ready(seen.shown()))
        .reset(move || {
            world.reset();
            std::future::ready(())
        })
}

#[track_caller]
fn finds(name: &str, report: &Report) {
    let table = table();
    let proof = table.iter().find(|proof| proof["name"] == name).expect("the proof");
    let text = |member: &str| proof[member].as_str().expect(member);
    assert!(!report.ok, "nothing was found");
    let finding = &report.findings[0];
    let exact = !text("finding").ends_with(' ');
    let begins = finding.message.starts_with(text("finding"));
    assert!(begins && (!exact || finding.message.len() == text("finding").len()), "{report}");
    assert_eq!(finding.way, text("way"), "{report}");
    let advice = finding.advice.as_deref().unwrap_or_default();
    assert!(advice.contains(text("advice")), "{report}");
}

#[track_caller]
fn passes(report: &Report) {
    report.assert_idempotent();
    assert!(report.ways >= 8, "{report}");
    assert!(!report.points.is_empty(), "{report}");
}
