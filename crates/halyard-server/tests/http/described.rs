//! The OpenAPI document.

use std::collections::BTreeSet;

use halyard_api::problem::Code;
use halyard_server::http::openapi;
use halyard_server::http::routes::ROUTES;
use serde_json::Value;

use crate::served::Served;

#[test]
fn the_committed_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == openapi::text(),
        "openapi.json is stale; make it anew: cargo run -p halyard-server -- openapi > openapi.json"
    );
}

#[test]
fn the_document_and_the_route_table_name_the_same_calls() {
    let document: Value = serde_json::from_str(&openapi::text()).unwrap();
    let mut described = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            described.insert((path.clone(), method.to_uppercase()));
        }
    }
    let routed: BTreeSet<_> =
        ROUTES.iter().map(|route| (route.path.to_owned(), route.method.to_string())).collect();
    assert_eq!(described, routed);
}

/// The `type` of a refusal leads somewhere: the server gives the page, and the page has a heading
/// whose anchor is the fragment. A heading of one word of lower case and underscores is its own
/// anchor in every Markdown viewer.
#[tokio::test]
async fn the_type_of_every_code_leads_to_its_heading() {
    let served = Served::start_with_key().await;
    for code in Code::ALL {
        let documentation = code.documentation();
        let (path, anchor) = documentation.split_once('#').unwrap();
        // As a browser opens it by a link from a log, without a key.
        let link = [("Sec-Fetch-Site", "cross-site"), ("Authorization", "")];
        let page = served.call_with("GET", path, &link, Value::Null).await;
        assert_eq!(page.status, 200, "{page:?}");
        assert_eq!(page.header("content-type"), Some("text/plain; charset=utf-8"));
        assert!(page.header("content-disposition").is_none());
        let headings: Vec<&str> =
            page.body.lines().filter(|line| line.trim_start_matches('#') != *line).collect();
        let wanted = format!("### {anchor}");
        assert_eq!(headings.iter().filter(|heading| **heading == wanted).count(), 1, "{code}");
        assert!(anchor.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{anchor}");
    }
}

#[test]
fn every_code_of_a_route_is_described() {
    let document: Value = serde_json::from_str(&openapi::text()).unwrap();
    for route in ROUTES {
        let method = route.method.as_str().to_lowercase();
        let responses = &document["paths"][route.path][&method]["responses"];
        for code in route.codes() {
            let response = &responses[code.status().to_string()];
            let description = response["description"].as_str().unwrap_or_default();
            assert!(description.contains(code.as_str()), "{} {}: {code}", method, route.path);
            assert!(response["content"]["application/problem+json"].is_object());
        }
    }
}
