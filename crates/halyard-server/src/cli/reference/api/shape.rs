//! A schema in words: what a value is, and its bounds.

use serde_json::Value;

/// Where the shapes are, in a reference.
const SCHEMAS: &str = "#/components/schemas/";

/// What a value is, with links to the shapes that have a name: "list of [Job](#job) or null".
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix(SCHEMAS)) {
        return format!("[{name}](#{})", anchor(name));
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return choices.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    match &schema["type"] {
        Value::String(name) => named(name, schema),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|name| named(name, schema)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any JSON".to_owned(),
    }
}

fn named(name: &str, schema: &Value) -> String {
    match (name, schema["format"].as_str()) {
        ("array", _) => format!("list of {}", kind(&schema["items"])),
        ("object", _) if schema["additionalProperties"].is_object() => {
            format!("object of {} by name", kind(&schema["additionalProperties"]))
        }
        ("string", Some("date-time")) => "time".to_owned(),
        _ => name.to_owned(),
    }
}

/// The bounds of a value: "1 to 255 code points"; nothing where there are none.
pub(super) fn constraint(schema: &Value) -> String {
    [
        bounds(&schema["minimum"], &schema["maximum"], ""),
        bounds(&schema["minLength"], &schema["maxLength"], " code points"),
        bounds(&schema["minItems"], &schema["maxItems"], " of them"),
    ]
    .concat()
}

fn bounds(least: &Value, most: &Value, unit: &str) -> String {
    match (least.is_null(), most.is_null()) {
        (true, true) => String::new(),
        // Every count and length has this bound.
        (false, true) if *least == 0 => String::new(),
        (false, true) => format!("{least} or more{unit}"),
        (true, false) => format!("at most {most}{unit}"),
        (false, false) => format!("{least} to {most}{unit}"),
    }
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    heading.to_lowercase()
}

/// A description in one line.
pub(super) fn prose(description: &Value) -> String {
    description.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn schemas_in_words() {
        let check = |schema: Value, kind: &str, constraint: &str| {
            assert_eq!(super::kind(&schema), kind, "{schema}");
            assert_eq!(super::constraint(&schema), constraint, "{schema}");
        };
        let job = "#/components/schemas/Job";
        check(json!({}), "any JSON", "");
        check(json!({"$ref": job}), "[Job](#job)", "");
        check(json!({"oneOf": [{"$ref": job}, {"type": "null"}]}), "[Job](#job) or null", "");
        check(
            json!({"type": ["array", "null"], "items": {"$ref": job}, "maxItems": 10}),
            "list of [Job](#job) or null",
            "at most 10 of them",
        );
        check(json!({"type": "string", "format": "date-time"}), "time", "");
        check(
            json!({"type": "string", "minLength": 1, "maxLength": 255}),
            "string",
            "1 to 255 code points",
        );
        check(json!({"type": "integer", "minimum": 0}), "integer", "");
        check(json!({"type": "integer", "minimum": 1}), "integer", "1 or more");
        check(
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            "object of integer by name",
            "",
        );
    }
}
