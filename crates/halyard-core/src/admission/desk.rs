//! The desk that looks at each member: its value, the rule, the sentence that says both, and reads
//! on from the name of the member.

use halyard_json::Text;

use super::{Application, BackoffWish, Due, Fault, excerpt};
use crate::backoff::Backoff;
use crate::id::JobId;
use crate::{TimeMs, limits, name};

/// Collects what is wrong, member by member.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) faults: Vec<Fault>,
}

impl Desk {
    fn refuse(&mut self, field: &str, message: String) {
        self.faults.push(Fault { field: field.to_owned(), message, too_large: false });
    }

    pub(super) fn payload(&mut self, field: &str, payload: &Text) {
        if payload.len() > limits::PAYLOAD_BYTES_MAX {
            let max = limits::PAYLOAD_BYTES_MAX;
            let message = format!("has {} bytes; at most {max} are kept", payload.len());
            self.faults.push(Fault { field: field.to_owned(), message, too_large: true });
        } else if payload.height() > limits::VALUE_DEPTH_MAX {
            let max = limits::VALUE_DEPTH_MAX;
            self.refuse(field, format!("is nested deeper than {max} levels"));
        }
    }

    fn text(&mut self, field: &str, text: &str, verdict: Result<(), String>) {
        if let Err(rule) = verdict {
            self.refuse(field, format!("is {}; it {rule}", excerpt(text)));
        }
    }

    pub(super) fn names(&mut self, sent: &Application<'_>, queue: &str) {
        self.text("task", sent.task, name::check_name(sent.task));
        self.text("queue", queue, name::check_name(queue));
        if let Some(key) = sent.idempotency_key {
            self.text("idempotency_key", key, name::check_key(key));
        }
        if sent.tags.len() > limits::TAGS_MAX {
            let (count, max) = (sent.tags.len(), limits::TAGS_MAX);
            self.refuse("tags", format!("has {count} entries; at most {max} are kept"));
        }
        for (index, tag) in sent.tags.iter().enumerate() {
            self.text(&format!("tags/{index}"), tag, name::check_name(tag));
        }
        if let Some(text) = sent.traceparent {
            self.text("traceparent", text, check_traceparent(text));
        }
    }

    pub(super) fn id(&mut self, sent: Option<&str>, made: JobId) -> JobId {
        let Some(text) = sent else { return made };
        JobId::parse(text).unwrap_or_else(|| {
            let rule = "must be job_ and a UUIDv7 in 26 characters of lower-case Crockford base32";
            self.refuse("id", format!("is {}; it {rule}", excerpt(text)));
            made
        })
    }

    pub(super) fn number<T: TryFrom<i64>>(
        &mut self,
        field: &str,
        sent: Option<i64>,
        range: std::ops::RangeInclusive<i64>,
        default: T,
    ) -> T {
        let Some(number) = sent else { return default };
        match T::try_from(number) {
            Ok(fits) if range.contains(&number) => fits,
            Ok(_) | Err(_) => {
                let (min, max) = range.into_inner();
                self.refuse(field, format!("is {number}; it must be {min} to {max}"));
                default
            }
        }
    }

    pub(super) fn share(
        &mut self,
        field: &str,
        sent: Option<f64>,
        min: f64,
        max: f64,
        default: f64,
    ) -> f64 {
        let Some(number) = sent else { return default };
        if (min..=max).contains(&number) {
            return number;
        }
        self.refuse(field, format!("is {number}; it must be {min} to {max}"));
        default
    }

    pub(super) fn backoff(&mut self, sent: BackoffWish) -> Backoff {
        let default = Backoff::default();
        let (initial, max) = (limits::BACKOFF_INITIAL_MS_MAX, limits::BACKOFF_MS_MAX);
        let factor_max = limits::BACKOFF_FACTOR_MAX;
        Backoff {
            initial_ms: self.number(
                "backoff/initial_ms",
                sent.initial_ms,
                0..=initial,
                default.initial_ms,
            ),
            factor: self.share("backoff/factor", sent.factor, 1.0, factor_max, default.factor),
            max_ms: self.number("backoff/max_ms", sent.max_ms, 0..=max, default.max_ms),
            jitter: self.share("backoff/jitter", sent.jitter, 0.0, 1.0, default.jitter),
        }
    }

    pub(super) fn due(
        &mut self,
        run_at: Option<TimeMs>,
        delay_ms: Option<i64>,
        now: TimeMs,
    ) -> Due {
        let ahead = limits::RUN_AHEAD_MS_MAX;
        match (run_at, delay_ms) {
            (Some(_), Some(_)) => {
                self.refuse("delay_ms", "must be left out beside run_at".to_owned());
                Due::Now
            }
            (Some(at), None) if at > now.saturating_add(ahead) => {
                let days = ahead / limits::DAY;
                self.refuse("run_at", format!("is more than {days} days ahead"));
                Due::Now
            }
            (Some(at), None) => Due::At(at),
            (None, Some(_)) => Due::After(self.number("delay_ms", delay_ms, 0..=ahead, 0)),
            (None, None) => Due::Now,
        }
    }
}

/// W3C Trace Context, section 3.2.2: version, trace id, parent id, flags; later versions may add
/// more.
fn check_traceparent(text: &str) -> Result<(), String> {
    let hex = |part: Option<&str>, length: usize| {
        part.is_some_and(|part| {
            part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
    };
    // All zeros stand for "no id", and the version ff for none.
    let id = |part: Option<&str>, length: usize| {
        hex(part, length) && part.is_some_and(|part| part.bytes().any(|byte| byte != b'0'))
    };
    let mut parts = text.split('-');
    let version = parts.next();
    let well_formed = hex(version, 2)
        && version != Some("ff")
        && id(parts.next(), 32)
        && id(parts.next(), 16)
        && hex(parts.next(), 2)
        && (version != Some("00") || parts.next().is_none())
        && text.len() <= limits::NAME_LENGTH_MAX
        && text.is_ascii();
    if well_formed {
        return Ok(());
    }
    let form = "00-<32 hex digits>-<16 hex digits>-<2 hex digits>";
    Err(format!("must be a W3C traceparent, as in {form}, with neither id all zeros"))
}
