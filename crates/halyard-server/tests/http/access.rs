//! Who may call what, walked from the route table.

use halyard_server::access::secret::KeyHash;
use halyard_server::http::access::Access;
use halyard_server::http::routes::{ROUTES, Route};
use halyard_server::serve::Settings;
use serde_json::{Value, json};

use crate::keyring::{bearer, make_key, sign_in};
use crate::served::{KEY, PATIENCE, Reply, Served, settings};

pub(crate) fn path(route: &Route) -> String {
    route.path.replace("{id}", "job_01jdvw3k8pf5tvn2c7m9a0r4xq").replace("{name}", "none")
}

pub(crate) async fn call(served: &Served, route: &Route, headers: &[(&str, &str)]) -> Reply {
    let method = route.method.as_str();
    if route.path == "/v1/events" {
        // Events do not end by themselves: only its head is read.
        return served.call_with("HEAD", route.path, headers, Value::Null).await;
    }
    served.call_with(method, &path(route), headers, Value::Null).await
}

#[tokio::test]
async fn every_route_asks_for_the_key_that_its_row_says() {
    let served =
        Served::with(Settings { key: Some(KeyHash::of(KEY.as_bytes())), ..settings() }).await;
    let good = format!("Bearer {KEY}");
    let lower = format!("bearer {KEY}");
    let longer = format!("Bearer {KEY}x");
    for route in ROUTES {
        let needs_key = matches!(route.access, Access::Role(_));
        for bad in
            [None, Some("Bearer wrong"), Some(longer.as_str()), Some("Basic eDp5"), Some(KEY)]
        {
            let headers: Vec<(&str, &str)> =
                bad.into_iter().map(|value| ("Authorization", value)).collect();
            let reply = call(&served, route, &headers).await;
            let refused = reply.status == 401;
            assert_eq!(
                refused, needs_key,
                "{} {} with {bad:?}: {reply:?}",
                route.method, route.path
            );
            if refused && route.path != "/v1/events" {
                assert_eq!(reply.code(), "unauthenticated");
                assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
            }
        }
        for key in [&good, &lower] {
            let reply = call(&served, route, &[("Authorization", key)]).await;
            assert!(!matches!(reply.status, 0 | 401 | 403), "{}: {reply:?}", route.path);
        }
        let twice = [("Authorization", good.as_str()), ("Authorization", good.as_str())];
        assert_eq!(call(&served, route, &twice).await.status == 401, needs_key, "{}", route.path);
    }
}

#[tokio::test]
async fn read_only_refuses_what_may_change_something() {
    let served = Served::with(Settings { read_only: true, ..settings() }).await;
    for route in ROUTES {
        let reply = call(&served, route, &[]).await;
        // Who only looks signs in and out as well.
        let changes = route.method != http::Method::GET && route.path != "/v1/session";
        assert_eq!(reply.code() == "read_only", changes, "{}: {reply:?}", route.path);
        assert_eq!(reply.status == 403, changes, "{}: {reply:?}", route.path);
    }
}

#[tokio::test]
async fn hosts() {
    let served =
        Served::with(Settings { allowed_hosts: vec!["jobs.test".to_owned()], ..settings() }).await;
    for good in [
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost:7373",
        "LOCALHOST",
        "[::1]:80",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "jobs.test",
        "Jobs.Test:8080",
    ] {
        let reply = served.call_with("GET", "/v1/stats", &[("Host", good)], Value::Null).await;
        assert_eq!(reply.status, 200, "{good}: {reply:?}");
    }
    for bad in [
        "evil.test",
        "localhost.evil.test",
        "127.0.0.1.nip.test",
        "localhost.",
        "10.0.0.1",
        "[::2]",
        "0x7f.1",
    ] {
        for path in ["/v1/stats", "/v1/events", "/", "/version", "/openapi.json", "/metrics"] {
            let reply = served.call_with("GET", path, &[("Host", bad)], Value::Null).await;
            assert_eq!((reply.status, reply.code()), (421, "unknown_host"), "{bad} {path}");
        }
    }
    for broken in ["", "a b", "me@127.0.0.1", "127.0.0.1:port", "localhost, localhost"] {
        let reply = served.call_with("GET", "/v1/stats", &[("Host", broken)], Value::Null).await;
        assert_eq!((reply.status, reply.code()), (400, "invalid_field"), "{broken:?} {reply:?}");
    }
    for probe in ["/healthz", "/readyz"] {
        let reply = served.call_with("GET", probe, &[("Host", "evil.test")], Value::Null).await;
        assert_eq!(reply.status, 200);
        let reply = served.raw(format!("GET {probe} HTTP/1.0\r\n\r\n").as_bytes()).await;
        assert_eq!(reply.status, 200);
    }
}

#[tokio::test]
async fn a_missing_or_doubled_host_and_another_target() {
    let served = Served::start().await;
    for (request, code) in [
        ("GET /v1/stats HTTP/1.1\r\nConnection: close\r\n\r\n", "missing_field"),
        ("GET /v1/stats HTTP/1.0\r\n\r\n", "missing_field"),
        (
            "GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\
                Connection: close\r\n\r\n",
            "invalid_field",
        ),
        (
            "GET http://evil.test/v1/stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "invalid_field",
        ),
    ] {
        let reply = served.raw(request.as_bytes()).await;
        assert_eq!((reply.status, reply.code()), (400, code), "{request:?} {reply:?}");
        assert_eq!(reply.json["errors"][0]["pointer"], "Host");
    }
    let same =
        "GET http://localhost/version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(served.raw(same.as_bytes()).await.status, 200);
}

#[tokio::test]
async fn a_valid_key_passes_under_any_host() {
    let served = Served::start_with_key().await;
    let host = [("Host", "behind.a.proxy")];
    assert_eq!(served.call_with("GET", "/v1/stats", &host, Value::Null).await.status, 200);
    let bad = [("Host", "behind.a.proxy"), ("Authorization", "Bearer x")];
    assert_eq!(served.call_with("GET", "/v1/stats", &bad, Value::Null).await.status, 421);
}

#[tokio::test]
async fn browsers_call_from_this_servers_own_pages_only() {
    let served = Served::start().await;
    let own = format!("http://{}", served.address);
    let create = |headers: Vec<(&'static str, String)>| {
        let served = &served;
        async move {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            served.call_with("POST", "/v1/jobs", &headers, json!({"task": "t"})).await
        }
    };
    let site = |value: &str| vec![("Sec-Fetch-Site", value.to_owned())];
    let origin = |value: &str| vec![("Origin", value.to_owned())];
    for good in [vec![], site("same-origin"), origin(&own)] {
        assert_eq!(create(good.clone()).await.status, 201, "{good:?}");
    }
    let mut both = site("same-origin");
    both.extend(origin("http://evil.test"));
    for bad in [
        site("cross-site"),
        site("same-site"),
        site("none"),
        origin("http://evil.test"),
        origin("null"),
        origin("http://127.0.0.1:1"),
        origin("file://"),
        both,
    ] {
        let reply = create(bad.clone()).await;
        assert_eq!((reply.status, reply.code()), (403, "forbidden"), "{bad:?}");
    }
    let from = |path: &'static str, value: &'static str| {
        let served = &served;
        async move {
            let site = [("Sec-Fetch-Site", value)];
            served.call_with("GET", path, &site, Value::Null).await
        }
    };
    assert_eq!(from("/v1/stats", "cross-site").await.status, 403);
    assert_eq!(from("/v1/stats", "none").await.status, 200, "typed by hand");
    assert_eq!(from("/", "cross-site").await.status, 200, "a link to the page, which has no data");
}

#[test]
fn what_is_kept_of_a_key_does_not_show_it() {
    let settings = Settings { key: Some(KeyHash::of(KEY.as_bytes())), ..settings() };
    assert!(!format!("{settings:?}").contains(KEY));
    assert!(format!("{settings:?}").contains("KeyHash(…)"));
}

#[tokio::test]
async fn a_read_only_server_waits_for_no_lease() {
    let served = Served::start().await;
    served.post("/v1/jobs", json!({"task": "t"})).await;
    let claim = json!({"worker": {"id": "w"}, "queues": ["default"], "lease_ms": 3_600_000});
    let claimed = served.post("/v1/jobs/claim", claim).await;
    assert_eq!(claimed.json["jobs"].as_array().unwrap().len(), 1, "{claimed:?}");
    let mut reader = served.beside(Settings { read_only: true, ..settings() }).await;
    let drained = reader.running.take().unwrap().drain(2 * PATIENCE);
    tokio::time::timeout(PATIENCE, drained).await.expect("it waits for a report it refuses");
}

/// Its text is in this answer and nowhere else, so that is given whatever the store does next.
#[tokio::test]
async fn a_key_that_is_made_is_given_though_the_store_cannot_be_read() {
    let served = Served::start_with_key().await;
    served.refuse_reads(true);
    let reply = served.post("/v1/api-keys", json!({"name": "app", "role": "producer"})).await;
    assert_eq!(reply.status, 201, "{reply:?}");
    served.refuse_reads(false);
    let authorization = format!("Bearer {}", reply.json["key"].as_str().unwrap());
    let known = async || {
        let headers = [("Authorization", authorization.as_str())];
        served.call_with("GET", "/v1/session", &headers, Value::Null).await.status == 200
    };
    let soon = async { while !known().await {} };
    tokio::time::timeout(PATIENCE, soon).await.expect("the loop loads it");
}

/// Whatever a program does all day, it pushes out no line of an operator.
#[tokio::test]
async fn only_operators_are_in_the_audit_log() {
    let served = Served::start_with_key().await;
    let (_, key) = make_key(&served, "app", "producer").await;
    let (authorization, cookie) = (bearer(&key), sign_in(&served, &key).await);
    for headers in [("Authorization", authorization.as_str()), ("Cookie", cookie.as_str())] {
        let path = format!("/v1/jobs/{}/cancel", served.create(json!({"task": "t"})).await);
        let stranger = Served::stranger(&served);
        let reply = stranger.call_with("POST", &path, &[headers], Value::Null).await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    let audit = served.get("/v1/audit").await;
    let lines = audit.json["data"].as_array().unwrap().iter();
    let actions: Vec<&str> = lines.map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["cancel", "sign_in", "create_key"], "one cancel was of a browser");
}
