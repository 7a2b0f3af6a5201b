//! The rules of this repository that a program can check.
//!
//! Purpose: a rule that only stands in CONTRIBUTING.md is forgotten; one that stands here fails
//! `make test` and says how to mend what it found.
//!
//! Map, one file per rule:
//! - [`arrows`]: which crate may depend on which, and what core must never depend on.
//! - [`imports`]: who may name core, the wire types and the SDK inside the server.
//! - [`sizes`]: lines of a file, lines of a function, columns of a line.
//! - [`names`]: no folder, file or module whose name says nothing.
//! - [`front_pages`]: crate roots and folders open with their front page.
//! - [`marks`]: no silenced lints, no work left for later.
//! - [`deaf_and_blind`]: core and store never ask for the time, for chance or for sleep.
//! - [`sql`]: statements of the store stand in `.sql` files.
//! - [`origins`]: nothing of the machine that wrote a file, no registry but the default ones.
//! - [`stages`]: no end-to-end test that `make test` forgets.
//! - [`links`]: relative links of Markdown files lead somewhere.
//! - [`snippets`]: code on a page is cut from a file that the page links to.
//!
//! [`tree`] reads the repository, [`rust_text`] tells code, comments and strings apart.
//!
//! Deliberately absent: a parser of Rust. The rules look at text, which is quick to compile and
//! precise enough; where the compiler or clippy can hold a rule better, it stands in their
//! settings. There is no list of exceptions either: a rule that does not fit is changed here.
//!
//! To add a rule: a file with `check(&Tree) -> Vec<Finding>` and a test on planted files that
//! breaks it, a line above, and a test in `tests/house.rs` that runs it on the repository.

pub mod arrows;
pub mod deaf_and_blind;
pub mod front_pages;
pub mod imports;
pub mod links;
pub mod marks;
pub mod names;
pub mod origins;
pub mod rust_text;
pub mod sizes;
pub mod snippets;
pub mod sql;
pub mod stages;
pub mod tree;

use std::fmt;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the top of the repository, with `/` between its parts.
    pub path: String,
    /// The line, counted from 1; 0 when the finding concerns the whole file.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
    /// How to mend it.
    pub mend: &'static str,
}

impl Finding {
    /// A finding about one line, or with `line` 0 about the whole file.
    #[must_use]
    pub fn new(path: &str, line: usize, what: impl Into<String>, mend: &'static str) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), mend }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => writeln!(f, "{}: {}", self.path, self.what)?,
            line => writeln!(f, "{}:{line}: {}", self.path, self.what)?,
        }
        write!(f, "    to mend: {}", self.mend)
    }
}

/// A rule that is broken, or could not be checked. Its `Debug` is the bare text, which is what the
/// test runner prints, without a backtrace that would bury the list.
pub struct Broken(String);

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<anyhow::Error> for Broken {
    fn from(error: anyhow::Error) -> Self {
        Self(format!("{error:#}"))
    }
}

/// `Ok` without findings; otherwise an error that lists them all under the rule's name.
///
/// # Errors
/// When there is at least one finding.
pub fn verdict(rule: &str, mut findings: Vec<Finding>) -> Result<(), Broken> {
    if findings.is_empty() {
        return Ok(());
    }
    findings.sort();
    let list = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    Err(Broken(format!("the rule on {rule} is broken in {} places:\n{list}", findings.len())))
}

/// Test support: a rule on planted files, and the places (`path:line`) that it should find.
#[cfg(test)]
pub(crate) fn check(
    rule: impl Fn(&tree::Tree) -> Vec<Finding>,
    files: &[(&str, &str)],
    expected: &[&str],
) {
    let mut findings = rule(&tree::Tree::planted(files));
    findings.sort();
    let found: Vec<String> =
        findings.iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect();
    assert_eq!(found, expected, "on {files:?}:\n{findings:#?}");
}
