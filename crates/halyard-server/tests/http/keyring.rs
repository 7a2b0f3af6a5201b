//! Keys with roles, and the browsers that sign in with them.

use std::time::Duration;

use halyard_core::role::Role;
use halyard_server::http::access::Access;
use halyard_server::http::routes::ROUTES;
use halyard_server::serve::Settings;
use halyard_store::access::{By, Keyring as _};
use serde_json::{Value, json};

use crate::access::call;
use crate::served::{KEY, Reply, Served, settings};

/// Makes a key and gives its id and text.
pub(crate) async fn make_key(served: &Served, name: &str, role: &str) -> (String, String) {
    let reply = served.post("/v1/api-keys", json!({"name": name, "role": role})).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    let text = |name: &str| reply.json[name].as_str().unwrap().to_owned();
    (text("id"), text("key"))
}

pub(crate) async fn revoke(served: &Served, id: &str) -> Reply {
    served.call("DELETE", &format!("/v1/api-keys/{id}"), Value::Null).await
}

/// Signs in and gives what the browser sends from then on.
pub(crate) async fn sign_in(served: &Served, key: &str) -> String {
    let reply = served.post("/v1/session", json!({"key": key})).await;
    assert_eq!((reply.status, reply.body.as_str()), (204, ""), "{reply:?}");
    let cookie = reply.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
        assert!(cookie.split("; ").any(|it| it == part), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

pub(crate) fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

/// Each route against a key and a cookie of each role, and of a key that was revoked.
#[tokio::test]
async fn every_route_asks_for_the_role_that_its_row_says() {
    let served = Served::start_with_key().await;
    for role in ["producer", "worker", "admin", "revoked"] {
        let has = Role::parse(role);
        let (id, key) = make_key(&served, role, has.map_or("admin", Role::as_str)).await;
        let known = sign_in(&served, &key).await;
        if has.is_none() {
            assert_eq!(revoke(&served, &id).await.status, 204);
        }
        for route in ROUTES {
            // The walk itself signs out.
            let cookie = match has {
                Some(_) => sign_in(&served, &key).await,
                None => known.clone(),
            };
            let keyed = [("Authorization", bearer(&key))];
            let signed_in = [("Authorization", String::new()), ("Cookie", cookie)];
            for proof in [&keyed[..], &signed_in[1..]] {
                let headers: Vec<(&str, &str)> =
                    proof.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let reply = call(&Served::stranger(&served), route, &headers).await;
                let expected = match (route.access, has) {
                    (Access::Role(_), None) => Some((401, "unauthenticated")),
                    (Access::Role(needed), Some(has)) if has < needed => Some((403, "forbidden")),
                    _ => None,
                };
                let told = format!("{role}, {} {}: {reply:?}", route.method, route.path);
                match expected {
                    Some((status, code)) => {
                        assert_eq!(reply.status, status, "{told}");
                        assert!(route.path == "/v1/events" || reply.code() == code, "{told}");
                    }
                    None => assert!(!matches!(reply.status, 0 | 401 | 403), "{told}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn a_key_is_made_listed_used_and_revoked() {
    let served = Served::start_with_key().await;
    let (id, key) = make_key(&served, "ci \u{1f680} <b>", "producer").await;
    assert!(key.starts_with("hyd_") && id.starts_with("key_"), "{id} {key}");
    let keyed = [("Authorization", bearer(&key))];
    let keyed = [(keyed[0].0, keyed[0].1.as_str())];
    let who = served.call_with("GET", "/v1/session", &keyed, Value::Null).await;
    let expected = json!({"role": "producer", "name": "ci \u{1f680} <b>", "read_only": false});
    assert_eq!(who.json, expected);
    let list = served.get("/v1/api-keys").await;
    let row = &list.json["data"][0];
    assert_eq!((&row["id"], &row["role"]), (&json!(id), &json!("producer")));
    assert!(row["last_used_at"].is_null() && row.get("key").is_none(), "{row}");
    assert!(!list.body.contains(&key));

    assert_eq!(revoke(&served, &id).await.status, 204);
    let reply = served.call_with("GET", "/v1/session", &keyed, Value::Null).await;
    assert_eq!((reply.status, reply.code()), (401, "unauthenticated"));
    let again = revoke(&served, &id).await;
    assert_eq!((again.status, again.code()), (404, "not_found"));
    assert_eq!(served.get("/v1/api-keys").await.json, json!({"data": []}));
}

#[tokio::test]
async fn bad_keys_are_refused_with_what_is_wrong() {
    let served = Served::start_with_key().await;
    let long = "n".repeat(129);
    for (body, code, pointer) in [
        (json!({"role": "admin"}), "missing_field", "/name"),
        (json!({"name": "x"}), "missing_field", "/role"),
        (json!({"name": "", "role": "admin"}), "invalid_field", "/name"),
        (json!({"name": " x", "role": "admin"}), "invalid_field", "/name"),
        (json!({"name": long, "role": "admin"}), "invalid_field", "/name"),
        (json!({"name": "x", "role": "owner"}), "invalid_field", "/role"),
        (json!({"name": "x", "role": "admin", "rolle": 1}), "unknown_field", "/rolle"),
    ] {
        let reply = served.post("/v1/api-keys", body.clone()).await;
        assert_eq!((reply.status, reply.code()), (400, code), "{body}: {reply:?}");
        assert_eq!(reply.json["errors"][0]["pointer"], pointer, "{reply:?}");
    }
    for body in [json!({}), json!({"key": 1}), json!({"key": "x", "password": "y"})] {
        assert_eq!(served.post("/v1/session", body).await.status, 400);
    }
    let reply = served.get("/v1/audit?cursor=nonsense").await;
    assert_eq!((reply.status, reply.code()), (400, "cursor_mismatch"));
}

#[tokio::test]
async fn a_cookie_dies_with_its_key_or_at_the_sign_out() {
    let served = Served::start_with_key().await;
    let stranger = Served::stranger(&served);
    let (id, key) = make_key(&served, "person", "admin").await;
    let who = async |cookie: &str| {
        stranger.call_with("GET", "/v1/session", &[("Cookie", cookie)], Value::Null).await
    };
    let (first, second) = (sign_in(&served, &key).await, sign_in(&served, &key).await);
    let configured = sign_in(&served, KEY).await;
    assert_ne!(first, second);
    assert_eq!(who(&configured).await.json["name"], "HALYARD_API_KEY");
    assert_eq!(who(&format!("theme=dark; {first}; x=y")).await.status, 200);
    assert_eq!(who(&format!("{first}; {second}")).await.status, 401, "which one?");
    // What another server on another port of this host set is sent here too.
    for other in ["halyard_session_1=x", "halyard_session=x"] {
        assert_eq!(who(&format!("{other}; {first}")).await.status, 200);
        assert_eq!(who(other).await.status, 401);
    }

    let out = stranger.call_with("DELETE", "/v1/session", &[("Cookie", &first)], Value::Null).await;
    assert_eq!(out.status, 204);
    let name = first.split('=').next().unwrap();
    assert_eq!(name, format!("halyard_session_{}", served.address.port()));
    assert!(out.header("set-cookie").unwrap().starts_with(&format!("{name}=; ")), "{out:?}");
    assert_eq!((who(&first).await.status, who(&second).await.status), (401, 200));
    assert_eq!(revoke(&served, &id).await.status, 204);
    assert_eq!((who(&second).await.status, who(&configured).await.status), (401, 200));
    // Whoever has a cookie is still a browser.
    let foreign = [("Cookie", configured.as_str()), ("Origin", "http://evil.test")];
    let reply = stranger.call_with("POST", "/v1/jobs", &foreign, json!({"task": "t"})).await;
    assert_eq!((reply.status, reply.code()), (403, "forbidden"));
    let host = [("Cookie", configured.as_str()), ("Host", "evil.test")];
    let reply = stranger.call_with("GET", "/v1/stats", &host, Value::Null).await;
    assert_eq!((reply.status, reply.code()), (421, "unknown_host"));
    let tls = [("Origin", "https://127.0.0.1"), ("Host", "127.0.0.1:443")];
    let reply = stranger.call_with("POST", "/v1/session", &tls, json!({"key": KEY})).await;
    assert!(reply.header("set-cookie").unwrap().ends_with("; Secure"), "{reply:?}");
}

#[tokio::test]
async fn wrong_keys_are_tried_ten_times_a_minute() {
    let served = Served::start_with_key().await;
    let stranger = Served::stranger(&served);
    for _ in 0..10 {
        let reply = stranger.post("/v1/session", json!({"key": "guess"})).await;
        assert_eq!((reply.status, reply.code()), (401, "unauthenticated"));
        assert_eq!(reply.header("set-cookie"), None);
    }
    let reply = stranger.post("/v1/session", json!({"key": KEY})).await;
    assert_eq!((reply.status, reply.code()), (401, "unauthenticated"), "the right one waits, too");
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    let keyed = [("Authorization", bearer(KEY))];
    let keyed = [(keyed[0].0, keyed[0].1.as_str())];
    let reply = stranger.call_with("GET", "/v1/stats", &keyed, Value::Null).await;
    assert_eq!(reply.status, 200, "calls with a key go on");

    // Behind a proxy they all come from one address: strangers keep nobody out.
    let (id, key) = make_key(&served, "person", "admin").await;
    sign_in(&served, &key).await;
    let guess = format!("hyd_{}_{}", id.trim_start_matches("key_"), "0".repeat(64));
    for _ in 0..10 {
        assert_eq!(stranger.post("/v1/session", json!({"key": guess})).await.status, 401);
    }
    let reply = stranger.post("/v1/session", json!({"key": key})).await;
    assert_eq!((reply.status, reply.code()), (401, "unauthenticated"), "it was tried too often");
    assert!(reply.header("retry-after").is_some());
    let (_, other) = make_key(&served, "other", "admin").await;
    sign_in(&served, &other).await;
}

#[tokio::test]
async fn the_first_admins_key_closes_an_open_server() {
    let served = Served::start().await;
    let open = json!({"role": "admin", "name": null, "read_only": false});
    assert_eq!(served.get("/v1/session").await.json, open);
    let reply = served.post("/v1/api-keys", json!({"name": "worker", "role": "worker"})).await;
    assert_eq!((reply.status, reply.code()), (400, "invalid_field"), "it would lock everybody out");
    assert_eq!(reply.json["errors"][0]["pointer"], "/role", "{reply:?}");
    assert_eq!(served.get("/v1/session").await.json, open);
    let (id, key) = make_key(&served, "admin", "admin").await;
    assert_eq!(served.get("/v1/session").await.status, 401);
    let keyed = [("Authorization", bearer(&key))];
    let keyed = [(keyed[0].0, keyed[0].1.as_str())];
    let last = format!("/v1/api-keys/{id}");
    let reply = served.call_with("DELETE", &last, &keyed, Value::Null).await;
    assert_eq!((reply.status, reply.code()), (403, "forbidden"));
    assert!(reply.json["detail"].as_str().unwrap().contains("last key"), "{reply:?}");
    let who = served.call_with("GET", "/v1/session", &keyed, Value::Null).await;
    assert_eq!(who.json["name"], "admin");
    // Whoever has the store takes the last key away: that lets nobody in who has none.
    let by = By { actor: "test".into(), key_id: None, request_id: "".into() };
    let (worker, _) = halyard_server::access::secret::make_key("worker", Role::Worker, 1);
    let id = halyard_core::id::KeyId::parse(&id).unwrap();
    let (store, keyring) = (&served.engine().store, &served.engine().keyring);
    store.create_api_key(worker.clone(), by.clone()).await.unwrap();
    for last in [id, worker.id] {
        store.revoke_api_key(last, false, by.clone()).await.unwrap();
        keyring.load(&**store).await.unwrap();
        assert_eq!(served.get("/v1/session").await.status, 401);
    }
}

/// A proxy that asks for a password has the browser send it with each call.
#[tokio::test]
async fn a_password_for_the_proxy_stands_beside_a_cookie() {
    let served = Served::start_with_key().await;
    let stranger = Served::stranger(&served);
    let cookie = sign_in(&served, KEY).await;
    let guess = bearer("guess");
    for (authorization, status) in [
        ("Basic YTpi", 200),
        ("Negotiate abc", 200),
        (guess.as_str(), 401),
        ("Bearer", 401),
        ("bearer ", 401),
        ("", 401),
    ] {
        let headers = [("Cookie", cookie.as_str()), ("Authorization", authorization)];
        let reply = stranger.call_with("GET", "/v1/session", &headers, Value::Null).await;
        assert_eq!(reply.status, status, "{authorization}");
    }
    let foreign = [
        ("Cookie", cookie.as_str()),
        ("Authorization", "Basic YTpi"),
        ("Origin", "http://evil.test"),
    ];
    let reply = stranger.call_with("POST", "/v1/jobs", &foreign, json!({"task": "t"})).await;
    assert_eq!((reply.status, reply.code()), (403, "forbidden"));
    let alone = [("Authorization", "Basic YTpi")];
    assert_eq!(stranger.call_with("GET", "/v1/stats", &alone, Value::Null).await.status, 401);
}

#[tokio::test]
async fn read_only_servers_let_people_sign_in() {
    let key = Some(halyard_server::access::secret::KeyHash::of(KEY.as_bytes()));
    let served = Served::with(Settings { key, read_only: true, ..settings() }).await;
    let cookie = sign_in(&served, KEY).await;
    let headers = [("Cookie", cookie.as_str())];
    let who = served.call_with("GET", "/v1/session", &headers, Value::Null).await;
    assert_eq!((&who.json["role"], &who.json["read_only"]), (&json!("admin"), &json!(true)));
    let refused = served.call_with("POST", "/v1/jobs", &headers, json!({"task": "t"})).await;
    assert_eq!(refused.code(), "read_only");
    let reply = served.call_with("DELETE", "/v1/session", &headers, Value::Null).await;
    assert_eq!(reply.status, 204);
}

/// A second server on the same store opens to a key at once, and lets go of it within a second.
#[tokio::test]
async fn keys_of_one_server_open_the_others() {
    let served = Served::start_with_key().await;
    let store = &served.engine().store;
    let (key, secret) =
        halyard_server::access::secret::make_key("elsewhere", Role::Worker, store.now());
    let by = By { actor: "test".into(), key_id: None, request_id: "".into() };
    store.create_api_key(key.clone(), by.clone()).await.unwrap();
    served.engine().keyring.load(&**store).await.unwrap();
    let keyed = [("Authorization", bearer(secret.text()))];
    let keyed = [(keyed[0].0, keyed[0].1.as_str())];
    let reply = served.call_with("GET", "/v1/session", &keyed, Value::Null).await;
    assert_eq!(reply.json["role"], "worker");
    assert_eq!(served.engine().keyring.used().len(), 1);
    halyard_server::engine::audit::tick(served.engine()).await.unwrap();
    assert_eq!(served.engine().keyring.used(), []);
    let list = served.get("/v1/api-keys").await;
    assert!(list.json["data"][0]["last_used_at"].is_string(), "{list:?}");
    store.revoke_api_key(key.id, true, by).await.unwrap();
    served.engine().keyring.load(&**store).await.unwrap();
    let reply = served.call_with("GET", "/v1/session", &keyed, Value::Null).await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn the_audit_log_says_who_did_what_to_how_many() {
    let served = Served::start_with_key().await;
    let (id, key) = make_key(&served, "operator", "admin").await;
    let cookie = sign_in(&served, &key).await;
    let act = async |method: &str, path: &str, body: Value| {
        let headers = [("Cookie", cookie.as_str())];
        let reply = Served::stranger(&served).call_with(method, path, &headers, body).await;
        assert!(reply.status < 300, "{path}: {reply:?}");
        reply.header("x-request-id").unwrap().to_owned()
    };
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(served.create(json!({"task": "t"})).await);
    }
    let bulk = json!({"action": "cancel", "ids": jobs, "filter": "state=queued"});
    let request_id = act("POST", "/v1/jobs/bulk", bulk).await;
    act("POST", &format!("/v1/jobs/{}/retry", jobs[0]), Value::Null).await;
    act("POST", "/v1/queues/default/pause", Value::Null).await;
    act("DELETE", &format!("/v1/jobs/{}", jobs[1]), Value::Null).await;
    let page = served.get("/v1/audit?limit=4").await;
    let lines = page.json["data"].as_array().unwrap();
    let told: Vec<(&str, &str, u64)> = lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap_or_default();
            (text("action"), text("target"), line["count"].as_u64().unwrap())
        })
        .collect();
    let expected = [
        ("delete", "", 1),
        ("pause", "default", 1),
        ("retry", "", 1),
        ("cancel", "state=queued", 3),
    ];
    assert_eq!(told, expected);
    let cancel = &lines[3];
    assert_eq!((&cancel["actor"], &cancel["key_id"]), (&json!("operator"), &json!(id)));
    assert_eq!(cancel["request_id"], request_id);
    assert_eq!(cancel["job_ids"], json!(jobs));
    let next = page.json["next_cursor"].as_str().unwrap();
    let rest = served.get(&format!("/v1/audit?cursor={next}")).await;
    let told = |at: usize, name: &str| rest.json["data"][at][name].as_str().map(str::to_owned);
    assert_eq!(told(0, "action").unwrap(), "sign_in");
    assert_eq!(told(1, "action").unwrap(), "create_key");
    assert_eq!(told(1, "actor").unwrap(), "HALYARD_API_KEY");
    assert_eq!(told(1, "target").unwrap(), format!("operator ({id})"));
    assert!(rest.json["next_cursor"].is_null());
}

/// A stolen cookie is worth nothing after twelve hours: the clock is the store's.
#[tokio::test]
async fn a_cookie_ends_by_the_clock() {
    use halyard_server::access::keyring::{Keyring, Proof};
    use halyard_server::access::secret::{KeyHash, Secret};
    use halyard_store::access::SignIn;
    use halyard_store::clock::ManualClock;
    use halyard_store::memory::Memory;
    use halyard_store::options::Options;

    let clock = std::sync::Arc::new(ManualClock::at(1_800_000_000_000));
    let store = Memory::open(Options { clock: clock.clone(), ..Options::default() });
    let keyring = Keyring::new(Some(KeyHash::of(b"k")), [127, 0, 0, 1].into());
    let secret = Secret::make();
    let by = By { actor: "test".into(), key_id: None, request_id: "".into() };
    let sign_in = SignIn {
        hash: secret.hash(),
        key_hash: KeyHash::of(b"k").0,
        expires_at: 1_800_000_000_000 + halyard_server::access::SESSION_MS,
    };
    store.sign_in(sign_in, by).await.unwrap();
    keyring.load(&store).await.unwrap();
    let who = async || keyring.caller(&store, Some(Proof::Cookie(secret.text().as_bytes()))).await;
    let caller = who().await.unwrap();
    clock.advance(i64::try_from(Duration::from_secs(12 * 3600 - 1).as_millis()).unwrap());
    assert!(who().await.is_some() && keyring.stands(&caller, 1_800_000_000_000));
    clock.advance(1_000);
    assert!(who().await.is_none());
    assert!(!keyring.stands(&caller, 1_800_000_000_000 + halyard_server::access::SESSION_MS));
}

/// A client that hangs up between its revocation and the server's look leaves no key behind.
#[tokio::test]
async fn what_a_lost_call_revoked_is_seen_within_a_look() {
    let served = Served::start_with_key().await;
    let (_, key) = make_key(&served, "left", "worker").await;
    let headers = [("Authorization", bearer(&key))];
    let headers = [(headers[0].0, headers[0].1.as_str())];
    let (engine, store) = (served.engine(), &served.engine().store);
    let id = store.access().await.unwrap().keys[0].id;
    let by = By { actor: "test".into(), key_id: None, request_id: "".into() };
    store.revoke_api_key(id, true, by).await.unwrap();
    halyard_server::engine::access::tick(engine).await.unwrap();
    let reply = served.call_with("GET", "/v1/session", &headers, Value::Null).await;
    assert_eq!(reply.status, 401, "{reply:?}");
}
