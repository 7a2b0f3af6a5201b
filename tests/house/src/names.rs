//! No folder, file or module whose name says nothing.
//!
//! A drawer called `util` fills up with what nobody found a place for. One name is not ours to
//! choose: Django looks for an app's tables in `models.py`, beside its `views.py`.

use crate::Finding;
use crate::rust_text::RustText;
use crate::tree::Tree;

const EMPTY_NAMES: &[&str] =
    &["common", "helper", "helpers", "misc", "models", "types", "util", "utils"];

const MEND: &str = "name it after what it is about, or move each thing to the file of its noun or \
    verb";

/// Checks the paths of all files, and the modules written inside Rust files.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or(part).to_lowercase();
            if EMPTY_NAMES.contains(&stem.as_str()) && !is_djangos(&file.path, tree) {
                let what = format!("`{part}` is a name that says nothing");
                findings.push(Finding::new(&file.path, 0, what, MEND));
            }
        }
    }
    for file in tree.with_extension("rs") {
        let text = RustText::read(&file.text);
        for name in EMPTY_NAMES {
            for line in text.lines_with(&format!("mod {name}")) {
                let what = format!("the module `{name}` has a name that says nothing");
                findings.push(Finding::new(&file.path, line, what, MEND));
            }
        }
    }
    findings
}

fn is_djangos(path: &str, tree: &Tree) -> bool {
    let app = path.strip_suffix("models.py");
    app.is_some_and(|app| tree.file(&format!("{app}views.py")).is_some())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    #[test]
    fn names() {
        check_rule(check, &[("src/claim.rs", "mod commons;"), ("src/typeset.md", "")], &[]);
        check_rule(check, &[("src/util/claim.rs", "")], &["src/util/claim.rs:0"]);
        check_rule(check, &[("web/Types.d.ts", "")], &["web/Types.d.ts:0"]);
        check_rule(check, &[("a/models.py", "")], &["a/models.py:0"]);
        check_rule(check, &[("a/models.py", ""), ("a/views.py", "")], &[]);
        check_rule(check, &[("a.rs", "// mod util\n\nmod helpers {}")], &["a.rs:3"]);
    }
}
