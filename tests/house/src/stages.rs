//! Every end-to-end test has its own stage in the Makefile.
//!
//! A test target that no stage names would be forgotten by `make test` without anybody noticing.

use crate::Finding;
use crate::rust_text::lines_with_word;
use crate::tree::Tree;

const MANIFEST: &str = "tests/Cargo.toml";
const MAKEFILE: &str = "Makefile";

const MEND: &str = "add a stage to one of the `test-` targets in the Makefile: \
    $(STAGE) <name> $(END_TO_END) --test <name>";

/// Checks the test targets of the end-to-end package.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(manifest) = tree.file(MANIFEST) else { return Vec::new() };
    let makefile = tree.file(MAKEFILE).map(|file| file.text.as_str()).unwrap_or_default();
    let mut in_test = false;
    let mut findings = Vec::new();
    for (line, number) in manifest.text.lines().zip(1..) {
        if line.starts_with('[') {
            in_test = line.trim() == "[[test]]";
        }
        let name = line.strip_prefix("name = \"").and_then(|rest| rest.split('"').next());
        let Some(name) = name.filter(|_| in_test) else { continue };
        if lines_with_word(makefile, &format!("--test {name}")).is_empty() {
            let what = format!("the test `{name}` has no stage");
            findings.push(Finding::new(MANIFEST, number, what, MEND));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    #[test]
    fn stages() {
        let manifest = "[package]\nname = \"x\"\n[[test]]\nname = \"kill\"\n[lib]\nname = \"y\"\n";
        let with = |makefile| [("tests/Cargo.toml", manifest), ("Makefile", makefile)];
        check_rule(check, &with("\t$(STAGE) kill x --test kill\n"), &[]);
        check_rule(check, &with("\t$(STAGE) kill x --test killer\n"), &["tests/Cargo.toml:4"]);
    }
}
