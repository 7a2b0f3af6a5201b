//! Core and store never ask for the time, for chance or for sleep; neither do the server's
//! requests and loops ask for the time of day.
//!
//! They come in as parameters, so a test sets them and a replay meets the same ones. Only a file
//! called `clock.rs` asks the operating system. `clippy.toml` of both crates says the same of the
//! calls that it can resolve; this rule reads every path, tests included.

use crate::Finding;
use crate::rust_text::RustText;
use crate::tree::Tree;

const CALENDAR: &[&str] = &["SystemTime::now", "Timestamp::now", "Utc::now", "Zoned::now"];
const CHANCE_AND_SLEEP: &[&str] = &[
    "Instant::now",
    "Uuid::new_v4",
    "Uuid::now_v7",
    "rand::random",
    "rand::rng",
    "thread::sleep",
    "time::interval",
    "time::sleep",
];

/// Whole crates, under all of the rule.
const DEAF_AND_BLIND: &[&str] = &["crates/halyard-core/", "crates/halyard-store/"];
/// Folders that are told the time of day, but measure durations and wait on their own.
const TOLD_THE_TIME: &[&str] =
    &["crates/halyard-server/src/engine/", "crates/halyard-server/src/http/"];

const MEND: &str = "take the time, the random bytes or the deadline as a parameter; clock.rs alone \
    asks the operating system";

/// Checks the Rust files of core and store, and of the server's `engine` and `http`.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_extension("rs").filter(|file| file.name() != "clock.rs") {
        let lies_in = |folders: &[&str]| folders.iter().any(|folder| file.path.starts_with(folder));
        let told = lies_in(TOLD_THE_TIME);
        let blind = lies_in(DEAF_AND_BLIND);
        let calendar = CALENDAR.iter().filter(|_| told || blind);
        let others = CHANCE_AND_SLEEP.iter().filter(|_| blind);
        let text = RustText::read(&file.text);
        for call in calendar.chain(others) {
            for line in text.lines_with(call) {
                findings.push(Finding::new(&file.path, line, format!("asks `{call}`"), MEND));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    #[test]
    fn senses() {
        let asks = "fn f() {\n    std::thread::sleep(x);\n    SystemTime::now()\n}";
        let path = "crates/halyard-core/src/lease.rs";
        check_rule(check, &[(path, asks)], &[&format!("{path}:2"), &format!("{path}:3")]);
        check_rule(check, &[("crates/halyard-store/src/clock.rs", asks)], &[]);
        let path = "crates/halyard-server/src/http/jobs/claim.rs";
        check_rule(check, &[(path, asks)], &[&format!("{path}:3")]);
        check_rule(check, &[("crates/halyard-server/src/cli/demo.rs", asks)], &[]);
        check_rule(check, &[("crates/halyard-core/src/a.rs", "// Instant::now is absent")], &[]);
    }
}
