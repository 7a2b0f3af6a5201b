//! Who may name what inside the server.
//!
//! Core and the wire types meet in one place, `http/convert.rs` (or files of a folder of that
//! name): elsewhere a file of the server names at most one of the two. The Rust SDK is for the
//! command line only: the rest of the server has no client of itself.

use crate::rust_text::RustText;
use crate::tree::Tree;
use crate::{Finding, rust_text};

const SERVER: &str = "crates/halyard-server/src/";

const MEND_MEET: &str = "let http/convert.rs turn one into the other and name only one of the two \
    here";
const MEND_SDK: &str = "call the engine or the store directly; only cli/ speaks to a server as a \
    client";

/// Checks the sources of `halyard-server`.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_extension("rs") {
        let Some(inside) = file.path.strip_prefix(SERVER) else { continue };
        let code = RustText::read(&file.text).code;
        let first = |word| rust_text::lines_with_word(&code, word).first().copied();
        let may_meet = inside == "http/convert.rs" || inside.starts_with("http/convert/");
        if let (Some(core), Some(api)) = (first("halyard_core"), first("halyard_api"))
            && !may_meet
        {
            let what = format!("names halyard_core (line {core}) and halyard_api (line {api})");
            findings.push(Finding::new(&file.path, core.max(api), what, MEND_MEET));
        }
        if let Some(line) = first("halyard::")
            && !inside.starts_with("cli/")
        {
            findings.push(Finding::new(&file.path, line, "names the Rust SDK", MEND_SDK));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    #[test]
    fn meetings() {
        let both = "use halyard_core::Job;\nuse halyard_api::jobs;";
        check_rule(check, &[("crates/halyard-server/src/http/convert.rs", both)], &[]);
        check_rule(check, &[("crates/halyard-store/src/lib.rs", both)], &[]);
        let path = "crates/halyard-server/src/http/jobs/create.rs";
        check_rule(check, &[(path, both)], &[&format!("{path}:2")]);
        check_rule(check, &[(path, "// halyard_core\nuse halyard_api::jobs;")], &[]);
    }

    #[test]
    fn the_sdk() {
        let text = "\nuse halyard::Client;";
        check_rule(check, &[("crates/halyard-server/src/cli/jobs.rs", text)], &[]);
        let path = "crates/halyard-server/src/engine/promote.rs";
        check_rule(check, &[(path, text)], &[&format!("{path}:2")]);
        check_rule(check, &[(path, "use halyard_server::x;")], &[]);
    }
}
