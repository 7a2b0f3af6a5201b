//! Stripe's rules for `Idempotency-Key`: who is answered from the record, and who is refused.
//!
//! Source: <https://docs.stripe.com/api/idempotent_requests> and the error codes there.

use std::collections::{HashMap, VecDeque};

use http::StatusCode;

use super::answer::Answer;
use super::form::Group;

/// How long an answer is replayed: Stripe removes keys after at least 24 hours.
pub(super) const KEPT_MS: u64 = 24 * 60 * 60 * 1_000;
const KEY_CHARS_MAX: usize = 255;

/// One keyed call: the key, where it was sent, and with what.
#[derive(Debug, Clone)]
pub(super) struct Keyed {
    pub(super) key: String,
    pub(super) path: String,
    pub(super) fields: Group,
    pub(super) request_id: String,
}

/// What a key says about the call that carries it.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing is recorded: the endpoint may run.
    Nothing,
    Recorded(Answer),
    /// 409: the first call with the key is under way.
    UnderWay(Answer),
    /// 400: the key belongs to another call, or is none.
    Refused(Answer),
}

#[derive(Debug)]
struct Entry {
    first: Keyed,
    begun_ms: u64,
    /// Absent while the call is under way.
    answer: Option<Answer>,
}

#[derive(Debug, Default)]
pub(super) struct Keys {
    entries: HashMap<String, Entry>,
    /// Every key with the time it was begun, oldest first: what expires next.
    begun: VecDeque<(u64, String)>,
}

impl Keys {
    pub(super) fn find(&mut self, call: &Keyed, now_ms: u64) -> Found {
        self.expire(now_ms);
        if call.key.is_empty() || call.key.chars().count() > KEY_CHARS_MAX {
            let message = format!("Idempotency keys have 1 to {KEY_CHARS_MAX} characters.");
            return Found::Refused(Answer::invalid(message));
        }
        let Some(entry) = self.entries.get(&call.key) else {
            return Found::Nothing;
        };
        let key = &call.key;
        if entry.first.path != call.path {
            return Found::Refused(other_call(format!(
                "Keys for idempotent requests can only be used for the same endpoint they were \
                 first used for ('{}' vs '{}'). Try using a key other than '{key}' if you meant \
                 to execute a different request.",
                call.path, entry.first.path
            )));
        }
        if entry.first.fields != call.fields {
            return Found::Refused(other_call(format!(
                "Keys for idempotent requests can only be used with the same parameters they were \
                 first used with. Try using a key other than '{key}' if you meant to execute a \
                 different request."
            )));
        }
        match &entry.answer {
            None => Found::UnderWay(under_way(key)),
            Some(answer) => {
                let mut replay = answer.clone();
                replay.replay_of = Some(entry.first.request_id.clone());
                Found::Recorded(replay)
            }
        }
    }

    /// The call under the key is under way from now.
    pub(super) fn begin(&mut self, first: Keyed, now_ms: u64) {
        self.begun.push_back((now_ms, first.key.clone()));
        self.entries.insert(first.key.clone(), Entry { first, begun_ms: now_ms, answer: None });
    }

    pub(super) fn record(&mut self, key: &str, answer: Answer) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.answer = Some(answer);
        }
    }

    /// The call ended without a record: its key is free.
    pub(super) fn free(&mut self, key: &str) {
        self.entries.remove(key);
    }

    fn expire(&mut self, now_ms: u64) {
        while let Some((begun_ms, key)) = self.begun.front() {
            if begun_ms.saturating_add(KEPT_MS) > now_ms {
                return;
            }
            match self.entries.get(key) {
                // A call under way keeps its key, however long it takes.
                Some(entry) if entry.answer.is_none() => return,
                Some(entry) if entry.begun_ms == *begun_ms => {
                    self.entries.remove(key);
                }
                // The key was freed since, and perhaps begun anew.
                Some(_) | None => {}
            }
            self.begun.pop_front();
        }
    }
}

fn other_call(message: String) -> Answer {
    Answer::error(StatusCode::BAD_REQUEST, "idempotency_error", message)
}

fn under_way(key: &str) -> Answer {
    let message = format!(
        "There is currently another in-progress request using this Idempotent Key (that probably \
         means you submitted twice, and the other request is still going through): {key}. Please \
         try again later."
    );
    Answer::error(StatusCode::CONFLICT, "idempotency_error", message).code("idempotency_key_in_use")
}
