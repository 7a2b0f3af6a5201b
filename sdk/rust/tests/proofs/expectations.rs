//! Clean runs that fail for good, told beforehand or not.

use halyard::{HandlerResult, Job, NonRetryable};
use serde_json::Value;

use crate::world::World;
use crate::{proof, table_of};

/// A handler of the steps that the shared list names.
async fn run(steps: Vec<Value>, world: World) -> HandlerResult<()> {
    for step in steps {
        match step.as_str() {
            Some("invoices.insert()") => world.insert_invoice().await,
            Some("invoices.upsert()") => {
                world.upsert_invoice(None).await;
            }
            Some("fails for good: declined") => return Err(NonRetryable::new("declined").into()),
            _ => panic!("no such step: {step}"),
        }
    }
    Ok(())
}

#[tokio::test]
async fn expectations() {
    for given in table_of("expectations") {
        let steps = given["handler"].as_array().expect("steps").clone();
        let report = proof(move |world: World, _: Job| run(steps.clone(), world));
        let expected = given["expect_failure"].as_bool().expect("a flag");
        let report = report.expect_failure(expected).run().await;
        let Some(finding) = given["finding"].as_str() else {
            report.assert_idempotent();
            assert_eq!(report.notes, ["the clean run failed, as expected: NonRetryable: declined"]);
            assert!(report.ways >= 8, "{report}");
            continue;
        };
        let said = if finding.ends_with(' ') { "NonRetryable: declined" } else { "" };
        let found = &report.findings[0];
        assert!(!report.ok);
        assert_eq!(found.message, format!("{finding}{said}"), "{report}");
        assert_eq!(given["way"], found.way, "{report}");
        let advice = given["advice"].as_str().expect("an advice");
        assert!(found.advice.as_deref().unwrap_or_default().contains(advice), "{report}");
        let clean = found.way == "clean";
        assert_eq!(report.to_string().starts_with("nothing proved: "), clean, "{report}");
        assert_eq!(report.ways == 1 && report.findings.len() == 1, clean, "{report}");
    }
}
