//! No silenced lints, no work left for later.
//!
//! A lint is answered with `#[expect(…, reason = "…")]`, which warns when it is no longer needed;
//! `allow` never does. What is not done is absent from the tree and named where the work is
//! planned, not marked in the source.

use crate::Finding;
use crate::rust_text::{RustText, lines_with_word};
use crate::tree::{File, Tree};

/// Spelled in two halves, so that this file does not find itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const UNFINISHED: &[&str] = &[concat!("to", "do!"), concat!("unimpl", "emented!")];

const MEND_ALLOW: &str = "mend what the lint says, or write `#[expect(lint, reason = \"…\")]`";
const MEND_MARK: &str = "do it now, or leave it out and say so where the work is planned";

/// Checks attributes of Rust files, and marks in every text file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| !is_lock(file)) {
        for mark in MARKS {
            for line in lines_with_word(&file.text, mark) {
                let what = format!("`{mark}` marks work left for later");
                findings.push(Finding::new(&file.path, line, what, MEND_MARK));
            }
        }
    }
    for file in tree.with_extension("rs") {
        let text = RustText::read(&file.text);
        for line in lines_with_allow(&text.code) {
            findings.push(Finding::new(&file.path, line, "silences a lint", MEND_ALLOW));
        }
        for call in UNFINISHED {
            for line in text.lines_with(call) {
                findings.push(Finding::new(&file.path, line, format!("`{call}`"), MEND_MARK));
            }
        }
    }
    findings
}

/// Lock files hold hashes and names that others chose.
pub(crate) fn is_lock(file: &File) -> bool {
    matches!(file.name(), "Cargo.lock" | "package-lock.json" | "python-requirements.txt")
}

/// The lines of attributes that contain `allow(`, in `cfg_attr` too.
fn lines_with_allow(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("#[").chain(code.match_indices("#![")) {
        let rest = code.get(at..).unwrap_or_default();
        let attribute = rest.get(..attribute_length(rest)).unwrap_or(rest);
        let start = code.get(..at).unwrap_or_default().matches('\n').count();
        found.extend(lines_with_word(attribute, "allow(").iter().map(|line| start + line));
    }
    found
}

fn attribute_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth <= 1 => return at,
            ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check as check_rule;

    #[test]
    fn allow() {
        check_rule(check, &[("a.rs", "#[expect(x, reason = \"allow(y)\")]\nlimit.allow(1);")], &[]);
        check_rule(check, &[("a.rs", "\n#![allow(dead_code)]")], &["a.rs:2"]);
        check_rule(check, &[("a.rs", "#[cfg_attr(\n    test,\n    allow(x)\n)]")], &["a.rs:3"]);
    }

    #[test]
    fn later() {
        for mark in MARKS {
            check_rule(check, &[("a.sql", &format!("-- {mark} later"))], &["a.sql:1"]);
            check_rule(check, &[("a.rs", &format!("// {mark}S and {mark}_x"))], &[]);
        }
        for call in UNFINISHED {
            check_rule(check, &[("a.rs", &format!("fn f() {{\n{call}()\n}}"))], &["a.rs:2"]);
            check_rule(check, &[("a.rs", &format!("// no {call}() here"))], &[]);
        }
    }
}
