//! What is left to whoever waits when their key is revoked, and to others when none is left.

use halyard_core::role::Role;
use halyard_server::http::events::HEARTBEAT;
use halyard_store::access::{By, Keyring as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::keyring::{bearer, make_key, revoke, sign_in};
use crate::served::{PATIENCE, Served};

/// Whoever waits when their key is revoked gets nothing more, and no job is given to them.
#[tokio::test]
async fn waits_end_when_their_key_is_revoked() {
    let served = Served::start_with_key().await;
    let (id, key) = make_key(&served, "leaver", "worker").await;
    let cookie = sign_in(&served, &key).await;
    let quiet = served.create(json!({"task": "t", "queue": "quiet"})).await;
    let keyed = [("Authorization", bearer(&key))];
    let keyed = [(keyed[0].0, keyed[0].1.as_str())];
    let claim = json!({"worker": {"id": "w"}, "queues": ["idle"], "wait_ms": 50_000});
    let stranger = Served::stranger(&served);
    let browser = [("Cookie", cookie.as_str())];
    let (read, made) = (format!("/v1/jobs/{quiet}?wait_ms=50000"), "/v1/jobs?wait_ms=50000");
    let body = json!({"task": "t", "queue": "quiet"});
    let waits = async {
        tokio::join!(
            stranger.call_with("POST", "/v1/jobs/claim", &keyed, claim),
            stranger.call_with("GET", &read, &browser, Value::Null),
            stranger.call_with("POST", made, &keyed, body),
        )
    };
    let revoked = async {
        let hints = &served.engine().hints;
        while hints.claims.waiting() == 0 || hints.reads.jobs().len() < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(revoke(&served, &id).await.status, 204);
        served.create(json!({"task": "t", "queue": "idle"})).await
    };
    let ((claimed, read, made), idle) = tokio::join!(waits, revoked);
    assert_eq!((claimed.status, claimed.code()), (401, "unauthenticated"), "{claimed:?}");
    assert_eq!((read.status, read.code()), (401, "unauthenticated"), "{read:?}");
    assert_eq!((made.status, &made.json["state"]), (201, &json!("queued")), "it was made");
    let idle = served.get(&format!("/v1/jobs/{idle}")).await;
    assert_eq!((&idle.json["state"], &idle.json["starts"]), (&json!("queued"), &json!(0)));
}

#[tokio::test]
async fn events_end_when_their_key_is_revoked() {
    let served = Served::start_with_key().await;
    let (id, key) = make_key(&served, "listener", "producer").await;
    let headers = [("Authorization", bearer(&key))];
    let headers = [(headers[0].0, headers[0].1.as_str()), ("Connection", "keep-alive")];
    let request = served.request("GET", "/v1/events", &headers, b"");
    let mut stream = served.connect().await;
    stream.write_all(&request).await.unwrap();
    let mut seen = String::new();
    let mut read = async |until: &str| {
        while !seen.contains(until) {
            let mut bytes = [0; 4096];
            let read = tokio::time::timeout(PATIENCE, stream.read(&mut bytes)).await;
            match read.expect("an event in time").unwrap() {
                0 => return seen.clone(),
                count => seen.push_str(&String::from_utf8_lossy(&bytes[..count])),
            }
        }
        seen.clone()
    };
    let first = served.create(json!({"task": "t"})).await;
    assert!(read(&first).await.contains(&first));
    assert_eq!(revoke(&served, &id).await.status, 204);
    // The end of a body in chunks; it waits for no event, nor for the next sign of life.
    let end = tokio::time::timeout(HEARTBEAT, read("\r\n0\r\n")).await;
    assert!(end.is_ok(), "the stream ends with its key");
}

/// A key of another role in the store keeps a server shut that has no admin's key.
#[tokio::test]
async fn a_workers_key_alone_opens_nothing_to_others() {
    use halyard_server::access::keyring::Keyring;
    use halyard_store::memory::Memory;
    use halyard_store::options::Options;

    let store = Memory::open(Options::default());
    let by = By { actor: "test".into(), key_id: None, request_id: "".into() };
    let (worker, _) = halyard_server::access::secret::make_key("worker", Role::Worker, 1);
    let keyring = Keyring::new(None, [127, 0, 0, 1].into());
    keyring.load(&store).await.unwrap();
    assert!(keyring.is_open() && keyring.caller(&store, None).await.is_some());
    store.create_api_key(worker, by).await.unwrap();
    keyring.load(&store).await.unwrap();
    assert!(!keyring.is_open() && keyring.caller(&store, None).await.is_none());
}
