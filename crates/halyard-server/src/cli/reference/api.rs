//! Every call and every shape of the API, from its OpenAPI description.

mod shape;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::http::openapi;

use shape::{constraint, kind, prose};

/// What a refusal is written in; the introduction tells of its shape.
const PROBLEM: &str = "application/problem+json";

/// The page.
pub(super) fn text() -> String {
    // It is written as JSON on every request for it.
    let document = serde_json::to_value(openapi::document()).unwrap_or_default();
    let mut page = String::from(
        "# The HTTP API, member by member\n\n\
         <!-- Made by `halyard reference api > docs/reference/api.md`; a test finds it stale. \
         -->\n\n\
         Made from [openapi.json](../../openapi.json). [The HTTP API](http.md) tells what the \
         calls do, with\nexamples; here every call has its parameters, its body and its answers, \
         and every shape its members.\nAn answer of another status than 2xx is a \
         [Problem](#problem) whose `code` is one of those named\nbeside the status; \
         [Errors](../errors.md) says what to do about each. A member of a request that may\nbe \
         left out may also be `null`.\n",
    );
    for tag in list(at(&document, "/tags")) {
        let _ =
            write!(page, "\n## {}\n\n{}\n", text_of(&tag["name"]), text_of(&tag["description"]));
        for (path, methods) in members(at(&document, "/paths")) {
            for (method, call) in members(methods) {
                if list(&call["tags"]).contains(&tag["name"]) {
                    describe_call(path, method, call, &mut page);
                }
            }
        }
    }
    page.push_str("\n## Shapes\n");
    for (name, schema) in members(at(&document, "/components/schemas")) {
        describe_shape(name, schema, &mut page);
    }
    page
}

fn describe_call(path: &str, method: &str, call: &Value, page: &mut String) {
    let _ = write!(
        page,
        "\n### {} {path}\n\n{}{}\n",
        method.to_uppercase(),
        text_of(&call["summary"]),
        if call["security"].is_array() { "" } else { " No key is asked for." },
    );
    let parameters = list(&call["parameters"]);
    if !parameters.is_empty() {
        page.push_str("\n| parameter | in | shape | |\n|---|---|---|---|\n");
    }
    for parameter in parameters {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            text_of(&parameter["name"]),
            text_of(&parameter["in"]),
            shaped(&parameter["schema"]),
            cell(&parameter["description"]),
        );
    }
    if let Some(schema) = content(&call["requestBody"]).map(|(_, schema)| kind(schema)) {
        let required = at(call, "/requestBody/required") == true;
        let when = if required { "" } else { " or nothing" };
        let _ = write!(page, "\nBody: {schema}{when}.\n");
    }
    page.push_str("\n| status | answer | |\n|---|---|---|\n");
    for (status, answer) in members(&call["responses"]) {
        let shape = match content(answer) {
            Some((PROBLEM, _)) | None => String::new(),
            Some(("application/json", schema)) => kind(schema),
            Some((media_type, schema)) => format!("`{media_type}`: {}", kind(schema)),
        };
        let _ = writeln!(page, "| {status} | {shape} | {} |", cell(&answer["description"]));
    }
}

fn describe_shape(name: &str, schema: &Value, page: &mut String) {
    let _ = write!(page, "\n### {name}\n\n");
    let told = prose(&schema["description"]);
    if !told.is_empty() {
        let _ = write!(page, "{told}\n\n");
    }
    let values = list(&schema["enum"]);
    if !values.is_empty() {
        let values: Vec<String> =
            values.iter().map(|value| format!("`{}`", text_of(value))).collect();
        let _ = writeln!(page, "One of {}.", values.join(", "));
    } else if schema["properties"].is_object() {
        let required = list(&schema["required"]);
        page.push_str("| member | shape | |\n|---|---|---|\n");
        for (member, value) in members(&schema["properties"]) {
            let name = Value::from(member.as_str());
            let optional = if required.contains(&name) { "" } else { ", may be left out" };
            let _ =
                writeln!(page, "| `{member}` | {}{optional} | {} |", shaped(value), told_of(value));
        }
    } else {
        let _ = writeln!(page, "{}.", shaped(schema));
    }
}

/// What a member is, with the bounds of its values.
fn shaped(schema: &Value) -> String {
    let bounds = constraint(schema);
    if bounds.is_empty() { kind(schema) } else { format!("{}, {bounds}", kind(schema)) }
}

/// A member's description: its own, or that of the one shape that it may have.
fn told_of(schema: &Value) -> String {
    let own = cell(&schema["description"]);
    if own.is_empty() {
        list(&schema["oneOf"]).first().map(|one| cell(&one["description"])).unwrap_or_default()
    } else {
        own
    }
}

/// The one media type that a body or an answer has, with its schema.
fn content(message: &Value) -> Option<(&str, &Value)> {
    let (media_type, content) = message["content"].as_object()?.iter().next()?;
    Some((media_type, &content["schema"]))
}

fn cell(description: &Value) -> String {
    prose(description).replace('|', "\\|")
}

/// What is there; null where nothing is.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn members(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flat_map(Map::iter)
}

fn list(array: &Value) -> &[Value] {
    array.as_array().map_or(&[], Vec::as_slice)
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_page_is_fresh() {
        let committed = include_str!("../../../../../docs/reference/api.md");
        assert!(
            super::text() == committed,
            "docs/reference/api.md is stale; make it anew with: cargo run -q -p halyard-server \
             --bin halyard -- reference api > docs/reference/api.md"
        );
    }
}
