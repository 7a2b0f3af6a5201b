//! Every crate root and every folder's own file opens with `//!`.
//!
//! The front page says what the crate or folder is for, what lies where and what is deliberately
//! absent. Crate roots are `lib.rs`, `main.rs`, `build.rs` and each file of a `bin`, `tests`,
//! `benches` or `examples` folder that lies beside or in `src`; a folder's own file is `mod.rs`,
//! or `x.rs` beside the folder `x`. In TypeScript and JavaScript every file opens with a comment
//! that says what it is for.

use crate::Finding;
use crate::tree::{File, Tree};

const MEND: &str = "open the file with `//!` lines: purpose, map, what is deliberately absent, how \
    to add one more";

const MEND_SCRIPT: &str = "open the file with a comment: what it is for, what lies where";

/// Checks the Rust files that are a crate root or a folder's own file, and every TypeScript and
/// JavaScript file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let rust = tree
        .with_extension("rs")
        .filter(|file| is_crate_root(file) || is_folders_own(file, tree))
        .filter(|file| !opens_with_front_page(&file.text))
        .map(|file| Finding::new(&file.path, 1, "has no front page", MEND));
    let scripts = ["ts", "js"].into_iter().flat_map(|extension| tree.with_extension(extension));
    let scripts = scripts
        .filter(|file| !opens_with_comment(&file.text))
        .map(|file| Finding::new(&file.path, 1, "has no front page", MEND_SCRIPT));
    rust.chain(scripts).collect()
}

fn opens_with_comment(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!"));
    first.is_some_and(|line| line.starts_with("/*") || line.starts_with("//"))
}

fn opens_with_front_page(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!/"));
    first.and_then(|line| line.strip_prefix("//!")).is_some_and(|words| !words.trim().is_empty())
}

fn is_crate_root(file: &File) -> bool {
    let parent = file.path.rsplit('/').nth(1).unwrap_or_default();
    let is_root_name = matches!(file.name(), "lib.rs" | "main.rs" | "build.rs");
    is_root_name || matches!(parent, "bin" | "tests" | "benches" | "examples")
}

fn is_folders_own(file: &File, tree: &Tree) -> bool {
    let folder = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    file.name() == "mod.rs" || tree.has_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    #[test]
    fn front_pages() {
        check_rule(check, &[("c/src/lib.rs", "//! What it is.\n")], &[]);
        check_rule(check, &[("c/src/lib.rs", "//!\nmod a;\n")], &["c/src/lib.rs:1"]);
        check_rule(check, &[("c/tests/kill.rs", "mod a;\n")], &["c/tests/kill.rs:1"]);
        check_rule(check, &[("c/src/a.rs", "fn f() {}"), ("c/src/ab/b.rs", "")], &[]);
        check_rule(check, &[("c/src/a.rs", "fn f() {}"), ("c/src/a/b.rs", "")], &["c/src/a.rs:1"]);
        check_rule(check, &[("c/src/a/mod.rs", "")], &["c/src/a/mod.rs:1"]);
        check_rule(check, &[("sdk/a.ts", "/** What it is. */\nimport x;")], &[]);
        check_rule(check, &[("sdk/a.js", "#!/usr/bin/env node\n// What it is.")], &[]);
        check_rule(check, &[("sdk/a.ts", "import x;\n// later")], &["sdk/a.ts:1"]);
    }
}
