//! Nothing of the machine that wrote a file, and no registry but the default ones.
//!
//! A clone builds anywhere: no absolute path of somebody's home, no package index of a company or
//! a workplace, no dependency from git.

use crate::Finding;
use crate::marks::is_lock;
use crate::tree::{File, Tree};

/// Spelled in two halves, so that this file does not find itself.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];
const REGISTRY_SETTINGS: &[&str] = &[
    concat!("index", "-url"),
    concat!("INDEX", "_URL"),
    concat!("replace", "-with"),
    concat!("find", "-links"),
    concat!("FIND", "_LINKS"),
    concat!("trusted", "-host"),
];
const CARGO_SOURCE: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
const NPM_RESOLVED: &str = "\"resolved\": \"https://registry.npmjs.org/";

const MEND_PATH: &str = "use a path relative to the file, or one that the program finds out";
const MEND_REGISTRY: &str = "leave the registry to the settings of the machine that builds";
const MEND_LOCK: &str = "make the lock file anew against the default registry; nothing comes from \
    git or a mirror";

/// Checks every text file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files().iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in file.text.lines().zip(1..) {
        if let Some(path) = MACHINE_PATHS.iter().find(|path| has_absolute(line, path)) {
            let what = format!("holds a path of one machine, under `{path}`");
            findings.push(Finding::new(&file.path, number, what, MEND_PATH));
        }
        if let Some(setting) = REGISTRY_SETTINGS.iter().find(|word| line.contains(*word)) {
            let what = format!("sets a package registry: `{setting}`");
            findings.push(Finding::new(&file.path, number, what, MEND_REGISTRY));
        }
        if is_lock(file) && is_other_source(line.trim()) {
            findings.push(Finding::new(&file.path, number, line.trim(), MEND_LOCK));
        }
    }
    findings
}

/// Whether the path stands there from its root on, not as the middle of a longer one.
fn has_absolute(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~/}>*$".contains(c))
    })
}

fn is_other_source(line: &str) -> bool {
    let cargo = line.starts_with("source = ") && line != CARGO_SOURCE;
    // Without a scheme it is a folder of this repository.
    let npm = line.starts_with("\"resolved\": ")
        && !line.starts_with(NPM_RESOLVED)
        && line.contains("://");
    cargo || npm
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check as check_rule;

    #[test]
    fn paths() {
        for path in MACHINE_PATHS {
            check_rule(check, &[("a.md", &format!("\nsee {path}x"))], &["a.md:2"]);
            check_rule(check, &[("a.md", &format!("https://example.com{path}x"))], &[]);
        }
    }

    #[test]
    fn registries() {
        for word in REGISTRY_SETTINGS {
            check_rule(check, &[("pip.conf", &format!("{word} = x"))], &["pip.conf:1"]);
        }
        check_rule(check, &[("Cargo.lock", &format!("{CARGO_SOURCE}\n"))], &[]);
        check_rule(check, &[("Cargo.lock", "source = \"git+https://x\"")], &["Cargo.lock:1"]);
        let npm = "\"resolved\": \"https://mirror.example/x.tgz\"";
        check_rule(check, &[("web/package-lock.json", npm)], &["web/package-lock.json:1"]);
        for own in ["../../../sdk/node", "file:../../sdk/node", "next"] {
            let own = format!("\"resolved\": \"{own}\"");
            check_rule(check, &[("web/package-lock.json", &own)], &[]);
        }
    }
}
