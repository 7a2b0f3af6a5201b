//! Strings: from their literal to their characters and back to the one canonical literal.

use std::borrow::Cow;

use crate::scan::plain;

/// The characters of a string literal that the reader accepted, quotes included in `literal`.
/// Where a tolerant reader let NUL or half of a surrogate pair pass, there is U+FFFD.
pub(crate) fn unescape(literal: &str, escaped: bool) -> Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !escaped {
        return Cow::Borrowed(inner);
    }
    let mut characters = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        characters.push_str(plain);
        rest = unescape_one(escape, &mut characters);
    }
    characters.push_str(rest);
    Cow::Owned(characters)
}

/// Appends the character of the escape whose text follows the backslash; gives what is behind.
fn unescape_one<'a>(escape: &'a str, characters: &mut String) -> &'a str {
    let mut rest = escape.chars();
    match rest.next() {
        Some('b') => characters.push('\u{8}'),
        Some('f') => characters.push('\u{c}'),
        Some('n') => characters.push('\n'),
        Some('r') => characters.push('\r'),
        Some('t') => characters.push('\t'),
        Some('u') => {
            let unit = |at: usize| {
                let digits = escape.get(at..at + 4)?;
                u16::from_str_radix(digits, 16).ok()
            };
            // A pair is u1234\u5678 here: its second half starts seven bytes after the first.
            let second = if escape.get(5..7) == Some("\\u") { unit(7) } else { None };
            let pair = [unit(1).unwrap_or_default(), second.unwrap_or_default()];
            let character = match char::decode_utf16(pair).next() {
                None | Some(Err(_)) | Some(Ok('\0')) => char::REPLACEMENT_CHARACTER,
                Some(Ok(character)) => character,
            };
            characters.push(character);
            let units = character.len_utf16();
            return escape.get(if units == 2 { 11 } else { 5 }..).unwrap_or_default();
        }
        Some(same) => characters.push(same),
        None => {}
    }
    rest.as_str()
}

/// Appends the canonical literal of a string: the shortest escapes, and only where RFC 8259
/// asks for one (the form of RFC 8785).
pub(crate) fn write_string(characters: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = characters.as_bytes();
    // Most strings are one run without escapes, copied at once.
    while let Some((run, byte, behind)) = split_at_special(rest) {
        out.extend_from_slice(run);
        write_escape(byte, out);
        rest = behind;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn split_at_special(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (run, rest) = bytes.split_at_checked(plain(bytes, 0))?;
    let (byte, behind) = rest.split_first()?;
    Some((run, *byte, behind))
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        0x00..0x20 => {
            out.extend(b"\\u00");
            for digit in [byte >> 4, byte & 15] {
                out.extend(HEX.get(usize::from(digit)));
            }
            return;
        }
        same => same,
    };
    out.extend([b'\\', letter]);
}
