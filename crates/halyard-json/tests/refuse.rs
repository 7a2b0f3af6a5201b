//! Texts that must be refused though each part of them is JSON: as what, at which byte, in which
//! value.

use halyard_json::{Fault, FaultKind, POINTER_BYTES_MAX, parse, parse_tolerant};

const DEPTH: u16 = 64;

/// The text is refused with this kind, offset and pointer.
fn check(text: impl AsRef<[u8]>, kind: FaultKind, offset: usize, pointer: &str) {
    let text = text.as_ref();
    let shown = String::from_utf8_lossy(text.get(..text.len().min(200)).unwrap_or_default());
    match parse(text, DEPTH) {
        Ok(_) => panic!("{shown}: accepted"),
        Err(fault) => {
            let found = (&fault.kind, fault.offset, fault.pointer.as_str());
            assert_eq!(found, (&kind, offset, pointer), "{shown}");
            let line = fault.to_string();
            assert!(line.contains(&format!("at byte {offset}")), "{line}");
            assert!(line.len() < 1000 && !line.chars().any(char::is_control), "{line}");
            tolerant(text, &fault);
        }
    }
}

/// A tolerant reading stops at the same fault, or notes it and reads on to the end.
fn tolerant(text: &[u8], fault: &Fault) {
    match parse_tolerant(text, DEPTH) {
        Err(other) => assert!(other == *fault || !fault.is_syntax(), "{other} for {fault}"),
        Ok(document) => {
            assert!(!fault.is_syntax(), "{fault}");
            let noted: Vec<Fault> = document.root().refusals().map(|r| r.fault()).collect();
            assert!(noted.contains(fault), "{noted:?} lacks {fault:?}");
        }
    }
}

#[test]
fn whole_text() {
    check("", FaultKind::Empty, 0, "");
    check(" \r\n\t", FaultKind::Empty, 4, "");
    check("\u{feff}{}", FaultKind::ByteOrderMark, 0, "");
    check("\u{feff}", FaultKind::ByteOrderMark, 0, "");
    for (text, offset) in [
        ("1 2", 2),
        ("null null", 5),
        ("{}{}", 2),
        ("[]]", 2),
        ("{}}", 2),
        ("\"a\"\"b\"", 3),
        ("1,", 1),
        ("[] \0", 3),
        ("{} // end", 3),
        ("null\u{feff}", 4),
        ("truefalse", 4),
        ("[],", 2),
        ("nullx", 4),
        ("1a", 1),
        ("\u{20}[]x", 3),
    ] {
        check(text, FaultKind::TrailingBytes, offset, "");
    }
}

#[test]
fn not_utf8() {
    for (text, offset, pointer) in [
        (&b"\xff"[..], 0, ""),
        (b"\xfe\xff\0[\0]", 0, ""),
        (b"\xff\xfe[\0]\0", 0, ""),
        (b"[\"\xff\"]", 2, "/0"),
        (b"{\"a\":\"x\xe9\"}", 7, "/a"),
        (b"{\"\xc3\":1}", 2, ""),
        (b"[\"\xc0\xaf\"]", 2, "/0"),
        (b"[\"\xed\xa0\x80\"]", 2, "/0"),
        (b"[\"\xf4\x90\x80\x80\"]", 2, "/0"),
        (b"[\"\xe2\x82\"]", 2, "/0"),
        (b"[1,\x80]", 3, "/1"),
        (b"[]\xff", 2, ""),
        (b"[1]\xc3", 3, ""),
    ] {
        check(text, FaultKind::NotUtf8, offset, pointer);
    }
    // What is wrong earlier is what is said.
    check("[1] x \u{fffd}", FaultKind::TrailingBytes, 4, "");
    check(b"[1] x \xff", FaultKind::TrailingBytes, 4, "");
}

#[test]
fn refused_characters() {
    for (text, at) in [(r#"\u0000"#, 0), (r#"a\u0000b"#, 1), (r#"\\\u0000"#, 2), (r#"é\u0000"#, 2)]
    {
        check(format!("\"{text}\""), FaultKind::Nul, at + 1, "");
        check(format!("[1,\"{text}\"]"), FaultKind::Nul, at + 4, "/1");
        check(format!("{{\"a\":1,\"{text}\":2}}"), FaultKind::Nul, at + 8, "");
    }
    for (text, at) in [
        (r"\uD800", 0),
        (r"\uDBFFx", 0),
        (r"\uDC00", 0),
        (r"\uDFFF\uD800", 0),
        (r"x\uD83Dx", 1),
        (r"\uD800\n", 0),
        (r"\uD800A", 0),
        (r"\uD800\uE000", 0),
        (r"\uD800\uDBFF", 0),
        (r"\uD800\uD800\uDC00", 0),
        (r"\ud800\u0000", 0),
        (r"\uD834\uDD1E\uDD1E", 12),
        (r"\uD800\\uDC00", 0),
        (r"\uD800 \uDC00", 0),
    ] {
        check(format!("\"{text}\""), FaultKind::LoneSurrogate, at + 1, "");
        check(format!("{{\"a\":{{\"b\":\"{text}\"}}}}"), FaultKind::LoneSurrogate, at + 11, "/a/b");
        check(format!("{{\"{text}\":1}}"), FaultKind::LoneSurrogate, at + 2, "");
    }
}

#[test]
fn duplicates() {
    let twice = |name: &str| FaultKind::DuplicateMember(name.to_owned());
    for (text, name, offset, pointer) in [
        (r#"{"a":1,"a":2}"#, "a", 7, "/a"),
        (r#"{"a":1,"a":1}"#, "a", 7, "/a"),
        (r#"{"a":1,"b":2,"\u0061":3}"#, "a", 13, "/a"),
        (r#"{"\u0061":1,"\u0061":3}"#, "a", 12, "/a"),
        (r#"{"":1,"":2}"#, "", 6, "/"),
        (r#"{"/":1,"\/":2}"#, "/", 7, "/~1"),
        (r#"{"\ud834\udd1e":1,"𝄞":2}"#, "𝄞", 18, "/𝄞"),
        (r#"{"a":{"a":1,"b":1,"b":2}}"#, "b", 18, "/a/b"),
        (r#"[0,{"a":{}},{"x":[{"a":1,"c":[{}],"a":2}]}]"#, "a", 34, "/2/x/0/a"),
        (r#"{"a":1,"b":2,"b":3,"a":4}"#, "b", 13, "/b"),
        (r#"{"\u0062":1,"a":1,"b":2,"a":3,"b":4}"#, "b", 18, "/b"),
        (r#"{"a":[1,2,{"z":0}],"b":{"a":[]},"a":null}"#, "a", 32, "/a"),
        ("{\"\\n\":1,\"\\u000a\":2}", "\n", 8, "/\n"),
    ] {
        check(text, twice(name), offset, pointer);
    }
    for members in [2, 15, 16, 17, 18, 1000, 100_000] {
        let names: Vec<String> = (1..members).map(|n| format!("\"{n}\":[{n}]")).collect();
        let start = format!("{{{},", names.join(","));
        for (name, first) in [("1", true), ("\\u0031", true), ("7", members > 7)] {
            if first {
                let plain = name.replace("\\u0031", "1");
                let text = format!("{start}\"{name}\":0}}");
                check(text, twice(&plain), start.len(), &format!("/{plain}"));
            }
        }
    }
}

#[test]
fn nesting() {
    let deep = FaultKind::TooDeep { max: DEPTH };
    check("[".repeat(65), deep.clone(), 64, &"/0".repeat(64));
    check("[".repeat(1_000_000), deep.clone(), 64, &"/0".repeat(64));
    check("{\"a\":".repeat(65), deep.clone(), 64 * 5, &"/a".repeat(64));
    check(format!("[1,{}", "[".repeat(64)), deep, 66, &format!("/1{}", "/0".repeat(63)));
    assert!(parse(b"1", 0).is_ok());
    assert!(parse(b"[]", 0).is_err_and(|fault| fault.kind == FaultKind::TooDeep { max: 0 }));
    let limit = "[".repeat(1000) + &"]".repeat(1000);
    let fault = parse(limit.as_bytes(), u16::MAX).err();
    assert!(fault.is_some_and(|fault| fault.kind == FaultKind::TooDeep { max: 200 }));
}

#[test]
fn malformed_or_refused() {
    for (text, malformed) in [
        ("", true),
        ("[", true),
        ("1 1", true),
        ("\u{feff}1", true),
        (r#""\u0000""#, false),
        (r#""\ud800""#, false),
        (r#"{"a":1,"a":1}"#, false),
    ] {
        let fault = parse(text.as_bytes(), DEPTH).err();
        assert_eq!(fault.map(|fault| fault.is_syntax()), Some(malformed), "{text}");
    }
    assert!(parse(b"[[]]", 1).is_err_and(|fault| !fault.is_syntax()));
    assert!(parse(b"[\"\xff\"]", 1).is_err_and(|fault| fault.is_syntax()));
}

#[test]
fn messages_are_short_and_plain() {
    let name = "n\u{1b}[31m".repeat(50_000);
    let escaped = name.replace('\u{1b}', "\\u001b");
    let text = format!("{{\"{escaped}\":1,\"{escaped}\":2}}");
    let Err(fault) = parse(text.as_bytes(), DEPTH) else { panic!("accepted") };
    assert!(matches!(&fault.kind, FaultKind::DuplicateMember(name) if name.len() < 400));
    assert_eq!(fault.pointer, "", "a pointer that is too long gives way to the object's");
    assert!(fault.to_string().len() < 1000 && !fault.to_string().contains('\u{1b}'), "{fault}");

    let name = "x".repeat(POINTER_BYTES_MAX);
    check(format!("{{\"a\":[{{\"{name}\":\"\\u0000\"}}]}}"), FaultKind::Nul, 1035, "/a/0");
    let name = "x".repeat(POINTER_BYTES_MAX - 5);
    let pointer = format!("/a/0/{name}");
    check(format!("{{\"a\":[{{\"{name}\":\"\\u0000\"}}]}}"), FaultKind::Nul, 1030, &pointer);
    let fault = parse(br#"{"a":{"b":1,"b":2}}"#, DEPTH).err().map(|fault| fault.to_string());
    assert_eq!(
        fault.as_deref(),
        Some(
            "the member \"b\" appears twice in one object, at byte 12 in \"/a/b\": \
             keep one of the two"
        )
    );
}
