//! What a browser may be made to do by somebody else's page: each route against foreign sites,
//! forms, foreign names of this server, frames and caches.

use halyard_server::http::access::Access;
use halyard_server::http::routes::{ROUTES, Route};
use http::Method;
use serde_json::{Value, json};

use crate::access::path;
use crate::served::{KEY, Reply, Served};

/// What a page may do; a rule more or less is a decision.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
    form-action 'self'; require-trusted-types-for 'script'";

/// Who signed in here, and is on another page now.
async fn cookie(served: &Served) -> String {
    let reply = served.post("/v1/session", json!({"key": KEY})).await;
    reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// What a browser sends for its person, whom this server knows.
async fn browse(served: &Served, route: &Route, headers: &[(&str, &str)], body: &str) -> Reply {
    let method = if route.path == "/v1/events" { "HEAD" } else { route.method.as_str() };
    served.send(method, &path(route), headers, body.as_bytes()).await
}

fn is_page(route: &Route) -> bool {
    route.access == Access::Page && route.method == Method::GET
}

#[tokio::test]
async fn no_other_site_reaches_a_route() {
    let known = Served::start_with_key().await;
    let (served, cookie) = (Served::stranger(&known), cookie(&known).await);
    let form = "application/x-www-form-urlencoded";
    for route in ROUTES.iter().filter(|route| route.access != Access::Probe && !is_page(route)) {
        for foreign in [
            &[("Sec-Fetch-Site", "cross-site")][..],
            &[("Sec-Fetch-Site", "same-site")],
            &[("Origin", "https://evil.test")],
            &[("Origin", "null")],
            &[("Origin", "http://127.0.0.1:1"), ("Sec-Fetch-Site", "same-site")],
            // What a form of another site can send without being asked first.
            &[("Origin", "https://evil.test"), ("Content-Type", "text/plain")],
            &[("Origin", "https://evil.test"), ("Content-Type", form)],
        ] {
            let headers = [&[("Cookie", cookie.as_str())], foreign].concat();
            let reply = browse(&served, route, &headers, "{\"task\":\"t\"}").await;
            let told = format!("{} {} {foreign:?}: {reply:?}", route.method, route.path);
            assert_eq!(reply.status, 403, "{told}");
            assert!(route.path == "/v1/events" || reply.code() == "forbidden", "{told}");
        }
    }
    assert_eq!(known.get("/v1/jobs").await.json["data"], json!([]));
    assert_eq!(known.get("/v1/stats").await.json["totals"]["created"], 0);
}

/// A form can be sent by a page that this server itself does not serve, from an old browser that
/// says nothing of its origin: it cannot say that its body is JSON.
#[tokio::test]
async fn a_body_that_is_no_json_changes_nothing() {
    let served = Served::start().await;
    for route in ROUTES.iter().filter(|route| route.method == Method::POST) {
        for media_type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
        {
            let headers = [("Content-Type", media_type)];
            let reply = browse(&served, route, &headers, "{\"task\":\"t\"}").await;
            let told = format!("{} {media_type}: {reply:?}", route.path);
            assert_eq!((reply.status, reply.code()), (415, "unsupported_media_type"), "{told}");
        }
    }
}

#[tokio::test]
async fn no_route_answers_to_a_foreign_name() {
    let known = Served::start_with_key().await;
    let (served, cookie) = (Served::stranger(&known), cookie(&known).await);
    for route in ROUTES.iter().filter(|route| route.access != Access::Probe) {
        for host in ["evil.test", "localhost.evil.test", "127.0.0.1.nip.test", "localhost."] {
            let headers = [("Host", host), ("Cookie", cookie.as_str())];
            let reply = browse(&served, route, &headers, "").await;
            let told = format!("{} {} {host}: {reply:?}", route.method, route.path);
            assert_eq!(reply.status, 421, "{told}");
        }
    }
}

#[tokio::test]
async fn nothing_is_framed_kept_guessed_or_led_elsewhere() {
    let served = Served::start_with_key().await;
    for route in ROUTES {
        let reply = browse(&served, route, &[], "").await;
        let told = format!("{} {}: {reply:?}", route.method, route.path);
        assert!(!(300..400).contains(&reply.status), "a redirect: {told}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{told}");
        assert_eq!(reply.header("access-control-allow-origin"), None, "{told}");
        let is_file = reply.status == 200 && matches!(route.path, "/" | "/icon.svg");
        let kept = if is_file { "no-cache" } else { "no-store" };
        assert_eq!(reply.header("cache-control"), Some(kept), "{told}");
        if is_file {
            assert_eq!(reply.header("content-security-policy"), Some(POLICY), "{told}");
        }
    }
    let asked = [("Access-Control-Request-Method", "POST"), ("Origin", "https://evil.test")];
    let reply = served.call_with("OPTIONS", "/v1/jobs", &asked, Value::Null).await;
    assert_eq!((reply.status, reply.code()), (405, "method_not_allowed"));
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

/// A browser is shown the page, which says that there is nothing; a program gets a problem.
#[tokio::test]
async fn an_unknown_address_is_answered_as_it_was_asked() {
    let served = Served::start_with_key().await;
    let browser = [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    for path in ["/nonsense", "/job", "/jobs/a/b", "/jobs/%ff", "/assets"] {
        let reply = served.send("GET", path, &browser, b"").await;
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(reply.header("content-security-policy"), Some(POLICY), "{path}");
    }
    let head = served.send("HEAD", "/nonsense", &browser, b"").await;
    assert_eq!(head.header("content-type"), Some("text/html; charset=utf-8"), "{head:?}");
    let foreign = [browser[0], ("Host", "evil.test")];
    let reply = Served::stranger(&served).send("GET", "/nonsense", &foreign, b"").await;
    assert_eq!((reply.status, reply.code()), (421, "unknown_host"), "{reply:?}");
    let programs = [
        ("GET", "/nonsense", &[][..]),
        ("GET", "/nonsense", &[("Accept", "*/*")]),
        ("POST", "/nonsense", &browser),
        ("GET", "/v1/nonsense", &browser),
    ];
    for (method, path, headers) in programs {
        let reply = served.send(method, path, headers, b"").await;
        assert_eq!((reply.status, reply.code()), (404, "not_found"), "{method} {path}: {reply:?}");
    }
}

/// The dashboard's own list of its pages is where a person finds them.
#[tokio::test]
async fn every_page_of_the_dashboard_has_its_address() {
    let served = Served::start_with_key().await;
    let pages = include_str!("../../../../dashboard/src/frame/pages.tsx");
    let after = |begin: &str| pages.split(begin).skip(1).collect::<Vec<_>>();
    let listed = [after("{ path: \""), after("  admins(\"")].concat();
    let paths: Vec<&str> = listed.iter().map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(paths.len() >= 9 && paths.contains(&"/jobs/:id"), "{paths:?}");
    for path in paths {
        let reply = served.get(&path.replace(":id", "x")).await;
        assert_eq!((reply.status, reply.header("etag").is_some()), (200, true), "{path}");
    }
}

/// What a build without Node.js serves in the dashboard's place.
#[test]
fn the_page_in_the_dashboards_place_says_how_to_build_it_and_obeys_its_policy() {
    let page = include_str!("../../stub/index.html");
    assert!(page.contains("make build"), "{page}");
    for forbidden in ["<script", "<style", "style=", "http://", "https://"] {
        assert!(!page.contains(forbidden), "{forbidden} in {page}");
    }
    assert!(include_str!("../../stub/icon.svg").contains("<svg"));
}

#[tokio::test]
async fn a_get_changes_nothing_whatever_it_says_it_is() {
    let served = Served::start().await;
    let id = served.create(json!({"task": "t"})).await;
    let before = served.get(&format!("/v1/jobs/{id}")).await.json;
    for header in ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"] {
        for method in ["DELETE", "POST"] {
            for route in ROUTES.iter().filter(|route| route.method == Method::GET) {
                let path = route.path.replace("{id}", &id).replace("{name}", "default");
                if path != "/v1/events" {
                    served.call_with("GET", &path, &[(header, method)], Value::Null).await;
                }
            }
        }
    }
    assert_eq!(served.get(&format!("/v1/jobs/{id}")).await.json, before);
    assert_eq!(served.get("/v1/audit").await.json["data"], json!([]));
}
