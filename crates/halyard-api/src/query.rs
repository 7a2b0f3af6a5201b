//! Reading a query string: every parameter known, given once, and of its type.
//!
//! Percent escapes and `+` are decoded as in `application/x-www-form-urlencoded`. An empty value is
//! a fault: a script whose variable is unset must not get everything instead of something.

use std::borrow::Cow;
use std::str::Utf8Error;

use percent_encoding::percent_decode_str;

use crate::Timestamp;
use crate::excerpt::Excerpt;
use crate::faults::Faults;
use crate::problem::Code;

/// Parameters of the longest query; no call has as many.
pub const PARAMETERS_MAX: usize = 64;

/// Reads the query of a call that has no parameters.
///
/// # Errors
///
/// Every parameter is a fault.
pub fn read_none(raw: Option<&str>) -> Result<(), Faults> {
    let mut faults = Faults::default();
    query(raw, &mut faults, &[], |_, _| false);
    faults.or(())
}

/// Hands each parameter of `query` (what follows the `?`) to `take`, which says whether it knows
/// it; `known` are the parameters that exist, for the suggestion.
pub(crate) fn query<'q>(
    query: Option<&'q str>,
    faults: &mut Faults,
    known: &[&str],
    mut take: impl FnMut(&Parameter<'q>, &mut Faults) -> bool,
) {
    let mut seen: Vec<Cow<'q, str>> = Vec::new();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        if seen.len() == PARAMETERS_MAX {
            let message = format!("the query must have at most {PARAMETERS_MAX} parameters");
            return faults.push(Code::InvalidField, "?", message);
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let Ok(name) = decoded(name) else {
            not_utf8(name, faults);
            continue;
        };
        let Ok(value) = decoded(value) else {
            not_utf8(&name, faults);
            continue;
        };
        let parameter = Parameter { name, value };
        if seen.contains(&parameter.name) {
            parameter.invalid(faults, "be given once");
        } else if !take(&parameter, faults) {
            unknown(&parameter.name, known, faults);
        }
        seen.push(parameter.name);
    }
}

/// What was read of a parameter that is needed; says so if it was not given. One that was given
/// with a fault has been told of already.
pub(crate) fn required<T: Default>(
    read: Option<T>,
    name: &str,
    why: &str,
    faults: &mut Faults,
) -> T {
    let at = pointer(name);
    if read.is_none() && faults.errors().iter().all(|fault| fault.pointer != at) {
        faults.push(Code::MissingField, at, format!("{name} is required{why}"));
    }
    read.unwrap_or_default()
}

/// One parameter. Its methods give `None` after telling what is wrong with the value.
#[derive(Clone, Debug)]
pub(crate) struct Parameter<'q> {
    pub(crate) name: Cow<'q, str>,
    value: Cow<'q, str>,
}

impl<'q> Parameter<'q> {
    /// The value, which must not be empty.
    pub(crate) fn text(&self, faults: &mut Faults) -> Option<Cow<'q, str>> {
        if self.value.is_empty() {
            self.invalid(faults, "have a value or be left out");
            return None;
        }
        if self.value.contains('\0') {
            // No name, tag or key holds one, and PostgreSQL could not even look for it.
            self.invalid(faults, "hold no character U+0000");
            return None;
        }
        Some(self.value.clone())
    }

    /// An integer from `least` on, of any size: it is a limit that is cut when too large.
    pub(crate) fn limit(&self, faults: &mut Faults, least: u64) -> Option<u64> {
        let text = self.text(faults)?;
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let limit = text.parse().unwrap_or(u64::MAX);
        if !digits || limit < least {
            self.invalid(faults, &format!("be an integer from {least} on"));
            return None;
        }
        Some(limit)
    }

    /// Any text: whether a list gave it is the server's to say. None ever gave an empty one.
    pub(crate) fn cursor(&self, faults: &mut Faults) -> Option<String> {
        if self.value.is_empty() {
            let message = "cursor is empty, which no list ever gave; leave it out for the first \
                page";
            faults.push(Code::CursorMismatch, "?cursor", message);
            return None;
        }
        Some(self.value.clone().into_owned())
    }

    pub(crate) fn boolean(&self, faults: &mut Faults) -> Option<bool> {
        match &*self.text(faults)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.invalid(faults, "be true or false");
                None
            }
        }
    }

    pub(crate) fn time(&self, faults: &mut Faults) -> Option<Timestamp> {
        let text = self.text(faults)?;
        Timestamp::parse(&text)
            .map_err(|fault| {
                let rule = fault.to_string();
                let plus = if text.contains(' ') { " (write + as %2B)" } else { "" };
                let rule = rule.trim_start_matches("must ").to_owned() + plus;
                self.invalid(faults, &rule);
            })
            .ok()
    }

    /// A word of a closed list.
    pub(crate) fn word<T>(
        &self,
        faults: &mut Faults,
        words: &[&str],
        from_word: fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(faults)?;
        self.one_word(&text, faults, words, from_word)
    }

    /// Words of a closed list, joined by commas.
    pub(crate) fn words<T>(
        &self,
        faults: &mut Faults,
        words: &[&str],
        from_word: fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let text = self.text(faults).unwrap_or_default();
        if text.is_empty() {
            return Vec::new();
        }
        text.split(',').map_while(|word| self.one_word(word, faults, words, from_word)).collect()
    }

    fn one_word<T>(
        &self,
        word: &str,
        faults: &mut Faults,
        words: &[&str],
        from_word: fn(&str) -> Option<T>,
    ) -> Option<T> {
        let found = from_word(word);
        if found.is_none() {
            let (name, given) = (&self.name, Excerpt(word));
            let suggestion = faults.suggestion(word, words);
            let words = words.join(", ");
            let message = format!("{name} must be one of {words}, not \"{given}\"{suggestion}");
            faults.push(Code::InvalidField, pointer(name), message);
        }
        found
    }

    #[cold]
    fn invalid(&self, faults: &mut Faults, rule: &str) {
        let (name, value) = (Excerpt(&self.name), Excerpt(&self.value));
        let message = format!("{name} must {rule}, not \"{value}\"");
        faults.push(Code::InvalidField, pointer(&self.name), message);
    }
}

#[cold]
fn unknown(name: &str, known: &[&str], faults: &mut Faults) {
    let suggestion = faults.suggestion(name, known);
    let message = format!("{} is not known in this query{suggestion}", Excerpt(name));
    faults.push(Code::UnknownField, pointer(name), message);
}

#[cold]
fn not_utf8(name: &str, faults: &mut Faults) {
    let message = format!("{} must be UTF-8 once its escapes are decoded", Excerpt(name));
    faults.push(Code::InvalidField, pointer(name), message);
}

fn pointer(name: &str) -> String {
    format!("?{}", Excerpt(name))
}

fn decoded(text: &str) -> Result<Cow<'_, str>, Utf8Error> {
    if !text.contains('+') {
        return percent_decode_str(text).decode_utf8();
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8()?;
    Ok(Cow::Owned(decoded.into_owned()))
}
