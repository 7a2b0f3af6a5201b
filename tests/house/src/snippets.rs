//! Code on a page is cut from a file that the page links to.
//!
//! The files are programs that tests run, so that what a reader copies works. A block in one of
//! the languages below must stand in one of the page's files of that language as it is, but for
//! indentation, blank lines and, in SQL, comments; a line `// …` or `# …` stands for lines left
//! out, and may have spaces before it. In Rust, documentation comments count as the code in them.
//! A block without a language is no code of a program, and is not checked; nor is a page that is
//! made from the code and says so, which another test holds fresh.

use crate::Finding;
use crate::links;
use crate::tree::{File, Tree};

/// The language of a block, and the extensions of the files that it may be cut from.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("js", &["js", "ts"]),
    ("ts", &["js", "ts"]),
    ("python", &["py"]),
    ("rust", &["rs"]),
    ("sql", &["sql"]),
];

const GAPS: &[&str] = &["// …", "# …", "-- …"];

/// How a page begins that a program has made.
const MADE: &str = "<!-- Made ";

const MEND: &str = "link the page to the program that the block is cut from, and copy the block \
    from there; put `// …` or `# …` where lines are left out";

/// Checks every Markdown file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let written = tree.with_extension("md").filter(|page| !page.text.contains(MADE));
    written.flat_map(|page| check_page(page, tree)).collect()
}

fn check_page(page: &File, tree: &Tree) -> Vec<Finding> {
    let sources: Vec<&File> =
        links::linked(page).iter().filter_map(|path| tree.file(path)).collect();
    let mut findings = Vec::new();
    for block in blocks(&page.text) {
        let named = LANGUAGES.iter().find(|(language, _)| *language == block.language);
        let Some((_, extensions)) = named else { continue };
        let fitting = |file: &&&File| extensions.iter().any(|end| file.has_extension(end));
        let known: Vec<Vec<&str>> =
            sources.iter().filter(fitting).map(|file| kept(file.text.lines())).collect();
        let missing = block.parts().into_iter().find(|part| {
            let holds = |file: &Vec<&str>| file.windows(part.len()).any(|lines| lines == part);
            !part.is_empty() && !known.iter().any(holds)
        });
        if let Some(part) = missing {
            let begin = part.first().copied().unwrap_or_default();
            let what = format!("shows code that no file it links to has, from `{begin}` on");
            findings.push(Finding::new(&page.path, block.line, what, MEND));
        }
    }
    findings
}

struct Block<'a> {
    language: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

impl<'a> Block<'a> {
    /// What stands between two gaps.
    fn parts(&self) -> Vec<Vec<&'a str>> {
        let parts = self.lines.split(|line| GAPS.contains(&line.trim()));
        parts.map(|lines| kept(lines.iter().copied())).collect()
    }
}

/// The fenced blocks that name a language.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1..) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            if fenced {
                found.push(Block { language: language.trim(), line: number, lines: Vec::new() });
            }
        } else if fenced && let Some(block) = found.last_mut() {
            block.lines.push(line);
        }
    }
    found
}

/// The lines that count, without what may differ.
fn kept<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let bare = lines.map(|line| {
        let line = line.trim();
        let documented = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
        // Rustdoc hides what stands behind `#`.
        documented.map_or(line, |code| if code.starts_with(" # ") { "" } else { code.trim() })
    });
    bare.filter(|line| !line.is_empty() && !line.starts_with("-- ")).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    const PROGRAM: &str = "fn f() {\n    a();\n\n    b();\n    c();\n}\n";

    fn check_block(block: &str, found: &[&str]) {
        let page = format!("From [f.rs](f.rs).\n{block}\n");
        check_rule(check, &[("docs/a.md", &page), ("docs/f.rs", PROGRAM)], found);
    }

    #[test]
    fn code() {
        check_block("```rust\na();\nb();\n```", &[]);
        check_block("```rust\nfn f() {\n    a();\n    // …\n    c();\n}\n```", &[]);
        check_block("```rust\na();\nc();\n```", &["docs/a.md:2"]);
        check_block("x\n```rust\nd();\n```\n```rust\na();\n```", &["docs/a.md:3"]);
        check_block("```js\na();\n```", &["docs/a.md:2"]);
        check_block("```\nd();\n```\n```sh\nd\n```", &[]);
    }

    #[test]
    fn sources() {
        let page = "```rust\na();\n```";
        check_rule(check, &[("docs/a.md", page), ("docs/f.rs", PROGRAM)], &["docs/a.md:1"]);
        let page = "[f](../src/f.rs#L1)\n```rust\na();\nb();\n```";
        check_rule(
            check,
            &[("docs/a.md", page), ("src/f.rs", "//! ```\n//! a();\n//! # c();\n//! b();\n")],
            &[],
        );
        let page = "<!-- Made by a program -->\n```rust\nd();\n```";
        check_rule(check, &[("docs/a.md", page)], &[]);
        let page = "[f](f.sql)\n```sql\nselect 1\n```";
        check_rule(check, &[("a.md", page), ("f.sql", "select -- 1\n")], &["a.md:2"]);
        check_rule(check, &[("a.md", page), ("f.sql", "-- why\nselect 1\n")], &[]);
    }
}
