//! Records as the other SDKs write them.

use std::time::Duration;

use halyard::processed::{Claim, Store};
use serde_json::Value;

use crate::cases::said;
use crate::{key, services, table};

/// The claim that the list asks each of its records.
fn claim(key: &str, record: &Value) -> Claim {
    Claim {
        key: key.to_owned(),
        fingerprint: record["postgres"]["fingerprint"].as_str().expect("a fingerprint").to_owned(),
        owner: "the reader".to_owned(),
        in_progress: Duration::from_secs(60),
        expires_in: Duration::from_secs(3_600),
    }
}

const FAR: Duration = Duration::from_secs(200 * 365 * 24 * 3_600);

#[tokio::test]
async fn in_redis() {
    let (mut redis, store) = (services::redis().await, services::redis_store().await);
    for record in table("records") {
        let key = key("record");
        let text = record["redis"].as_str().expect("a record");
        let name = format!("halyard:processed:{key}");
        let mut set = redis::cmd("SET");
        set.arg(&name).arg(text).arg("PXAT").arg(4_102_444_800_000_u64);
        set.query_async::<()>(&mut redis).await.expect("a record");
        let claimed = store.claim(&claim(&key, &record)).await.expect("a claim");
        assert_eq!(said(claimed, FAR), record["claim_gets"], "{}", record["name"]);
    }
}

/// What this SDK writes has the members that the others read.
#[tokio::test]
async fn as_written_to_redis() {
    let (mut redis, store) = (services::redis().await, services::redis_store().await);
    let record = &table("records")[0];
    let (key, hour) = (key("record"), Duration::from_secs(3_600));
    let claim = claim(&key, record);
    store.claim(&claim).await.expect("a claim");
    let response = serde_json::value::RawValue::from_string("{\"charge\":\"ch_1\"}".to_owned());
    let response = response.expect("JSON");
    store.complete(&key, &claim.owner, &response, hour).await.expect("a record");
    let name = format!("halyard:processed:{key}");
    let text: String = redis::cmd("GET").arg(&name).query_async(&mut redis).await.expect("text");
    let expires_at: u64 =
        redis::cmd("PEXPIRETIME").arg(&name).query_async(&mut redis).await.expect("a time");
    let mut written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["expires_at"], expires_at);
    assert!(written["in_progress_until"].as_u64().expect("a time") > 1_700_000_000_000);
    assert_eq!(written["owner"], "the reader");
    let mut wanted: Value =
        serde_json::from_str(record["redis"].as_str().expect("a record")).expect("JSON");
    for name in ["expires_at", "in_progress_until", "owner"] {
        written[name].take();
        wanted[name].take();
    }
    assert_eq!(written, wanted);
}

#[tokio::test]
async fn in_postgres() {
    let (client, store) = (services::postgres().await, services::postgres_store().await);
    for record in table("records") {
        let key = key("record");
        let row = record["postgres"].to_string();
        let insert = "insert into halyard_processed select $1, fingerprint, state, owner, unknown, \
            in_progress_until, response, expires_at \
            from json_populate_record(null::halyard_processed, $2::text::json)";
        client.execute(insert, &[&key, &row]).await.expect("a record");
        let claimed = store.claim(&claim(&key, &record)).await.expect("a claim");
        assert_eq!(said(claimed, FAR), record["claim_gets"], "{}", record["name"]);
    }
}

#[tokio::test]
async fn expired_rows_are_pruned() {
    let (client, store) = (services::postgres().await, services::postgres_store().await);
    client.batch_execute("create schema if not exists pruned").await.expect("a schema");
    let store = store.table("pruned.records").expect("a name");
    store.migrate().await.expect("a table");
    for (key, expires_in) in [("old", 0), ("older", 0), ("new", 3_600)] {
        let claim = Claim {
            key: key.to_owned(),
            fingerprint: "1:".to_owned(),
            owner: "me".to_owned(),
            in_progress: Duration::ZERO,
            expires_in: Duration::from_secs(expires_in),
        };
        store.claim(&claim).await.expect("a claim");
    }
    assert_eq!(store.prune().await.expect("a prune"), 2);
    let left = client.query_one("select key from pruned.records", &[]).await.expect("one row");
    assert_eq!(left.get::<_, &str>(0), "new");
    client.batch_execute("drop schema pruned cascade").await.expect("no schema");
    for name in ["x; drop table y", "A", "", "a.b.c", "a."] {
        store.clone().table(name).expect_err(name);
    }
}
