//! Texts that are not JSON: at which byte that shows, in which value.

use halyard_json::{FaultKind, parse};

const DEPTH: u16 = 64;

/// The text is not JSON at this byte, in this value.
fn check_syntax(text: impl AsRef<[u8]>, offset: usize, pointer: &str) {
    let text = text.as_ref();
    let shown = String::from_utf8_lossy(text);
    let Err(fault) = parse(text, DEPTH) else { panic!("{shown}: accepted") };
    assert!(matches!(fault.kind, FaultKind::Syntax(_)), "{shown}: {:?}", fault.kind);
    assert_eq!((fault.offset, fault.pointer.as_str()), (offset, pointer), "{shown}: {fault}");
    assert!(fault.is_syntax(), "{shown}");
    assert!(serde_json::from_slice::<serde_json::Value>(text).is_err(), "{shown}: not for them");
}

#[test]
fn numbers() {
    let tables = [
        "-|",
        "|+1",
        "|.5",
        "-|.5",
        "1.|",
        "-1.|",
        "1.|e1",
        "1e|",
        "1e+|",
        "1E-|",
        "0.1e|",
        "0e|",
        "0e+|",
        "0|1",
        "-0|1",
        "0|0",
        "-0|0",
        "0|12.5",
        "-| 1",
        "-|-1",
        "-|a",
        "-|Infinity",
        "-|NaN",
        "|Infinity",
        "|NaN",
        "n|an",
        "|inf",
        "2.|e3",
        "1e|a",
        "1e|E2",
        "|١",
        "|−1",
        "1.|.2",
    ];
    for marked in tables {
        let offset = marked.find('|').unwrap_or_default();
        let text = marked.replace('|', "");
        check_syntax(&text, offset, "");
        check_syntax(format!("[{text}]"), offset + 1, "/0");
        check_syntax(format!("{{\"a\":1,\"b\":{text}}}"), offset + 11, "/b");
    }
    // Here a whole number is followed by something else.
    for marked in ["1e1|.5", "1.2|.3", "0|x42", "1|_000", "1|f", "1e5|n", "1|-1", "1|+1", "0|-"] {
        let offset = marked.find('|').unwrap_or_default();
        let text = marked.replace('|', "");
        let fault = parse(text.as_bytes(), DEPTH).err();
        let found = fault.map(|fault| (fault.kind, fault.offset));
        assert_eq!(found, Some((FaultKind::TrailingBytes, offset)), "{text}");
        check_syntax(format!("[{text}]"), offset + 1, "");
    }
}

#[test]
fn words() {
    for (text, offset) in [
        ("nul", 3),
        ("n", 1),
        ("tru", 3),
        ("fals", 4),
        ("True", 0),
        ("NULL", 0),
        ("nil", 1),
        ("tRue", 1),
        ("undefined", 0),
        ("a", 0),
        ("'a'", 0),
        ("`a`", 0),
        ("é", 0),
        ("trux", 3),
        ("*", 0),
        ("<null>", 0),
        ("/*1*/1", 0),
        ("//1\n1", 0),
        ("#", 0),
        ("\\u0022", 0),
    ] {
        check_syntax(text, offset, "");
    }
}

#[test]
fn strings() {
    for (text, offset) in [
        ("\"", 1),
        ("\"a", 2),
        ("\"\\\"", 3),
        ("\"\\", 2),
        ("\"\\u", 3),
        ("\"\\u12", 5),
        (r#""\x41""#, 1),
        (r#""\a""#, 1),
        (r#""\'""#, 1),
        (r#""\0""#, 1),
        (r#""\U0041""#, 1),
        (r#""\u""#, 3),
        (r#""\u004""#, 6),
        (r#""\u00G0""#, 5),
        (r#""\u+041""#, 3),
        (r#""\u 041""#, 3),
        (r#""\uD834\uD""#, 10),
        (r#""\uD834\u""#, 9),
        ("\"\n\"", 1),
        ("\"a\tb\"", 2),
        ("\"\0\"", 1),
        ("\"1234567\u{1f}\"", 8),
        ("\"12345678901\r\"", 12),
        ("\"\\\n\"", 1),
        ("\"\\é\"", 1),
        ("\"\\\u{0}\"", 1),
    ] {
        check_syntax(text, offset, "");
        if offset < text.len() {
            check_syntax(format!("[0,{text}]"), offset + 3, "/1");
            check_syntax(format!("{{\"k\":{text}}}"), offset + 5, "/k");
            check_syntax(format!("{{{text}:1}}"), offset + 1, "");
        }
    }
}

#[test]
fn containers() {
    for (text, offset, pointer) in [
        ("[", 1, "/0"),
        ("{", 1, ""),
        ("[1", 2, ""),
        ("[1,", 3, "/1"),
        ("[1,]", 3, ""),
        ("[,1]", 1, "/0"),
        ("[,]", 1, "/0"),
        ("[1,,2]", 3, "/1"),
        ("[1 2]", 3, ""),
        ("[1}", 2, ""),
        ("[}", 1, "/0"),
        ("{]", 1, ""),
        ("]", 0, ""),
        ("}", 0, ""),
        (",", 0, ""),
        (":", 0, ""),
        ("[\"a\":1]", 4, ""),
        ("[[1,2],[3 4]]", 10, "/1"),
        ("[[[x]]]", 3, "/0/0/0"),
        ("[1,[2,{\"a\":[x]}]]", 12, "/1/1/a/0"),
        ("{\"a\"}", 4, "/a"),
        ("{\"a\" 1}", 5, "/a"),
        ("{\"a\":}", 5, "/a"),
        ("{\"a\":1", 6, ""),
        ("{\"a\":1,", 7, ""),
        ("{\"a\":1,}", 7, ""),
        ("{,}", 1, ""),
        ("{\"a\":1,,\"b\":2}", 7, ""),
        ("{\"a\":1 \"b\":2}", 7, ""),
        ("{\"a\":1]", 6, ""),
        ("{\"a\"::1}", 5, "/a"),
        ("{a:1}", 1, ""),
        ("{'a':1}", 1, ""),
        ("{1:1}", 1, ""),
        ("{null:1}", 1, ""),
        ("{[]:1}", 1, ""),
        ("{\"a\":1,b:2}", 7, ""),
        ("{\"a\",\"b\"}", 4, "/a"),
        ("{\"a\":/*x*/1}", 5, "/a"),
        ("{\"~/\":{\"é\":[0,nul]}}", 18, "/~0~1/é/1"),
        ("{\"a\":", 5, "/a"),
        ("[1\u{c}]", 2, ""),
        ("[\u{b}1]", 1, "/0"),
        ("[\u{a0}1]", 1, "/0"),
        ("[1\0]", 2, ""),
        ("[...[]]", 1, "/0"),
    ] {
        check_syntax(text, offset, pointer);
    }
}
