//! Times: what is read, what is refused and why, and that each day of ten thousand years is right.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use halyard_api::Timestamp;
use halyard_api::timestamp::TimestampFault::{self, Day, Form, Offset, OffsetMissing};
use halyard_api::timestamp::TimestampFault::{Range, TimeOfDay};

/// The text is read as so many milliseconds, or refused for this reason.
fn check(text: &str, wanted: Result<i64, TimestampFault>) {
    assert_eq!(Timestamp::parse(text).map(Timestamp::as_ms), wanted, "{text}");
}

#[test]
fn read() {
    for (text, ms) in [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.001Z", 1),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2026-11-29T08:15:30.25Z", 1_795_940_130_250),
        ("2026-11-29T08:15:30.250999999Z", 1_795_940_130_250),
        ("2026-11-29T08:15:30.2509999999999999999999999Z", 1_795_940_130_250),
        ("1969-12-31T23:59:59.9999Z", -1),
        ("2026-11-29t08:15:30z", 1_795_940_130_000),
        ("2026-11-29T08:15:30+00:00", 1_795_940_130_000),
        ("2026-11-29T08:15:30-00:00", 1_795_940_130_000),
        ("2026-11-29T09:15:30+01:00", 1_795_940_130_000),
        ("2026-11-29T02:45:30-05:30", 1_795_940_130_000),
        ("2026-11-30T08:14:30+23:59", 1_795_940_130_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("2000-02-29T00:00:00Z", 951_782_400_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ("0000-01-01T00:00:00Z", -62_167_219_200_000),
    ] {
        check(text, Ok(ms));
    }
}

#[test]
fn refused() {
    for (text, fault) in [
        ("", Form),
        ("now", Form),
        ("2026", Form),
        ("2026-11-29", Form),
        ("1795940130", Form),
        ("2026-11-29 08:15:30Z", Form),
        ("2026-11-29T08:15Z", Form),
        ("2026-11-29T08:15:30.Z", Form),
        ("2026-11-29T08:15:30,5Z", Form),
        ("2026-11-29T8:15:30Z", Form),
        ("+2026-11-29T08:15:30Z", Form),
        ("12026-11-29T08:15:30Z", Form),
        ("-001-11-29T08:15:30Z", Form),
        (" 2026-11-29T08:15:30Z", Form),
        ("2026-11-29T08:15:30Z ", Form),
        ("2026-11-29T08:15:30ZZ", Form),
        ("2026-11-29T08:15:30Europe/Berlin", Form),
        ("2026-11-29T08:15:30+0100", Form),
        ("2026-11-29T08:15:30+01", Form),
        ("2026-11-29T08:15:30+01:00[Europe/Berlin]", Form),
        ("２０２６-11-29T08:15:30Z", Form),
        ("2026-11-29T08:15:30−01:00", Form),
        ("2026-11-29T08:15:30", OffsetMissing),
        ("2026-11-29T08:15:30.250", OffsetMissing),
        ("2026-11-29T08:15:30+24:00", Offset),
        ("2026-11-29T08:15:30+01:60", Offset),
        ("2026-02-30T00:00:00Z", Day),
        ("2026-02-29T00:00:00Z", Day),
        ("1900-02-29T00:00:00Z", Day),
        ("2026-04-31T00:00:00Z", Day),
        ("2026-00-01T00:00:00Z", Day),
        ("2026-13-01T00:00:00Z", Day),
        ("2026-01-00T00:00:00Z", Day),
        ("2026-01-32T00:00:00Z", Day),
        ("2026-11-29T24:00:00Z", TimeOfDay),
        ("2026-11-29T08:60:00Z", TimeOfDay),
        ("2026-11-29T08:15:60Z", TimeOfDay),
        ("2016-12-31T23:59:60Z", TimeOfDay),
        ("9999-12-31T23:59:59-00:01", Range),
        ("0000-01-01T00:00:00+00:01", Range),
    ] {
        check(text, Err(fault));
        assert!(fault.to_string().starts_with("must "), "{fault} continues a field's name");
    }
}

#[test]
fn every_day_follows_the_one_before() {
    let first = Timestamp::parse("0000-01-01T00:00:00Z").unwrap().as_ms();
    let last = Timestamp::parse("9999-12-31T00:00:00Z").unwrap().as_ms();
    let mut before = String::new();
    for day in (first..=last).step_by(86_400_000) {
        let ms = day + day.rem_euclid(86_399_989);
        let text = Timestamp::from_ms(ms).to_string();
        assert!(text > before, "{before} then {text}");
        check(&text, Ok(ms));
        before = text;
    }
    assert_eq!((last - first) / 86_400_000 + 1, 3_652_425, "days of 10,000 years");
}

#[test]
fn agrees_with_another_calendar() {
    let first = Timestamp::parse("0000-01-01T00:00:00Z").unwrap().as_ms();
    let last = Timestamp::parse("9999-12-30T00:00:00Z").unwrap().as_ms();
    for ms in (first..=last).step_by(3_155_692_597) {
        let other = jiff::Timestamp::from_millisecond(ms).unwrap();
        assert_eq!(Timestamp::from_ms(ms).to_string(), format!("{other:.3}"));
    }
}

#[test]
fn what_cannot_be_written_is_the_nearest_that_can() {
    for (ms, text) in [
        (i64::MAX, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "9999-12-31T23:59:59.999Z"),
        (i64::MIN, "0000-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(Timestamp::from_ms(ms).to_string(), text);
    }
}

#[test]
fn in_json() {
    let time = Timestamp::from_ms(1_795_940_130_250);
    let json = serde_json::to_string(&time).unwrap();
    assert_eq!(json, "\"2026-11-29T08:15:30.250Z\"");
    assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
    assert_eq!(
        serde_json::from_str::<Timestamp>("\"2026-11-29\\u005408:15:30.25Z\"").unwrap(),
        time
    );
    assert!(serde_json::from_str::<Timestamp>("1795940130250").is_err());
}
