//! Everything that is wrong with one request, collected before it is refused.

use std::fmt;

use halyard_json::Value;

use crate::excerpt::Excerpt;
use crate::place::Place;
use crate::problem::{Code, FieldError, Problem};

/// Faults of one item of a batch that are told; the rest is as many of the same.
const ITEM_FAULTS_MAX: usize = 10;

/// From so many faults on, each further item of a batch is named with its first one only: so every
/// bad item has its pointer and no answer grows beyond about 2,000 of them.
const FAULTS_FULL: usize = 1_000;

/// Names for which the nearest known one is looked up; it costs up to a microsecond each.
const SUGGESTIONS_MAX: usize = 100;

/// Characters of a word that may be a slip for a known one; nothing known is half as long.
const SUGGESTION_CHARS_MAX: usize = 60;

/// What is wrong with a request. Made empty, filled by a reader, answered as a [`Problem`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    errors: Vec<FieldError>,
    item_errors: usize,
    suggestions: usize,
}

impl Faults {
    /// A single fault.
    pub fn one(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let mut faults = Self::default();
        faults.push(code, pointer, message);
        faults
    }

    /// Adds a fault; see [`FieldError`] for the form of `pointer` and `message`.
    pub fn push(&mut self, code: Code, pointer: impl Into<String>, message: impl Into<String>) {
        let most = if self.errors.len() < FAULTS_FULL { ITEM_FAULTS_MAX } else { 1 };
        if self.item_errors < most {
            let (pointer, message) = (pointer.into(), message.into());
            self.errors.push(FieldError { code, pointer, message });
        }
        self.item_errors += 1;
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// What is wrong, in the order of the request as far as its reader went.
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// The answer: the code and the message of the first fault, and all of them in `errors`.
    pub fn into_problem(self, request_id: impl Into<String>) -> Problem {
        let code = self.errors.first().map_or(Code::InvalidField, |first| first.code);
        let mut problem = Problem::new(code, self.to_string(), request_id);
        problem.errors = self.errors;
        problem
    }

    /// `received` if nothing is wrong.
    pub(crate) fn or<T>(self, received: T) -> Result<T, Self> {
        if self.is_empty() { Ok(received) } else { Err(self) }
    }

    /// Says that what follows concerns another item of a batch.
    pub fn next_item(&mut self) {
        self.item_errors = 0;
    }

    /// The value at `place` breaks `rule`, which reads on from `must`.
    #[cold]
    pub(crate) fn invalid(&mut self, place: &Place<'_>, value: Value<'_>, rule: &str) {
        let message = format!("{place} must {rule}, not {}", Excerpt(value.raw()));
        self.push(Code::InvalidField, place.pointer(), message);
    }

    /// The value at `place` is none of `words`.
    #[cold]
    pub(crate) fn not_a_word(&mut self, place: &Place<'_>, value: Value<'_>, words: &[&str]) {
        let given = value.as_str().unwrap_or_default();
        let rule = format!("be one of {}", words.join(", "));
        let suggestion = self.suggestion(&given, words);
        let message = format!("{place} must {rule}, not {}{suggestion}", Excerpt(value.raw()));
        self.push(Code::InvalidField, place.pointer(), message);
    }

    /// The object at `place` must not have a member `name`; `known` are those it may have.
    #[cold]
    pub(crate) fn unknown(&mut self, place: &Place<'_>, name: &str, known: &[&str]) {
        let member = Place::Member(place, name);
        let suggestion = self.suggestion(name, known);
        let message = format!("{member} is not known here{suggestion}");
        self.push(Code::UnknownField, member.pointer(), message);
    }

    /// The object at `place` has a member `name` more than once.
    #[cold]
    pub(crate) fn twice(&mut self, place: &Place<'_>, name: &str) {
        let member = Place::Member(place, name);
        let message = format!("{member} is given twice in one object: keep one of the two");
        self.push(Code::InvalidField, member.pointer(), message);
    }

    /// The object at `place` must have a member `name`.
    #[cold]
    pub(crate) fn missing(&mut self, place: &Place<'_>, name: &str) {
        let member = Place::Member(place, name);
        self.push(Code::MissingField, member.pointer(), format!("{member} is required"));
    }

    /// What was read of a member that must be there; says so if it is not. A member that is there
    /// with a fault has been told of already.
    pub(crate) fn required<T: Default>(
        &mut self,
        read: Option<T>,
        object: Value<'_>,
        place: &Place<'_>,
        name: &str,
    ) -> T {
        if let Some(read) = read {
            return read;
        }
        let absent = object.member(name).is_none_or(|value| value.is_null());
        if absent && object.kind() == halyard_json::Kind::Object {
            self.missing(place, name);
        }
        T::default()
    }

    /// Tells of the first refused character, equal name or too deep nesting in the value at
    /// `place`, if there is one; then it gives false.
    pub(crate) fn accepts(&mut self, place: &Place<'_>, value: Value<'_>) -> bool {
        match value.refusals().next() {
            None => true,
            Some(refusal) => {
                self.refused(place, &refusal.fault());
                false
            }
        }
    }

    /// Tells of `fault`, whose pointer starts at `place`.
    #[cold]
    pub(crate) fn refused(&mut self, place: &Place<'_>, fault: &halyard_json::Fault) {
        let message = match place {
            Place::Body => format!("the body: {fault}"),
            _ => format!("{place}: {fault}"),
        };
        self.push(Code::InvalidField, place.pointer() + &fault.pointer, message);
    }

    /// `; did you mean "x"?` when one of `known` is near, as long as there are few such faults.
    pub(crate) fn suggestion(&mut self, given: &str, known: &[&str]) -> String {
        self.suggestions += 1;
        if self.suggestions > SUGGESTIONS_MAX || given.len() > SUGGESTION_CHARS_MAX {
            return String::new();
        }
        let given = given.to_lowercase();
        let near = known
            .iter()
            .map(|word| (strsim::damerau_levenshtein(&given, word), word))
            .filter(|(distance, word)| {
                // A unit left off, as in `delay` for `delay_ms`, is the commonest slip.
                let unit_left_off = given.len() > 2 && word.strip_prefix(&*given) == Some("_ms");
                unit_left_off || *distance <= (word.len() / 3).max(1)
            })
            .min_by_key(|(distance, _)| *distance);
        near.map(|(_, word)| format!("; did you mean \"{word}\"?")).unwrap_or_default()
    }
}

/// The first message, and how many there are beside it.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.errors.first() else {
            return f.write_str("nothing is wrong");
        };
        f.write_str(&first.message)?;
        match self.errors.len() - 1 {
            0 => Ok(()),
            1 => f.write_str(" (and one fault more)"),
            more => write!(f, " (and {more} faults more)"),
        }
    }
}

impl std::error::Error for Faults {}
