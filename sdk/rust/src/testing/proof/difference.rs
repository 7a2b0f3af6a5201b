//! Where a world differs from the one of the clean run.

use std::collections::BTreeSet;

use serde_json::Value;

/// One member of the world that is not as it should be.
pub(super) struct Difference {
    /// Its name; `None` when the world has no members.
    pub(super) effect: Option<String>,
    pub(super) expected: Value,
    pub(super) got: Value,
}

/// Every member that differs, in the order of their names.
pub(super) fn all(expected: &Value, got: &Value) -> Vec<Difference> {
    let (Value::Object(wanted), Value::Object(found)) = (expected, got) else {
        let whole = Difference { effect: None, expected: expected.clone(), got: got.clone() };
        return if expected == got { Vec::new() } else { vec![whole] };
    };
    let names: BTreeSet<&String> = wanted.keys().chain(found.keys()).collect();
    let member = |name: &String| {
        let of = |world: &serde_json::Map<String, Value>| world.get(name).cloned();
        let (expected, got) = (of(wanted).unwrap_or_default(), of(found).unwrap_or_default());
        (expected != got).then(|| Difference { effect: Some(name.clone()), expected, got })
    };
    names.into_iter().filter_map(member).collect()
}

/// What is different about an effect, in words: "`charges` has 2 rows, 1 was expected".
pub(super) fn told(effect: &str, expected: &Value, got: &Value) -> String {
    if let (Value::Array(wanted), Value::Array(found)) = (expected, got)
        && wanted.len() != found.len()
    {
        let rows = if found.len() == 1 { "row" } else { "rows" };
        let was = if wanted.len() == 1 { "was" } else { "were" };
        return format!("{effect} has {} {rows}, {} {was} expected", found.len(), wanted.len());
    }
    let mut path = String::new();
    let (expected, got) = deepest(&mut path, expected, got);
    let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
    format!("{effect} is {got}{place}, {expected} was expected")
}

/// The first place that differs, as a JSON pointer, and what is there.
fn deepest<'v>(path: &mut String, expected: &'v Value, got: &'v Value) -> (&'v Value, &'v Value) {
    let next = match (expected, got) {
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut pairs = wanted.iter().zip(found).enumerate();
            let found = pairs.find(|(_, (wanted, found))| wanted != found);
            found.map(|(place, (wanted, found))| (place.to_string(), wanted, found))
        }
        (Value::Object(wanted), Value::Object(found)) => {
            let mut pairs = wanted.iter().filter_map(|(name, wanted)| {
                found.get(name).map(|found| (name.clone(), wanted, found))
            });
            pairs.find(|(_, wanted, found)| wanted != found)
        }
        _ => None,
    };
    match next {
        Some((name, expected, got)) => {
            path.push('/');
            path.push_str(&name.replace('~', "~0").replace('/', "~1"));
            deepest(path, expected, got)
        }
        None => (expected, got),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(expected: &Value, got: &Value, texts: &[&str]) {
        let differences = all(expected, got);
        let told = |difference: &Difference| {
            let effect = difference.effect.as_deref().unwrap_or("the world");
            super::told(effect, &difference.expected, &difference.got)
        };
        assert_eq!(differences.iter().map(told).collect::<Vec<_>>(), texts);
    }

    #[test]
    fn differences_in_words() {
        check(&json!({"a": [1], "b": 2}), &json!({"a": [1], "b": 2}), &[]);
        let rows = &["a has 2 rows, 1 was expected", "b is 3, 2 was expected"];
        check(&json!({"a": [1], "b": 2}), &json!({"a": [1, 1], "b": 3}), rows);
        check(&json!({"a": [1, 2]}), &json!({"a": [1]}), &["a has 1 row, 2 were expected"]);
        check(
            &json!({"a": [{"s": "paid", "t": 1}]}),
            &json!({"a": [{"s": "open", "t": 1}]}),
            &[r#"a is "open" at `/0/s`, "paid" was expected"#],
        );
        check(&json!({"a": 1}), &json!({}), &["a is null, 1 was expected"]);
        check(&json!(1), &json!(2), &["the world is 2, 1 was expected"]);
        check(&json!({"a": {"b": 1}}), &json!({"a": {}}), &[r#"a is {}, {"b":1} was expected"#]);
    }
}
