//! Statements of the store stand in `.sql` files.
//!
//! There each has a comment on why it and its index are as they are, and a search for `claim`
//! finds it. In Rust only the words around a statement may stand: pragmas and transactions. Files
//! called `tests.rs` or lying in a `tests` folder may ask the database what they like.

use crate::Finding;
use crate::rust_text::RustText;
use crate::tree::{File, Tree};

const STORE: &str = "crates/halyard-store/src/";

/// How a statement begins. Lower-case ones need two words, to leave English sentences alone.
const OPENINGS: &[&str] = &[
    "ALTER ",
    "CREATE ",
    "DELETE ",
    "DROP ",
    "EXPLAIN ",
    "INSERT ",
    "REPLACE ",
    "SELECT ",
    "UPDATE ",
    "WITH ",
    "alter table ",
    "create index ",
    "create table ",
    "delete from ",
    "drop table ",
    "insert into ",
    "select * ",
    "select count",
    "with recursive ",
];

const MEND: &str = "move the statement to a .sql file beside this one, with a comment on why, and \
    read it with include_str!";

/// Checks the string literals of the store's sources.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_extension("rs").filter(|file| is_source_of_store(file)) {
        for literal in RustText::read(&file.text).literals {
            if is_statement(&literal.text) {
                let what = "an SQL statement inside Rust";
                findings.push(Finding::new(&file.path, literal.line, what, MEND));
            }
        }
    }
    findings
}

fn is_source_of_store(file: &File) -> bool {
    let inside = file.path.strip_prefix(STORE);
    inside.is_some_and(|inside| !inside.contains("tests/") && file.name() != "tests.rs")
}

fn is_statement(text: &str) -> bool {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    OPENINGS.iter().any(|opening| words.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    const PATH: &str = "crates/halyard-store/src/sqlite/claim.rs";

    #[test]
    fn statements() {
        let found = [format!("{PATH}:2")];
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        check_rule(check, &[(PATH, "x(\n\"\n    SELECT 1\")")], &found);
        check_rule(check, &[(PATH, "\nr#\"delete\nfrom job\"#")], &found);
        check_rule(
            check,
            &[(PATH, "\"PRAGMA user_version\"; \"BEGIN IMMEDIATE\"; \"COMMIT\"")],
            &[],
        );
        check_rule(check, &[(PATH, "\"select a queue first\" // SELECT 1")], &[]);
        check_rule(check, &[("crates/halyard-store/src/sqlite/tests.rs", "\"SELECT 1\"")], &[]);
        check_rule(check, &[("crates/halyard-core/src/a.rs", "\"SELECT 1\"")], &[]);
    }
}
