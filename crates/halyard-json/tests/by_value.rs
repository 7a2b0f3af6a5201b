//! Equality by value: canonical bytes and the pointers of what differs.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use halyard_json::{POINTER_BYTES_MAX, Text, canonical, changed, equal};

const DEPTH: u16 = 64;

fn text(text: &str) -> Text {
    Text::parse(text, DEPTH).unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

/// All spellings have these canonical bytes, which are their own canonical bytes.
fn check(form: &str, spellings: &[&str]) {
    for spelling in spellings.iter().chain([&form]) {
        let bytes = String::from_utf8(canonical(&text(spelling))).unwrap();
        assert_eq!(bytes, form, "{spelling}");
        assert!(equal(&text(form), &text(spelling)), "{spelling}");
        assert!(changed(&text(form), &text(spelling), 9).is_empty(), "{spelling}");
    }
}

#[test]
fn numbers() {
    check("0e0", &["0", "-0", "0.0", "-0.000", "0e5", "0E-5", "-0.0e+99999999999999999999999"]);
    check("1e0", &["1", "1.0", "1e0", "1E+0", "1e-0", "10e-1", "0.1e1", "0.001e3", "1000e-003"]);
    check("-1e0", &["-1", "-1.000", "-0.1e+01"]);
    check("1e2", &["100", "100.00", "1E2", "10e1", "1e002", "0.01e4"]);
    check("12e-1", &["1.2", "1.20", "0.12e1", "120e-2", "12E-01"]);
    check("1001e-2", &["10.01", "10.010", "0.1001e2"]);
    check("-5e-324", &["-5e-324", "-0.5e-323"]);
    check("9007199254740993e0", &["9007199254740993", "9007199254740993.0"]);
    check("123456789012345678901234567891e0", &["1234567890123456789012345.67891e5"]);
    check("1e9223372036854775807", &["10e9223372036854775806", "0.1e9223372036854775808"]);
    check("1e9223372036854775808", &["10e9223372036854775807", "0.01e+009223372036854775810"]);
    check("1e-9223372036854775808", &["10e-9223372036854775809", "0.1e-9223372036854775807"]);
    check("1e-9223372036854775809", &["0.1e-9223372036854775808", "100e-9223372036854775811"]);
    check(
        "1e9999999999999999999999",
        &["0.1e10000000000000000000000", "1e+009999999999999999999999"],
    );
    check(
        "1e10000000000000000000000",
        &["10e9999999999999999999999", "0.001e10000000000000000000003"],
    );
    check("-1e-10000000000000000000000", &["-0.1e-9999999999999999999999"]);
    check("1e-9999999999999999999999", &["10e-10000000000000000000000"]);
    check("25e999999999999999999999998", &["2.5e999999999999999999999999"]);
}

#[test]
fn huge_numbers() {
    let zeros = "0".repeat(1_000_000);
    check("1e1000000", &[&format!("1{zeros}"), &format!("1{zeros}.{zeros}e-0{zeros}")]);
    check("1e-1000001", &[&format!("0.{zeros}1"), &format!("0.{zeros}1{zeros}")]);
    let nines = "9".repeat(1_000_000);
    check(&format!("1e1{zeros}"), &[&format!("10e{nines}")]);
    check(&format!("1e{nines}"), &[&format!("0.1e1{zeros}")]);
}

#[test]
fn strings_and_members() {
    check(r#""""#, &[]);
    check(r#""é/𝄞""#, &[r#""\u00e9\/\ud834\udd1e""#, r#""\u00E9/𝄞""#]);
    check(
        r#""\"\\\b\t\n\f\r\u0001\u001f""#,
        &[r#""\u0022\u005c\u0008\u0009\u000A\u000c\u000D\u0001\u001F""#],
    );
    check("\"\u{7f}\u{2028}\"", &[r#""\u007f\u2028""#]);
    check("[]", &["[ ]"]);
    check(r#"[1e0,[],{},null,true,"a"]"#, &["[ 1 , [\n] , {\t} , null , true , \"\\u0061\" ]"]);
    check(r#"{"":0e0,"A":1e0,"a":2e0,"aa":3e0,"b":4e0}"#, &[r#"{"b":4,"aa":3,"a":2,"A":1,"":0}"#]);
    check(
        r#"{"a":{"c":2e0,"d":1e0},"b":[{"x":1e0,"y":2e0}]}"#,
        &[r#"{ "b" : [ { "y" : 2 , "x" : 1 } ] , "\u0061" : { "d" : 1.0 , "c" : 20e-1 } }"#],
    );
    // By code point U+E000 stands before U+10000; by UTF-16 unit it would stand behind it.
    check("{\"\u{e000}\":1e0,\"\u{10000}\":2e0}", &[r#"{"\ud800\udc00":2,"\ue000":1}"#]);
    // By character the tab stands before the letter; by literal the backslash would be behind.
    check(r#"{"\t":1e0,"A":2e0}"#, &[r#"{"A":2,"\u0009":1}"#]);
}

#[test]
fn different_values_have_different_forms() {
    let texts = [
        "null",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "10",
        "0.1",
        "1e9223372036854775807",
        "1e9223372036854775808",
        "1e-9223372036854775808",
        "1e999999999999999999999",
        "1e9999999999999999999999",
        "1e-999999999999999999999",
        "9007199254740992",
        "9007199254740993",
        "1.0000000000000000000000000000001",
        "\"\"",
        "\"1\"",
        "\"null\"",
        "\" \"",
        "\"a\"",
        "\"A\"",
        "\"é\"",
        "\"e\u{301}\"",
        "\"\\\\n\"",
        "\"\\n\"",
        "[]",
        "{}",
        "[[]]",
        "[{}]",
        "[1,2]",
        "[2,1]",
        "[12]",
        "[1,[2]]",
        "[[1],2]",
        "[\"1\",2]",
        "[\"1,2\"]",
        "[null]",
        "{\"a\":null}",
        "{\"a\":1}",
        "{\"a\":\"1\"}",
        "{\"a\":1,\"b\":2}",
        "{\"a\":2,\"b\":1}",
        "{\"a\":{\"b\":1}}",
        "{\"a\":{},\"b\":1}",
        "{\"a\\\":1,\\\"b\":2}",
    ];
    for (place, one) in texts.iter().enumerate() {
        for (other_place, other) in texts.iter().enumerate() {
            let same = place == other_place;
            assert_eq!(equal(&text(one), &text(other)), same, "{one} and {other}");
            assert_eq!(changed(&text(one), &text(other), 9).is_empty(), same, "{one} and {other}");
        }
    }
}

/// These pointers differ, whichever of the two texts comes first; fewer when fewer are wanted.
fn check_changed(a: &str, b: &str, pointers: &[&str]) {
    assert_eq!(changed(&text(a), &text(b), 9), pointers, "{a} and {b}");
    assert_eq!(changed(&text(b), &text(a), 9), pointers, "{b} and {a}");
    for most in 0..pointers.len() {
        let first = pointers.get(..most).unwrap();
        assert_eq!(changed(&text(a), &text(b), most), first, "{a} and {b}: {most}");
    }
}

#[test]
fn pointers() {
    check_changed("1", "2", &[""]);
    check_changed("{}", "[]", &[""]);
    check_changed("null", "{\"a\":1}", &[""]);
    check_changed(r#"{"a":1}"#, r#"{"a":2}"#, &["/a"]);
    check_changed(r#"{"a":1}"#, r#"{"b":1}"#, &["/a", "/b"]);
    check_changed(r#"{"a":1,"b":2,"c":3}"#, r#"{"c":4,"b":2.0}"#, &["/a", "/c"]);
    check_changed(r#"{"a":null}"#, "{}", &["/a"]);
    check_changed(
        r#"{"a":{"b":[1,2,{"c":3}]}}"#,
        r#"{"a":{"b":[1,3,{"c":4}]}}"#,
        &["/a/b/1", "/a/b/2/c"],
    );
    check_changed("[1,2,3]", "[1]", &["/1", "/2"]);
    check_changed("[1,2,3]", "[2,3]", &["/0", "/1", "/2"]);
    check_changed("[[],[[]]]", "[[1],[[],[]]]", &["/0/0", "/1/1"]);
    check_changed(
        r#"{"a/b":1,"m~n":1,"":1," ":1}"#,
        r#"{"a/b":2,"m~n":2,"":2," ":2}"#,
        &["/", "/ ", "/a~1b", "/m~0n"],
    );
    check_changed(r#"{"\u00e9":1}"#, r#"{"é":2}"#, &["/é"]);
    check_changed(r#"{"a":[1]}"#, r#"{"a":{"0":1}}"#, &["/a"]);
}

#[test]
fn long_pointers_give_way_to_the_enclosing_value() {
    let long = "n".repeat(POINTER_BYTES_MAX);
    let body =
        |value: &str| format!(r#"{{"a":{{"{long}":{value},"{long}x":{value},"z":1}},"b":1}}"#);
    check_changed(&body("1"), &body("2"), &["/a"]);
    check_changed(&body("1"), &body("1.0"), &[]);
    check_changed(&body("1"), &body("1").replace(r#""z":1"#, r#""z":2"#), &["/a/z"]);
    let fits = "n".repeat(POINTER_BYTES_MAX - 1);
    check_changed(&format!(r#"{{"{fits}":1}}"#), "{}", &[&format!("/{fits}")]);
}

#[test]
fn deepest_texts() {
    let nested = |inner: &str| {
        let deep = "[".repeat(199) + inner + &"]".repeat(199);
        Text::parse(&deep, 200).unwrap()
    };
    assert!(equal(&nested("1"), &nested("1.0")) && !equal(&nested("1"), &nested("2")));
    assert_eq!(changed(&nested("1"), &nested("2"), 9), ["/0".repeat(199)]);
}

#[test]
fn what_was_never_read_equals_only_itself() {
    let broken = Text::trusted("[1,");
    assert!(equal(&broken, &Text::trusted("[1,")) && !equal(&broken, &Text::trusted("[1, ")));
    assert!(!equal(&broken, &text("[1]")));
    assert_eq!(changed(&broken, &text("[1]"), 9), [""]);
    let deep = "[".repeat(100_000);
    assert!(!equal(&Text::trusted(deep), &broken));
}
