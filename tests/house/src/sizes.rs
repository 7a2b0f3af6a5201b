//! Lines of a file, lines of a function, columns of a line.
//!
//! A function counts from the line of its `fn` to the line of its closing brace; in other languages
//! than Rust their linters count. Generated files, in a folder `_generated`, are as they are. Past
//! a limit a thought is missing, not a scissor: find the part that has a name of its own.

use crate::Finding;
use crate::rust_text::{RustText, is_word_char};
use crate::tree::{File, Tree};

/// The languages of the SDKs, by the extensions of their files.
const OTHER_LANGUAGES: &[&str] = &["js", "py", "ts"];

/// Lines of a file of code.
pub const FILE_LINES_MAX: usize = 400;
/// Lines from `fn` to the closing brace.
pub const FUNCTION_LINES_MAX: usize = 70;
/// Characters of a line; a line that holds a URL may be longer.
pub const LINE_COLUMNS_MAX: usize = 100;

const MEND_FILE: &str = "move what has a name of its own to a file of that name";
const MEND_FUNCTION: &str = "give a step of it a name and a function";
const MEND_LINE: &str = "run the formatter; break a long string or comment by hand";

/// Checks every file of code.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = tree.with_extension("rs").flat_map(check_rust).collect();
    for extension in OTHER_LANGUAGES {
        let files = tree.with_extension(extension);
        findings.extend(files.filter(|file| !is_generated(file)).flat_map(check_lines));
    }
    findings
}

fn is_generated(file: &File) -> bool {
    file.path.split('/').any(|part| part == "_generated")
}

fn check_lines(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        let what = format!("{lines} lines, the limit is {FILE_LINES_MAX}");
        findings.push(Finding::new(&file.path, 0, what, MEND_FILE));
    }
    for (line, number) in file.text.lines().zip(1..) {
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX && !line.contains("://") {
            let what = format!("{columns} columns, the limit is {LINE_COLUMNS_MAX}");
            findings.push(Finding::new(&file.path, number, what, MEND_LINE));
        }
    }
    findings
}

fn check_rust(file: &File) -> Vec<Finding> {
    let mut findings = check_lines(file);
    for function in functions(&RustText::read(&file.text).code) {
        let lines = function.end - function.start + 1;
        if lines > FUNCTION_LINES_MAX {
            let what = format!("`{}` has {lines} lines of {FUNCTION_LINES_MAX}", function.name);
            findings.push(Finding::new(&file.path, function.start, what, MEND_FUNCTION));
        }
    }
    findings
}

struct Function {
    name: String,
    start: usize,
    end: usize,
}

/// The functions with a body. Nested ones count for themselves and for the one around them.
fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut word = String::new();
    let mut previous = String::new();
    for (at, c) in code.char_indices() {
        if is_word_char(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            if previous == "fn"
                && let Some(lines) = code.get(at..).and_then(lines_to_end)
            {
                found.push(Function { name: word.clone(), start: line, end: line + lines });
            }
            previous = std::mem::take(&mut word);
        }
        if !c.is_whitespace() {
            previous.clear();
        }
        line += usize::from(c == '\n');
    }
    found
}

/// Line breaks from behind a function's name to its closing brace; `None` without a body.
fn lines_to_end(rest: &str) -> Option<usize> {
    let mut lines = 0;
    let mut braces = 0_usize;
    let mut brackets = 0_usize;
    for c in rest.chars() {
        match c {
            '\n' => lines += 1,
            '(' | '[' if braces == 0 => brackets += 1,
            ')' | ']' if braces == 0 => brackets = brackets.checked_sub(1)?,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces = braces.checked_sub(1)?;
                if braces == 0 && brackets == 0 {
                    return Some(lines);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check as check_rule;

    #[test]
    fn files() {
        check_rule(check, &[("a.rs", &"x\n".repeat(FILE_LINES_MAX))], &[]);
        check_rule(check, &[("a.rs", &"x\n".repeat(FILE_LINES_MAX + 1))], &["a.rs:0"]);
        check_rule(check, &[("a.sql", &"x\n".repeat(FILE_LINES_MAX + 1))], &[]);
        let long = "x\n".repeat(FILE_LINES_MAX + 1);
        for path in ["sdk/a.ts", "sdk/a.js", "sdk/a.py"] {
            check_rule(check, &[(path, &long)], &[&format!("{path}:0")]);
        }
        check_rule(check, &[("sdk/_generated/a.ts", &long)], &[]);
    }

    #[test]
    fn columns() {
        check_rule(check, &[("a.rs", &"é".repeat(LINE_COLUMNS_MAX))], &[]);
        check_rule(check, &[("a.rs", &"x".repeat(LINE_COLUMNS_MAX + 1))], &["a.rs:1"]);
        check_rule(check, &[("a.rs", &format!("// https://{}", "x".repeat(100)))], &[]);
    }

    #[test]
    fn function_lines() {
        let function = |lines: usize| {
            let body = "    let _ = \"}\"; // }\n".repeat(lines - 2);
            format!("//! x\n\npub fn f<'a>(x: [u8; 2]) -> [u8; 2] {{\n{body}}}\nfn g() {{}}\n")
        };
        check_rule(check, &[("a.rs", &function(FUNCTION_LINES_MAX))], &[]);
        check_rule(check, &[("a.rs", &function(FUNCTION_LINES_MAX + 1))], &["a.rs:3"]);
        let declared = format!("trait T {{\n    fn f(&self);\n{}}}\n", "    // x\n".repeat(80));
        check_rule(check, &[("a.rs", &declared)], &[]);
        let pointer =
            format!("struct S {{ f: fn(u8) }}\nconst A: [u8; 9] = [{}];", "\n".repeat(80));
        check_rule(check, &[("a.rs", &pointer)], &[]);
    }
}
