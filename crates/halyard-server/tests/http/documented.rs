//! The pages for people name what the code has, and nothing else.

use std::collections::BTreeSet;

use halyard_api::problem::Code;
use halyard_server::http::access::Access;
use halyard_server::http::openapi;
use halyard_server::http::routes::ROUTES;
use serde_json::Value;

use crate::served::Served;

fn page(name: &str) -> String {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");
    std::fs::read_to_string(docs.to_owned() + name).unwrap()
}

/// The cells of each row of the tables below a heading.
fn rows<'p>(page: &'p str, heading: &str) -> Vec<Vec<&'p str>> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| --"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_call_is_in_the_reference() {
    let page = page("reference/http.md");
    let shown: BTreeSet<(String, String)> = rows(&page, "Every call")
        .iter()
        .filter(|row| row[0] != "call")
        .map(|row| (row[0].trim_matches('`').to_owned(), row[1].to_owned()))
        .collect();
    let routed: BTreeSet<(String, String)> = ROUTES
        .iter()
        .map(|route| {
            let call = format!("{} {}", route.method, route.path);
            let role = match route.access {
                Access::Role(role) => role.as_str(),
                Access::Probe | Access::Open | Access::Page | Access::SignIn => "none",
            };
            (call, role.to_owned())
        })
        .collect();
    assert_eq!(shown, routed);
}

#[test]
fn every_code_is_in_the_reference_with_its_status() {
    let page = page("reference/http.md");
    let mut shown = BTreeSet::new();
    for row in rows(&page, "Refusals") {
        for word in quoted(row[1]).into_iter().filter_map(Code::from_word) {
            assert!(row[0].contains(&word.status().to_string()), "{word} in {row:?}");
            shown.insert(word.as_str());
        }
    }
    assert_eq!(shown, Code::ALL.iter().map(|code| code.as_str()).collect());
}

/// The names of the properties of a schema and of what it refers to.
fn properties<'d>(document: &'d Value, schema: &'d Value, names: &mut BTreeSet<&'d str>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let part = reference.rsplit('/').next().unwrap();
        return properties(document, &document["components"]["schemas"][part], names);
    }
    for either in schema["oneOf"].as_array().into_iter().flatten() {
        properties(document, either, names);
    }
    if schema["items"].is_object() {
        properties(document, &schema["items"], names);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name);
        properties(document, member, names);
    }
}

#[test]
fn every_member_and_parameter_of_a_request_is_in_the_reference() {
    let page = page("reference/http.md");
    let document: Value = serde_json::from_str(&openapi::text()).unwrap();
    let mut names = BTreeSet::new();
    for item in document["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            properties(&document, body, &mut names);
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if parameter["in"] == "query" {
                    names.insert(parameter["name"].as_str().unwrap());
                }
            }
        }
    }
    assert!(names.contains("idempotency_ttl_ms") && names.contains("forget_key"), "{names:?}");
    for name in names {
        let forms = [format!("`{name}`"), format!("\"{name}\""), format!("{name}=")];
        assert!(forms.iter().any(|form| page.contains(form)), "{name} is not on the page");
    }
}

#[tokio::test]
async fn every_metric_is_in_the_operations_page() {
    let served = Served::start().await;
    // The first page counts no request yet.
    served.get("/metrics").await;
    let metrics = served.get("/metrics").await.body;
    let families = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let counted: BTreeSet<String> = families
        .map(|family| match family.split_once(' ').unwrap() {
            (name, "counter") => format!("{name}_total"),
            (name, _) => name.to_owned(),
        })
        .collect();
    let page = page("operations/serving.md");
    // A setting of PostgreSQL's sessions has a dot in its name.
    let is_metric = |word: &&str| word.starts_with("halyard_") && !word.contains('.');
    let named = quoted(&page).into_iter().filter(is_metric);
    assert_eq!(named.map(str::to_owned).collect::<BTreeSet<_>>(), counted);
}

/// The command line's own page is held fresh by its test.
#[test]
fn every_setting_is_in_the_operations_page() {
    let cli = page("reference/cli.md");
    let (_, serve) = cli.split_once("\n## halyard serve\n").unwrap();
    let serve = serve.split("\n## ").next().unwrap();
    let flags = serve.lines().filter_map(|line| line.trim().strip_prefix("--"));
    let flags = flags.map(|flag| format!("--{}", flag.split(' ').next().unwrap()));
    let variables = serve.split("[env: ").skip(1).map(|rest| rest.split(']').next().unwrap());
    let known: BTreeSet<(String, String)> = variables.map(str::to_owned).zip(flags).collect();
    let page = page("operations/serving.md");
    let shown: BTreeSet<(String, String)> = rows(&page, "Settings")
        .iter()
        .filter(|row| row[0] != "variable")
        .map(|row| (row[0].trim_matches('`').to_owned(), row[1].trim_matches('`').to_owned()))
        .collect();
    assert_eq!(shown, known);
    assert!(shown.len() > 10, "{shown:?}");
}
