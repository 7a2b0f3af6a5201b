//! Texts that must be accepted, and what is read from them.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use std::borrow::Cow;

use halyard_json::{Kind, Text, Value, parse};

const DEPTH: u16 = 64;

/// The text is accepted, its root is of this kind and height, and its raw bytes are `raw`.
fn check(text: &str, kind: Kind, height: u16, raw: &str) {
    let document = parse(text.as_bytes(), DEPTH).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let root = document.root();
    assert_eq!((root.kind(), root.height(), root.raw()), (kind, height, raw), "{text}");
    assert_eq!(root.to_text().as_str(), raw, "{text}");
    assert_eq!(Text::trusted(raw).height(), height, "{text}: height of the trusted text");
    let theirs: Result<&serde_json::value::RawValue, _> = serde_json::from_str(text);
    assert!(theirs.is_ok(), "{text}: serde_json refuses it");
}

#[test]
fn scalars() {
    for text in ["null", " null", "null\n", "\t\r\n null \t\r\n"] {
        check(text, Kind::Null, 0, "null");
    }
    check("true", Kind::Bool, 0, "true");
    check(" false ", Kind::Bool, 0, "false");
}

#[test]
fn numbers() {
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "123456789",
        "0.0",
        "-0.0",
        "0.1",
        "1.5",
        "100.001",
        "1e1",
        "1E1",
        "1e+1",
        "1e-1",
        "1E+1",
        "1E-1",
        "0e0",
        "0e+00",
        "1e00",
        "1e0001",
        "-1.5e-10",
        "1.0E+2",
        "20e1",
        "9007199254740993",
        "18446744073709551616",
        "1e400",
        "-1e400",
        "1e-400",
        "123e65",
        "0.4e00669999999999999999999999999999999999999999999999999969999999006",
        "-123123123123123123123123123123",
        "1e999999999999999999999",
        "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001",
    ] {
        check(text, Kind::Number, 0, text);
    }
}

#[test]
fn strings() {
    for (text, characters) in [
        (r#""""#, ""),
        (r#"" ""#, " "),
        (r#""a""#, "a"),
        (r#""abcdefgh""#, "abcdefgh"),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""A\u00e9\u20AC""#, "Aé€"),
        (r#""\u0001\u001f\u007f""#, "\u{1}\u{1f}\u{7f}"),
        (r#""\uD834\uDD1E""#, "𝄞"),
        (r#""\ud834\udd1e!""#, "𝄞!"),
        (r#""\uDBFF\uDFFF""#, "\u{10ffff}"),
        (r#""\uD800\uDC00""#, "\u{10000}"),
        (r#""\uD7FF\uE000""#, "\u{d7ff}\u{e000}"),
        (r#""\uFFFE\uFFFF""#, "\u{fffe}\u{ffff}"),
        (r#""\uFEFF""#, "\u{feff}"),
        (r#""\\u0000""#, "\\u0000"),
        (r#""\\\u0041é""#, "\\Aé"),
        (r#""\\a""#, "\\a"),
        ("\"é€𝄞\u{7f}\u{85}\u{2028}\u{2029}\"", "é€𝄞\u{7f}\u{85}\u{2028}\u{2029}"),
        ("\"\u{feff}\u{fffd}\u{10ffff}\"", "\u{feff}\u{fffd}\u{10ffff}"),
        (r#""a/b~c // not a comment /* nor this */""#, "a/b~c // not a comment /* nor this */"),
        (r#""[{]},:""#, "[{]},:"),
        (r#""1234567\"90""#, "1234567\"90"),
    ] {
        check(text, Kind::String, 0, text);
        let document = parse(text.as_bytes(), DEPTH).unwrap();
        let read = document.root().as_str().unwrap();
        assert_eq!(read, characters, "{text}");
        assert_eq!(matches!(read, Cow::Owned(_)), text.contains('\\'), "{text}: borrowed");
    }
}

#[test]
fn containers() {
    for (text, kind, height) in [
        ("[]", Kind::Array, 1),
        ("{}", Kind::Object, 1),
        ("[ ]", Kind::Array, 1),
        ("{\n}", Kind::Object, 1),
        ("[[]]", Kind::Array, 2),
        ("[[],[[]],1]", Kind::Array, 3),
        ("[null, 1, \"1\", {}]", Kind::Array, 2),
        ("[1\n,2 , 3\t]", Kind::Array, 1),
        ("[\"\",\"\"]", Kind::Array, 1),
        ("{\"\":0}", Kind::Object, 1),
        ("{ \"a\" : 1 , \"b\" : [ ] }", Kind::Object, 2),
        (r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#, Kind::Object, 3),
        (r#"{"a":1,"A":2,"ä":3,"a ":4,"\u0061b":5}"#, Kind::Object, 1),
        (r#"{"\u00e9":1,"e\u0301":2}"#, Kind::Object, 1),
        ("{\"__proto__\":1,\"constructor\":2}", Kind::Object, 1),
        ("{\"min\":-1.0e+28,\"max\":1.0e+28}", Kind::Object, 1),
        ("{\"a\\tb\":1,\"a\\\\tb\":2}", Kind::Object, 1),
    ] {
        check(text, kind, height, text);
    }
}

#[test]
fn nesting_up_to_the_limit() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let inner = if open == "[" { "" } else { "1" };
        let text = format!("{}{inner}{}", open.repeat(64), close.repeat(64));
        check(&text, if open == "[" { Kind::Array } else { Kind::Object }, 64, &text);
    }
}

#[test]
fn members_and_elements() {
    let text = r#"{"a":[1,[2,3],{"x":null}],"\u0062":true,"c":{"a":"\n"}}"#;
    let document = parse(text.as_bytes(), DEPTH).unwrap();
    let root = document.root();
    let members: Vec<_> = root.members().map(|(name, value)| (name, value.raw())).collect();
    assert_eq!(
        members,
        [
            (Cow::Borrowed("a"), r#"[1,[2,3],{"x":null}]"#),
            (Cow::Borrowed("b"), "true"),
            (Cow::Borrowed("c"), r#"{"a":"\n"}"#),
        ]
    );
    let raw = |values: Vec<Value<'_>>| values.iter().map(|v| v.raw().to_owned()).collect();
    let elements: Vec<String> = raw(root.member("a").unwrap().elements().collect());
    assert_eq!(elements, ["1", "[2,3]", r#"{"x":null}"#]);
    assert_eq!(root.member("b").unwrap().as_bool(), Some(true));
    assert_eq!(root.member("a").unwrap().elements().nth(1).unwrap().height(), 1);
    assert_eq!((root.len(), root.member("a").unwrap().len(), root.elements().count()), (3, 3, 0));
    assert!(root.member("d").is_none() && root.member("x").is_none());
    assert!(!root.is_empty() && root.member("b").unwrap().is_empty());
    assert_eq!(root.member("c").unwrap().offset(), text.find(r#"{"a":"\n"#).unwrap());
}

#[test]
fn integers_and_floats() {
    for (text, integer, float) in [
        ("0", Some(0), Some(0.0)),
        ("-0", Some(0), Some(-0.0)),
        ("9223372036854775807", Some(i64::MAX), Some(9_223_372_036_854_775_807.0)),
        ("-9223372036854775808", Some(i64::MIN), Some(-9_223_372_036_854_775_808.0)),
        ("9223372036854775808", None, Some(9_223_372_036_854_775_808.0)),
        ("1.0", None, Some(1.0)),
        ("1e0", None, Some(1.0)),
        ("0.1", None, Some(0.1)),
        ("1e309", None, None),
        ("1e-400", None, Some(0.0)),
        ("\"1\"", None, None),
        ("null", None, None),
        ("[1]", None, None),
    ] {
        let document = parse(text.as_bytes(), DEPTH).unwrap();
        let root = document.root();
        assert_eq!((root.as_i64(), root.as_f64()), (integer, float), "{text}");
        assert_eq!(root.as_number().is_some(), root.kind() == Kind::Number, "{text}");
    }
}

#[test]
fn large_texts() {
    let number = format!("1{}", "0".repeat(10_000_000));
    check(&number, Kind::Number, 0, &number);
    let flat = format!("[{}0]", "0,".repeat(200_000));
    check(&flat, Kind::Array, 1, &flat);
    let many: Vec<String> = (0..100_000).map(|n| format!("\"n{n}\":{n}")).collect();
    let many = format!("{{{}}}", many.join(","));
    check(&many, Kind::Object, 1, &many);
}

#[test]
fn texts() {
    assert!(Text::null().is_null() && Text::parse(" null ", 0).unwrap().is_null());
    let text = Text::parse(" [1, 2] ", 1).unwrap();
    assert_eq!((text.as_str(), text.len(), text.height(), text.is_null()), ("[1, 2]", 6, 1, false));
    assert_eq!(text, Text::trusted("[1, 2]"));
    assert_ne!(text, Text::trusted("[1,2]"));
    assert_eq!(Text::trusted(r#"["]\"[[[", {"\\":[]}]"#.to_owned()).height(), 3);
}
