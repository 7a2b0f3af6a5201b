//! What a tolerant reading let pass, and where.

use std::ops::Range;

use crate::fault::{Fault, FaultKind, cut};
use crate::pointer;
use crate::reader::DEPTH_LIMIT;
use crate::scan::{Stop, Trouble};
use crate::value::{Document, Kind, Value};

/// See [`Value::refusals`].
#[derive(Clone, Debug)]
pub struct Refusals<'d> {
    value: Value<'d>,
    document: &'d Document<'d>,
    stops: std::slice::Iter<'d, Stop>,
}

impl<'d> Refusals<'d> {
    /// Those of `document` whose place is in `span`, which is that of `value`.
    pub(crate) fn within(document: &'d Document<'d>, value: Value<'d>, span: Range<usize>) -> Self {
        let before = |end| document.refusals.partition_point(|(_, offset)| *offset < end);
        let stops = document.refusals.get(before(span.start)..before(span.end));
        Self { value, document, stops: stops.unwrap_or_default().iter() }
    }
}

impl<'d> Iterator for Refusals<'d> {
    type Item = Refusal<'d>;

    fn next(&mut self) -> Option<Refusal<'d>> {
        let (trouble, offset) = *self.stops.next()?;
        Some(Refusal { value: self.value, document: self.document, trouble, offset })
    }
}

/// One thing that [`parse`](crate::parse) would have refused.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'d> {
    value: Value<'d>,
    document: &'d Document<'d>,
    trouble: Trouble,
    offset: usize,
}

impl Refusal<'_> {
    /// Where, in bytes from the start of the text.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The fault that [`parse`](crate::parse) would give; its pointer starts at the value that was
    /// asked and names an enclosing value where it would have more than [`DEPTH_LIMIT`] tokens.
    /// Takes time with the number of values before it.
    pub fn fault(&self) -> Fault {
        let kind = match self.trouble {
            Trouble::TooDeep => FaultKind::TooDeep { max: self.document.depth_max },
            Trouble::DuplicateMember(second) => {
                let name = self.document.nodes.get(second as usize);
                let name = name.map(|name| name.characters(self.document.text));
                FaultKind::DuplicateMember(cut(&name.unwrap_or_default()))
            }
            Trouble::Nul => FaultKind::Nul,
            Trouble::LoneSurrogate => FaultKind::LoneSurrogate,
            Trouble::Empty => FaultKind::Empty,
            Trouble::Syntax(words) => FaultKind::Syntax(words),
            Trouble::TrailingBytes => FaultKind::TrailingBytes,
        };
        Fault { kind, offset: self.offset, pointer: self.pointer() }
    }

    /// The pointer from the value that was asked to the innermost value concerned.
    fn pointer(&self) -> String {
        let mut tokens = Vec::new();
        let mut inner = self.value;
        while let Some((token, child)) = self.child(inner) {
            tokens.push(token);
            if tokens.len() > usize::from(DEPTH_LIMIT) {
                break;
            }
            match child {
                Some(child) => inner = child,
                None => break,
            }
        }
        pointer::join(tokens.into_iter().map(std::borrow::Cow::Owned))
    }

    /// The member or element of `outer` that holds the place: its name and, unless the name itself
    /// is concerned, its value.
    fn child<'d>(&self, outer: Value<'d>) -> Option<(String, Option<Value<'d>>)> {
        let holds = |value: &Value<'_>| {
            (value.offset()..value.offset() + value.raw().len()).contains(&self.offset)
        };
        match outer.kind() {
            Kind::Object => {
                let mut members = outer.members();
                while let Some((name, value)) = members.next_pair() {
                    let token = || name.as_str().unwrap_or_default().into_owned();
                    if holds(&name) {
                        let second = matches!(self.trouble, Trouble::DuplicateMember(_));
                        return second.then(|| (token(), None));
                    }
                    if holds(&value) {
                        return Some((token(), Some(value)));
                    }
                }
                None
            }
            Kind::Array => {
                let (place, element) = outer.elements().enumerate().find(|(_, e)| holds(e))?;
                Some((place.to_string(), Some(element)))
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => None,
        }
    }
}
