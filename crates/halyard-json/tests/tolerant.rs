//! Tolerant reading: what is let pass is noted with its value, and everything else reads as it is.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use halyard_json::{FaultKind, Value, parse, parse_tolerant};

const DEPTH: u16 = 4;

/// The refusals in the value of `name`, as kind and pointer from there.
fn check(text: &str, name: &str, wanted: &[(FaultKind, &str)]) {
    let document = parse_tolerant(text.as_bytes(), DEPTH).unwrap();
    let value = document.root().member(name).unwrap();
    let faults: Vec<_> = value.refusals().map(|refusal| refusal.fault()).collect();
    let found: Vec<_> = faults.iter().map(|f| (f.kind.clone(), f.pointer.as_str())).collect();
    assert_eq!(found, wanted, "{name} of {text}");
    assert_eq!(parse(value.raw().as_bytes(), DEPTH - 1).is_ok(), wanted.is_empty(), "{text}");
}

#[test]
fn neighbours_are_unaffected() {
    use FaultKind::{LoneSurrogate, Nul, TooDeep};
    let twice = || FaultKind::DuplicateMember("k".to_owned());
    let text = r#"{"a":"x","b":"\u0000","c":[0,{"k":1,"k":"\ud800"}],"d":{"k":[[[[1]]]]},"e":[[[]]],
        "f":{"\u0000":1,"k":[1]},"g":"\u0000\ud834\udd1e\udd1e\u0000","h":{"k":{"k":1,"k":2}}}"#;
    check(text, "a", &[]);
    check(text, "b", &[(Nul, "")]);
    check(text, "c", &[(twice(), "/1/k"), (LoneSurrogate, "/1/k")]);
    check(text, "d", &[(TooDeep { max: DEPTH }, "/k/0/0")]);
    check(text, "e", &[]);
    check(text, "f", &[(Nul, "")]);
    check(text, "g", &[(Nul, ""), (LoneSurrogate, ""), (Nul, "")]);
    check(text, "h", &[(twice(), "/k/k")]);
}

#[test]
fn refused_characters_read_as_replacements() {
    for (literal, characters) in [
        (r"a\u0000b", "a\u{fffd}b"),
        (r"\ud800", "\u{fffd}"),
        (r"\udc00\ud800", "\u{fffd}\u{fffd}"),
        (r"\ud800xxDC00", "\u{fffd}xxDC00"),
        (r"\ud800\u0041", "\u{fffd}A"),
        (r"\ud800\n", "\u{fffd}\n"),
        (r"\ud800\ud834\udd1e", "\u{fffd}\u{1d11e}"),
        (r"\ud834\udd1e\u0000é", "\u{1d11e}\u{fffd}é"),
    ] {
        let text = format!("[\"{literal}\",{{\"{literal}\":1}}]");
        let document = parse_tolerant(text.as_bytes(), DEPTH).unwrap();
        let mut elements = document.root().elements();
        let string = elements.next().and_then(|value| value.as_str());
        assert_eq!(string.as_deref(), Some(characters), "{text}");
        let object: Value<'_> = elements.next().unwrap();
        assert_eq!(object.member(characters).and_then(|v| v.as_i64()), Some(1), "{text}");
    }
}

#[test]
fn any_depth_is_read_to_its_end() {
    let deep = "[".repeat(300_000) + &"]".repeat(300_000);
    let text = format!("{{\"a\":{deep},\"b\":\"\\u0000\"}}");
    let document = parse_tolerant(text.as_bytes(), DEPTH).unwrap();
    let pointers: Vec<_> = document.root().refusals().map(|r| r.fault().pointer).collect();
    assert_eq!(pointers, ["/a/0/0/0", "/b"]);
}

#[test]
fn a_fault_at_any_depth_has_a_short_pointer() {
    let text = "[".repeat(1_000_000);
    let fault = parse_tolerant(text.as_bytes(), DEPTH).map(|_| ()).unwrap_err();
    assert!(fault.is_syntax(), "{fault}");
    assert_eq!((fault.offset, fault.pointer), (1_000_000, "/0".repeat(512)));
}
