//! Query strings and the header `Idempotency-Key`: what is read and what is refused.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use halyard_api::jobs::{create, delete, get, list};
use halyard_api::problem::Code::{self, CursorMismatch, InvalidField, MissingField, UnknownField};
use halyard_api::state::{Order, State};
use halyard_api::{Faults, Timestamp, headers, keys, query};

type Read = fn(Option<&str>) -> Result<String, Faults>;

const CREATE: Read = |raw| create::read_query(raw).map(|read| format!("{:?}", read.wait_ms));
const GET: Read = |raw| get::read_query(raw).map(|read| format!("{:?}", read.wait_ms));
const DELETE: Read = |raw| delete::read_query(raw).map(|read| format!("{:?}", read.forget_key));
const KEYS: Read = |raw| keys::read_query(raw).map(|read| format!("{} {}", read.task, read.key));
const LIST: Read = |raw| list::read_query(raw).map(|_| String::new());
const NONE: Read = |raw| query::read_none(raw).map(|()| String::new());

/// The query is read as this.
fn check(read: Read, raw: &str, wanted: &str) {
    assert_eq!(read(Some(raw)).as_deref(), Ok(wanted), "{raw}");
}

/// The query has exactly these faults.
fn check_refused(read: Read, raw: &str, wanted: &[(Code, &str, &str)]) {
    let faults = read(Some(raw)).unwrap_err();
    let told =
        |e: &halyard_api::problem::FieldError| (e.code, e.pointer.clone(), e.message.clone());
    let found: Vec<_> = faults.errors().iter().map(told).collect();
    let found: Vec<_> = found.iter().map(|(c, p, m)| (*c, p.as_str(), m.as_str())).collect();
    assert_eq!(found, wanted, "{raw}");
}

#[test]
fn read() {
    for reader in [CREATE, GET] {
        assert_eq!(reader(None).as_deref(), Ok("None"));
        check(reader, "", "None");
        check(reader, "&", "None");
        check(reader, "wait_ms=0", "Some(0)");
        check(reader, "wait%5fms=55000", "Some(55000)");
        check(reader, "wait_ms=99999999999999999999", "Some(18446744073709551615)");
    }
    check(DELETE, "forget_key=true", "Some(true)");
    check(DELETE, "forget_key=false", "Some(false)");
    check(KEYS, "task=t&key=a+b%2Bc%26%C3%A9=x", "t a b+c&é=x");
    check(NONE, "", "");
}

#[test]
fn lists() {
    let raw = "state=failed,retrying&queue=q&task=t&tag=g&idempotency_key=k&order=asc&limit=7\
        &created_after=2026-11-29T08:15:30Z&created_before=2026-11-29T08:15:30.5%2B01:00&cursor=c";
    let read = list::read_query(Some(raw)).unwrap();
    let wanted = list::ListJobs {
        state: vec![State::Failed, State::Retrying],
        queue: Some("q".to_owned()),
        task: Some("t".to_owned()),
        tag: Some("g".to_owned()),
        idempotency_key: Some("k".to_owned()),
        created_after: Some(Timestamp::from_ms(1_795_940_130_000)),
        created_before: Some(Timestamp::from_ms(1_795_936_530_500)),
        order: Some(Order::Asc),
        limit: Some(7),
        cursor: Some("c".to_owned()),
    };
    assert_eq!(read, wanted);
    assert_eq!(list::read_query(None).unwrap(), list::ListJobs::default());
}

#[test]
fn refused() {
    for (reader, raw, code, pointer, words) in [
        (
            GET,
            "wait=5",
            UnknownField,
            "?wait",
            "wait is not known in this query; did you mean \"wait_ms\"?",
        ),
        (
            GET,
            "wait_ms",
            InvalidField,
            "?wait_ms",
            "wait_ms must have a value or be left out, not \"\"",
        ),
        (
            GET,
            "wait_ms=-1",
            InvalidField,
            "?wait_ms",
            "wait_ms must be an integer from 0 on, not \"-1\"",
        ),
        (
            GET,
            "wait_ms=1.0",
            InvalidField,
            "?wait_ms",
            "wait_ms must be an integer from 0 on, not \"1.0\"",
        ),
        (
            GET,
            "wait_ms=1&wait_ms=1",
            InvalidField,
            "?wait_ms",
            "wait_ms must be given once, not \"1\"",
        ),
        (NONE, "pretty=1", UnknownField, "?pretty", "pretty is not known in this query"),
        (NONE, "%ff=1", InvalidField, "?%ff", "%ff must be UTF-8 once its escapes are decoded"),
        (NONE, "=1", UnknownField, "?", " is not known in this query"),
        (
            DELETE,
            "forget_key=1",
            InvalidField,
            "?forget_key",
            "forget_key must be true or false, not \"1\"",
        ),
        (KEYS, "task=t", MissingField, "?key", "key is required"),
        (
            KEYS,
            "task=&key=k",
            InvalidField,
            "?task",
            "task must have a value or be left out, not \"\"",
        ),
        (
            KEYS,
            "task=t&key=%ff",
            InvalidField,
            "?key",
            "key must be UTF-8 once its escapes are decoded",
        ),
    ] {
        check_refused(reader, raw, &[(code, pointer, words)]);
    }
}

#[test]
fn everything_that_is_missing_is_named() {
    check_refused(
        KEYS,
        "",
        &[(MissingField, "?task", "task is required"), (MissingField, "?key", "key is required")],
    );
}

#[test]
fn refused_lists() {
    for (raw, code, pointer, words) in [
        ("tag=a%00b", InvalidField, "?tag", "tag must hold no character U+0000, not \"a\\0b\""),
        ("queue=", InvalidField, "?queue", "queue must have a value or be left out, not \"\""),
        (
            "cursor=",
            CursorMismatch,
            "?cursor",
            "cursor is empty, which no list ever gave; leave it out for the first page",
        ),
        ("limit=0", InvalidField, "?limit", "limit must be an integer from 1 on, not \"0\""),
        ("idempotency_key=k", MissingField, "?task", "task is required beside idempotency_key"),
        ("order=up", InvalidField, "?order", "order must be one of asc, desc, not \"up\""),
        (
            "state=failed,canceled,x",
            InvalidField,
            "?state",
            "state must be one of scheduled, queued, running, retrying, completed, \
             failed, cancelled, not \"canceled\"; did you mean \"cancelled\"?",
        ),
        (
            "created_after=2026-11-29T08:15:30+01:00",
            InvalidField,
            "?created_after",
            "created_after must be a time in RFC 3339 such as 2026-11-29T08:15:30Z \
             (write + as %2B), not \"2026-11-29T08:15:30 01:00\"",
        ),
    ] {
        check_refused(LIST, raw, &[(code, pointer, words)]);
    }
}

/// The header is read as this key; `None`: refused.
fn check_header(value: &[u8], wanted: Option<&str>) {
    let read = headers::idempotency_key([value]);
    assert_eq!(read.ok().flatten().as_deref(), wanted, "{}", String::from_utf8_lossy(value));
}

#[test]
fn idempotency_key_header() {
    let longest = "k".repeat(255);
    let too_long = "k".repeat(256);
    assert_eq!(headers::idempotency_key([]), Ok(None));
    for (value, key) in [
        (&b"abc-1"[..], Some("abc-1")),
        (b" abc ", Some("abc")),
        (b"\"abc\"", Some("abc")),
        (br#""a\"b\\c""#, Some(r#"a"b\c"#)),
        (br"a\b", Some(r"a\b")),
        (longest.as_bytes(), Some(&longest)),
        (too_long.as_bytes(), None),
        (b"", None),
        (b"\"\"", None),
        (b"\"", None),
        (b"\"abc", None),
        (b"abc\"", None),
        (br#""a"b""#, None),
        (br#""a\nb""#, None),
        (br#""a\""#, None),
        (b"a b", None),
        (b"a\tb", None),
        (b"\"a b\"", None),
        ("é".as_bytes(), None),
        (b"a\xff", None),
    ] {
        check_header(value, key);
    }
    let twice = headers::idempotency_key([&b"a"[..], b"a"]).unwrap_err();
    let fault = twice.errors().first().unwrap().clone();
    assert_eq!((fault.code, fault.pointer.as_str()), (InvalidField, "Idempotency-Key"));
}
