//! How the client repeats its own calls. Pure: time and chance are parameters.
//!
//! Every call of the API may be sent again (a create carries its id, a claim its `claim_id`, a
//! report its token), so whatever looks temporary is repeated: broken connections, 408, 429 and
//! 5xx, with growing pauses spread by chance, and never earlier than a `Retry-After` asks.

use std::time::{Duration, SystemTime};

/// The pause before the first repeat; each further one is twice as long.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
/// The longest pause that the client chooses by itself.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// The longest wait that a `Retry-After` is understood to ask for.
const ASKED_MAX: Duration = Duration::from_secs(365 * 86_400);

/// Whether an answer with this status says that the same request may succeed later.
pub(crate) fn is_temporary(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// The pause before repeat number `repeat`, from 1. `chance` is in 0..1 and shortens the client's
/// own pause to no less than half; what the server asked for is only ever lengthened, by up to a
/// quarter of it or [`PAUSE_MAX`], so that callers who were told the same time part.
pub(crate) fn pause(repeat: u32, asked: Option<Duration>, chance: f64) -> Duration {
    let doubled = PAUSE_FIRST.saturating_mul(1 << repeat.saturating_sub(1).min(16));
    let own = doubled.min(PAUSE_MAX).mul_f64(1.0 - chance / 2.0);
    match asked {
        Some(asked) => (asked + (asked / 4).min(PAUSE_MAX).mul_f64(chance)).max(own),
        None => own,
    }
}

/// The wait that a `Retry-After` header asks for: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds).min(ASKED_MAX));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or_default().min(ASKED_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary() {
        let temporary: Vec<u16> = (100..600).filter(|status| is_temporary(*status)).collect();
        let expected: Vec<u16> = [408, 429].into_iter().chain(500..600).collect();
        assert_eq!(temporary, expected);
    }

    #[test]
    fn pauses() {
        let ms = Duration::from_millis;
        for (repeat, asked, chance, expected) in [
            (1, None, 0.0, ms(50)),
            (1, None, 1.0, ms(25)),
            (2, None, 0.0, ms(100)),
            (6, None, 0.0, ms(1600)),
            (7, None, 0.0, ms(2000)),
            (u32::MAX, None, 0.0, ms(2000)),
            (1, Some(ms(1000)), 0.0, ms(1000)),
            (1, Some(ms(1000)), 1.0, ms(1250)),
            (1, Some(ms(60_000)), 1.0, ms(62_000)),
            (7, Some(ms(0)), 0.0, ms(2000)),
        ] {
            assert_eq!(pause(repeat, asked, chance), expected, "{repeat} {asked:?} {chance}");
        }
    }

    #[test]
    fn headers() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (value, expected) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(0)),
            ("18446744073709551615", Some(365 * 86_400)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(value, now), expected.map(Duration::from_secs), "{value:?}");
        }
    }
}
