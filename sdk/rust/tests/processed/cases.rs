//! Claims, completions and removals, step by step.

use std::time::Duration;

use halyard::processed::{Claim, Claimed, Store};
use serde_json::{Value, json, value::RawValue};

use crate::{key, table};

pub(crate) async fn every_case(store: &impl Store) {
    let cases = table("cases");
    assert!(cases.len() >= 15);
    for case in cases {
        let prefix = key("");
        for step in case["steps"].as_array().expect("steps") {
            let got = take(store, &prefix, step).await;
            assert_eq!(got, step["gets"], "{}: {step}", case["what"]);
        }
    }
}

/// Takes one step, and says what it got in the words of the list.
async fn take(store: &impl Store, prefix: &str, step: &Value) -> Value {
    let mut members = step.as_object().expect("a step").iter();
    let (verb, what) = members.find(|(name, _)| *name != "gets").expect("a verb");
    let text = |name: &str| what[name].as_str().expect(name);
    let ms = |name: &str| Duration::from_millis(what[name].as_u64().expect(name));
    let key = format!("{prefix}{}", text("key"));
    let owner = text("owner");
    let changed = match verb.as_str() {
        "claim" => {
            let claim = Claim {
                key,
                fingerprint: text("fingerprint").to_owned(),
                owner: owner.to_owned(),
                in_progress: ms("in_progress_ms"),
                expires_in: ms("expires_ms"),
            };
            let wait = ms("in_progress_ms").max(Duration::from_secs(600));
            return said(store.claim(&claim).await.expect("a claim"), wait);
        }
        "complete" => {
            let response = RawValue::from_string(text("response").to_owned()).expect("JSON");
            store.complete(&key, owner, &response, ms("expires_ms")).await
        }
        "leave" => store.leave(&key, owner).await,
        "remove" => store.remove(&key, owner).await,
        other => panic!("{other} is no verb"),
    };
    json!(changed.expect("a change"))
}

/// What a claim got, in the words of the list. Nothing is in progress for longer than `wait`.
pub(crate) fn said(claimed: Claimed, wait: Duration) -> Value {
    match claimed {
        Claimed::Mine { unknown } => json!({"mine": {"unknown": unknown}}),
        Claimed::Completed(response) => json!({"completed": response.get()}),
        Claimed::InProgress { left } => {
            assert!(left > Duration::ZERO && left <= wait, "{left:?} left");
            json!({"in_progress": true})
        }
        Claimed::Reused => json!({"reused": true}),
    }
}
