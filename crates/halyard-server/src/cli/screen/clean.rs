//! Makes somebody else's text harmless for a terminal.
//!
//! Escaped are control characters (which move the cursor, change colours, set the window's title
//! or answer as if somebody typed), and characters without a shape of their own that reorder, hide
//! or join what stands beside them: bidirectional marks, separators, zero-width and tag characters.

use std::fmt::Write;

/// One line: nothing in it begins another one.
#[must_use]
pub fn clean(text: &str) -> String {
    escape(text, false)
}

/// Several lines; line breaks stay, tabs become spaces.
#[must_use]
pub fn clean_lines(text: &str) -> String {
    escape(&text.replace("\r\n", "\n").replace('\t', "    "), true)
}

/// JSON, which stays the same value: what is escaped can only stand in its strings.
#[must_use]
pub fn clean_json(json: &str) -> String {
    let mut cleaned = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => cleaned.push('\n'),
            // Of what is left only white space between values can be a control character.
            '\r' | '\t' => cleaned.push(' '),
            c if is_harmful(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(cleaned, "\\u{unit:04x}");
                }
            }
            c => cleaned.push(c),
        }
    }
    cleaned
}

fn escape(text: &str, keep_lines: bool) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' if keep_lines => cleaned.push('\n'),
            '\n' => cleaned.push_str("\\n"),
            '\r' => cleaned.push_str("\\r"),
            '\t' => cleaned.push_str("\\t"),
            c if is_harmful(c) => cleaned.extend(c.escape_unicode()),
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// Unicode's categories Cc and Zl and Zp, and of Cf all but the soft hyphen and the few that
/// belong to the spelling of a script.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line() {
        for (text, shown) in [
            ("plain, Zürich, 東京, שלום, 👩‍👩‍👧", "plain, Zürich, 東京, שלום, 👩‍👩‍👧"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{7f}\u{0}", "\\u{7f}\\u{0}"),
            ("a\u{202e}b\u{2066}c\u{200f}d\u{61c}", "a\\u{202e}b\\u{2066}c\\u{200f}d\\u{61c}"),
            ("a\u{2028}b\u{feff}c", "a\\u{2028}b\\u{feff}c"),
            ("a\u{e0041}b", "a\\u{e0041}b"),
        ] {
            assert_eq!(clean(text), shown);
        }
    }

    #[test]
    fn several_lines() {
        assert_eq!(clean_lines("a\r\n\tb\n\u{1b}c\r"), "a\n    b\n\\u{1b}c\\r");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{202e}": ["\u{1b}[2J\u{7f}\u{9b}", "\u{e0041}", "é\n"]});
        let raw = format!(" {{\r\n\t\"x\":\r{value}}}");
        let cleaned = clean_json(&raw);
        assert!(!cleaned.chars().any(|c| c != '\n' && is_harmful(c)), "{cleaned:?}");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert_eq!(read(&cleaned), read(&raw));
        assert!(read(&cleaned).is_some());
    }
}
