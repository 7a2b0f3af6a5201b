//! Spans of time as people write them: `250ms`, `90s`, `5m`, `1h30m`, `2d`.

use std::time::Duration;

/// Units, each with its milliseconds.
const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Reads a span.
///
/// # Errors
/// A sentence that says how one is written.
pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no span of time; one is 250ms, 90s, 5m, 1h30m or 2d");
    if text.trim_start().starts_with('-') {
        return Err(format!("`{text}` lies in the past; a span of time is 0s or longer"));
    }
    let mut rest = text.trim();
    let mut ms = 0_u64;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters =
            after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at(letters);
        let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ms)| *ms);
        let part = number.parse::<u64>().ok().zip(factor);
        ms = part
            .and_then(|(number, factor)| number.checked_mul(factor)?.checked_add(ms))
            .ok_or_else(wrong)?;
        rest = after;
    }
    Ok(Duration::from_millis(ms))
}

/// A span for people, in its largest unit: `4d`, `3h`, `12m`, `7s`, `250ms`.
#[must_use]
pub fn rough(ms: i64) -> String {
    let span = ms.unsigned_abs();
    let (unit, factor) =
        UNITS.into_iter().rev().find(|(_, factor)| span >= *factor).unwrap_or(("ms", 1));
    format!("{}{unit}", span / factor)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        for (text, ms) in [
            ("0s", Some(0)),
            ("250ms", Some(250)),
            ("90s", Some(90_000)),
            ("5m", Some(300_000)),
            (" 1h30m ", Some(5_400_000)),
            ("2d", Some(172_800_000)),
            ("1d1ms", Some(86_400_001)),
            ("", None),
            ("5", None),
            ("m", None),
            ("-5m", None),
            ("1.5h", None),
            ("5 m", None),
            ("5min", None),
            ("5M", None),
            ("18446744073709551615d", None),
            ("٣s", None),
        ] {
            assert_eq!(parse(text).ok(), ms.map(Duration::from_millis), "{text:?}");
        }
        let error = parse("5").unwrap_err();
        assert!(error.contains("`5`") && error.contains("1h30m"), "{error}");
    }

    #[test]
    fn rough_spans() {
        for (ms, shown) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_000, "1s"),
            (59_999, "59s"),
            (60_000, "1m"),
            (7_199_999, "1h"),
            (-86_400_000, "1d"),
            (i64::MIN, "106751991167d"),
        ] {
            assert_eq!(rough(ms), shown);
        }
    }
}
