//! Relative links of Markdown files lead somewhere: to a file, a folder or a heading.
//!
//! Links to other hosts are not followed: the tests reach no network.

use crate::Finding;
use crate::rust_text::is_word_char;
use crate::tree::{File, Tree};

const MEND_FILE: &str = "mend the path; it counts from the folder of the file that holds the link";
const MEND_ANCHOR: &str = "use the heading in lower case with `-` for spaces and no punctuation";

/// Checks every Markdown file.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.with_extension("md").flat_map(|file| check_file(file, tree)).collect()
}

/// The paths that a page links to, from the top of the repository, whether they exist or not.
pub(crate) fn linked(page: &File) -> Vec<String> {
    let lines = prose(&page.text).into_iter();
    let targets = lines.flat_map(|(line, _)| targets(&line)).filter(|target| !is_elsewhere(target));
    let paths = targets.filter_map(|target| {
        let path = target.split_once('#').map_or(target.as_str(), |(path, _)| path);
        resolve(&page.path, path)
    });
    paths.collect()
}

fn check_file(file: &File, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, number) in prose(&file.text) {
        for target in targets(&line) {
            if is_elsewhere(&target) {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let Some(path) = resolve(&file.path, path) else {
                let what = format!("the link `{target}` leaves the repository");
                findings.push(Finding::new(&file.path, number, what, MEND_FILE));
                continue;
            };
            let linked = tree.file(&path);
            if linked.is_none() && !tree.has_folder(&path) {
                let what = format!("the link `{target}` leads nowhere");
                findings.push(Finding::new(&file.path, number, what, MEND_FILE));
            }
            let markdown = linked.filter(|linked| linked.has_extension("md"));
            if markdown.is_some_and(|linked| !has_anchor(&linked.text, anchor)) {
                let what = format!("the link `{target}` names no heading of {path}");
                findings.push(Finding::new(&file.path, number, what, MEND_ANCHOR));
            }
        }
    }
    findings
}

/// The lines outside fenced code, with their numbers, and without their code spans.
fn prose(text: &str) -> Vec<(String, usize)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            let parts = line.split('`').zip(0_usize..);
            let kept = parts.map(|(part, n)| if n.is_multiple_of(2) { part } else { "x" });
            lines.push((kept.collect(), number));
        }
    }
    lines
}

/// What stands behind `](` up to the bracket or a title, and behind `[name]: `.
fn targets(line: &str) -> Vec<String> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let definition = line
        .starts_with('[')
        .then(|| line.split_once("]: "))
        .flatten()
        .and_then(|(_, rest)| rest.split_whitespace().next());
    let all = inline.chain(definition).map(|target| target.trim_matches(['<', '>']).to_owned());
    all.filter(|target| !target.is_empty()).collect()
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path from the top of the repository; `None` when it leaves it or begins at a root.
fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Whether the text has this heading, or an `id` or `name` written out; no anchor is always there.
fn has_anchor(text: &str, anchor: &str) -> bool {
    if anchor.is_empty() {
        return true;
    }
    let written = [format!("id=\"{anchor}\""), format!("name=\"{anchor}\"")];
    written.iter().any(|attribute| text.contains(attribute))
        || headings(text).iter().any(|slug| slug == anchor)
}

/// The anchors of the headings, as the usual hosts of repositories make them: a repeated heading
/// gets a number.
fn headings(text: &str) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if fenced || title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title.trim());
        let repeats = |seen: &&String| {
            **seen == slug || seen.rsplit_once('-').is_some_and(|(stem, _)| stem == slug)
        };
        match slugs.iter().filter(repeats).count() {
            0 => slugs.push(slug),
            times => slugs.push(format!("{slug}-{times}")),
        }
    }
    slugs
}

fn slug(title: &str) -> String {
    let kept = title.chars().filter(|c| is_word_char(*c) || matches!(c, ' ' | '-'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::check as check_rule;

    fn check_link(link: &str, found: &[&str]) {
        let docs =
            "# A guide\n\n## Keys, and `more`\n\n## Twice\n\n## Twice\n<a id=\"here\"></a>\n";
        let files = [("docs/a.md", docs), ("docs/b.md", &format!("x\n{link}\n")), ("x.rs", "")];
        check_rule(check, &files, found);
    }

    #[test]
    fn links() {
        check_link("[a](a.md), ![b](../x.rs) and [c](../docs)", &[]);
        check_link("[a](a.md#a-guide) [b](a.md#keys-and-more) [c](a.md#twice-1)", &[]);
        check_link("[a](a.md#here) [b](https://example.com/no.md) `[c](no.md)`", &[]);
        check_link("```\n[a](no.md)\n```", &[]);
        check_link("[a](no.md)", &["docs/b.md:2"]);
        check_link("[a]: no.md \"title\"", &["docs/b.md:2"]);
        check_link("[a](a.md#twice-2)", &["docs/b.md:2"]);
        check_link("[a](#nothing)", &["docs/b.md:2"]);
        check_link("[a](../../x.md) [b](/x.rs)", &["docs/b.md:2", "docs/b.md:2"]);
    }
}
