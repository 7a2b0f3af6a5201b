//! Which crate of the workspace may depend on which.
//!
//! The arrows are core ← store ← server → api ← sdk ← server, with json at the bottom. They hold
//! for ordinary, build and test dependencies alike. A row is one crate; a crate without a row is
//! a finding, so a new crate settles its place here first.

use serde_json::Value;

use crate::Finding;

/// Each crate of the workspace and the crates of the workspace that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("halyard-json", &[]),
    ("halyard-core", &["halyard-json"]),
    ("halyard-api", &["halyard-json"]),
    ("halyard-store", &["halyard-core", "halyard-json"]),
    (
        "halyard-server",
        &["halyard", "halyard-api", "halyard-core", "halyard-json", "halyard-store"],
    ),
    // With json it makes the fingerprints of the processed store, as core makes those of keys.
    ("halyard", &["halyard-api", "halyard-json"]),
    // The power-cut test drives the store in its own process: a SQLite VFS cannot be put under a
    // running binary.
    ("halyard-tests", &["halyard", "halyard-core", "halyard-json", "halyard-store"]),
    // An example knows what its reader knows.
    ("halyard-example-axum", &["halyard"]),
    ("halyard-example-billing", &["halyard"]),
    ("halyard-example-sqlx", &["halyard"]),
    ("halyard-house", &[]),
];

/// What core must not know: async, clocks, chance, SQL and logs.
const NEVER_IN_CORE: &[&str] = &[
    "async-trait",
    "chrono",
    "futures",
    "futures-util",
    "getrandom",
    "jiff",
    "log",
    "rand",
    "rusqlite",
    "time",
    "tokio",
    "tokio-postgres",
    "tracing",
];

const MEND_ARROW: &str = "move the code to the crate that may know both; an arrow is a decision \
    about the whole house, taken in ARCHITECTURE.md and tests/house/src/arrows.rs";
const MEND_ROW: &str = "add a row to ARROWS in tests/house/src/arrows.rs";
const MEND_CORE: &str = "pass the time, the chance or the result in as a parameter; what must \
    wait, store or log belongs to the store or the server";

/// Checks the answer of `cargo metadata --no-deps`.
#[must_use]
pub fn check(metadata: &Value) -> Vec<Finding> {
    let packages = list(metadata, "packages");
    packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Value) -> Vec<Finding> {
    let name = text(package, "name");
    let Some((_, allowed)) = ARROWS.iter().find(|(row, _)| *row == name) else {
        let what = format!("the crate `{name}` has no place among the arrows");
        return vec![Finding::new("Cargo.toml", 0, what, MEND_ROW)];
    };
    let mut findings = Vec::new();
    for dependency in list(package, "dependencies") {
        let target = text(dependency, "name");
        let in_workspace = dependency.get("path").is_some_and(Value::is_string);
        if in_workspace && !allowed.contains(&target) {
            let what = format!("a new arrow: `{name}` depends on `{target}`");
            findings.push(Finding::new("Cargo.toml", 0, what, MEND_ARROW));
        }
        if name == "halyard-core" && NEVER_IN_CORE.contains(&target) {
            let what = format!("`{name}` depends on `{target}`");
            findings.push(Finding::new("Cargo.toml", 0, what, MEND_CORE));
        }
    }
    findings
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(package: &str, dependencies: &[(&str, bool)]) -> usize {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|(name, here)| json!({"name": name, "path": here.then_some("/x"), "kind": "dev"}))
            .collect();
        let package = json!({"name": package, "dependencies": dependencies});
        check(&json!({"packages": [package]})).len()
    }

    #[test]
    fn arrows() {
        assert_eq!(found("halyard-core", &[("halyard-json", true), ("sha2", false)]), 0);
        assert_eq!(found("halyard-core", &[("halyard-store", true)]), 1);
        assert_eq!(found("halyard-core", &[("tokio", false)]), 1);
        assert_eq!(found("halyard-store", &[("halyard-api", true), ("tokio", false)]), 1);
        assert_eq!(found("halyard", &[("halyard-api", true)]), 0);
        assert_eq!(found("halyard", &[("halyard-core", true)]), 1);
        assert_eq!(found("halyard-tests", &[("halyard-server", true)]), 1);
        assert_eq!(found("halyard-new", &[]), 1);
    }
}
