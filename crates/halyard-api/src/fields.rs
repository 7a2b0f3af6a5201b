//! Reading the members of an object, one pass, each by its type.
//!
//! A call's reader hands [`object`] a closure that matches on the name of each member and takes
//! what it knows through the methods of [`Field`]. All of them give `None` for `null` (which is as
//! good as absent), and for a wrong type after telling of it.

use std::borrow::Cow;

use halyard_json::{Kind, Value};

use crate::Timestamp;
use crate::body::ELEMENTS_MAX;
use crate::faults::Faults;
use crate::place::Place;

/// What happens to members that the reader does not know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unknown {
    /// They are a fault; these are the members that exist, for the suggestion.
    Refused(&'static [&'static str]),
    /// They are passed over, whatever they hold: worker calls from newer SDKs go on working. A
    /// known member that is given twice is a fault, and what the body holds is judged where it is
    /// read.
    Ignored,
}

/// Hands each member of the object at `place` to `take`, which says whether it knows it.
pub(crate) fn object<'v>(
    value: Value<'v>,
    place: &Place<'_>,
    faults: &mut Faults,
    unknown: Unknown,
    mut take: impl FnMut(Field<'_, 'v>, &mut Faults) -> bool,
) {
    if value.kind() != Kind::Object {
        return faults.invalid(place, value, "be an object");
    }
    let mut seen: Vec<Cow<'_, str>> = Vec::new();
    for (name, value) in value.members() {
        let known = take(Field::new(place, &name, value), faults);
        match unknown {
            Unknown::Refused(members) if !known => faults.unknown(place, &name, members),
            Unknown::Ignored if known && seen.contains(&name) => faults.twice(place, &name),
            Unknown::Ignored if known => seen.push(name),
            Unknown::Refused(_) | Unknown::Ignored => {}
        }
    }
}

/// The elements of the array at `place`, with their places; none after a fault.
pub(crate) fn array<'v>(
    value: Value<'v>,
    place: &Place<'_>,
    faults: &mut Faults,
    mut take: impl FnMut(Value<'v>, &Place<'_>, &mut Faults),
) {
    if value.kind() != Kind::Array {
        return faults.invalid(place, value, "be an array");
    }
    if value.elements().nth(ELEMENTS_MAX).is_some() {
        let rule = format!("have at most {ELEMENTS_MAX} elements");
        return faults.invalid(place, value, &rule);
    }
    for (index, element) in value.elements().enumerate() {
        take(element, &Place::Element(place, index), faults);
    }
}

/// The string at `place`, without refused characters.
pub(crate) fn text<'v>(
    value: Value<'v>,
    place: &Place<'_>,
    faults: &mut Faults,
) -> Option<Cow<'v, str>> {
    let text = value.as_str();
    if text.is_none() {
        faults.invalid(place, value, "be a string");
    }
    text.filter(|_| faults.accepts(place, value))
}

/// One member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'p, 'v> {
    object: &'p Place<'p>,
    pub(crate) name: &'p str,
    pub(crate) value: Value<'v>,
}

impl<'p, 'v> Field<'p, 'v> {
    /// The member `name` of the object at `object`.
    pub(crate) fn new(object: &'p Place<'p>, name: &'p str, value: Value<'v>) -> Self {
        Self { object, name, value }
    }

    pub(crate) fn place(&self) -> Place<'p> {
        Place::Member(self.object, self.name)
    }

    /// Any value.
    pub(crate) fn any(&self) -> Option<Value<'v>> {
        (!self.value.is_null()).then_some(self.value)
    }

    pub(crate) fn text(&self, faults: &mut Faults) -> Option<Cow<'v, str>> {
        text(self.any()?, &self.place(), faults)
    }

    pub(crate) fn boolean(&self, faults: &mut Faults) -> Option<bool> {
        let boolean = self.any()?.as_bool();
        if boolean.is_none() {
            faults.invalid(&self.place(), self.value, "be true or false");
        }
        boolean
    }

    /// An integer, written as one.
    pub(crate) fn integer(&self, faults: &mut Faults) -> Option<i64> {
        let value = self.any()?;
        let integer = value.as_i64();
        if integer.is_none() {
            let rule = match integer_literal(value) {
                Some(_) => "be an integer that fits in 64 bits",
                None => "be an integer, written without fraction and exponent",
            };
            faults.invalid(&self.place(), value, rule);
        }
        integer
    }

    /// As [`Field::integer`], for a limit that is cut when it is too large, however large.
    pub(crate) fn integer_cut(&self, faults: &mut Faults) -> Option<i64> {
        match integer_literal(self.value) {
            Some(literal) if !literal.starts_with('-') => Some(literal.parse().unwrap_or(i64::MAX)),
            _ => self.integer(faults),
        }
    }

    /// A number however large and in whatever form, cut to 64 bits and rounded up.
    pub(crate) fn integer_of_any_form(&self, faults: &mut Faults) -> Option<i64> {
        let Some(literal) = self.value.as_number() else { return self.integer(faults) };
        // A float that is beyond all integers is cut by the conversion.
        literal.parse().ok().or_else(|| literal.parse().ok().map(|float: f64| float.ceil() as i64))
    }

    /// A finite number.
    pub(crate) fn number(&self, faults: &mut Faults) -> Option<f64> {
        let number = self.any()?.as_f64();
        if number.is_none() {
            faults.invalid(&self.place(), self.value, "be a number that a 64-bit float can hold");
        }
        number
    }

    /// A word of a closed list.
    pub(crate) fn word<T>(
        &self,
        faults: &mut Faults,
        words: &[&str],
        from_word: fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.any()?;
        let word = value.as_str().and_then(|word| from_word(&word));
        if word.is_none() {
            faults.not_a_word(&self.place(), value, words);
        }
        word
    }

    pub(crate) fn time(&self, faults: &mut Faults) -> Option<Timestamp> {
        let text = self.text(faults)?;
        Timestamp::parse(&text)
            .map_err(|fault| {
                let rule = fault.to_string();
                faults.invalid(&self.place(), self.value, rule.trim_start_matches("must "));
            })
            .ok()
    }

    /// A list of strings.
    pub(crate) fn texts(&self, faults: &mut Faults) -> Option<Vec<Cow<'v, str>>> {
        let mut texts = Vec::new();
        array(self.any()?, &self.place(), faults, |element, place, faults| {
            texts.extend(text(element, place, faults));
        });
        Some(texts)
    }

    /// A list of strings that must not be empty.
    pub(crate) fn texts_some(&self, faults: &mut Faults) -> Option<Vec<Cow<'v, str>>> {
        let texts = self.texts(faults)?;
        if self.value.kind() == Kind::Array && self.value.is_empty() {
            faults.invalid(&self.place(), self.value, "have at least one element");
        }
        Some(texts)
    }
}

/// The literal of a number written without fraction and exponent.
fn integer_literal(value: Value<'_>) -> Option<&str> {
    value.as_number().filter(|literal| !literal.contains(['.', 'e', 'E']))
}
