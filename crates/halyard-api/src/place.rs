//! Where in a body a reader stands, as a chain that costs nothing until somebody asks.

use std::fmt;

use halyard_json::{POINTER_BYTES_MAX, push_token};

use crate::excerpt::Excerpt;

/// A value's place in the body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'p> {
    /// The body as a whole.
    Body,
    /// The member of that name of the object there.
    Member(&'p Place<'p>, &'p str),
    /// The element of that index of the array there.
    Element(&'p Place<'p>, usize),
}

impl Place<'_> {
    /// The JSON pointer (RFC 6901); of an enclosing value where it would be too long.
    pub(crate) fn pointer(&self) -> String {
        let (mut pointer, token) = match self {
            Self::Body => return String::new(),
            Self::Member(object, name) => (object.pointer(), (*name).to_owned()),
            Self::Element(array, index) => (array.pointer(), index.to_string()),
        };
        let fits = pointer.len();
        push_token(&mut pointer, &token);
        if pointer.len() > POINTER_BYTES_MAX {
            pointer.truncate(fits);
        }
        pointer
    }
}

/// As people write it: `jobs[50].backoff.factor`, `the body`.
impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("the body"),
            Self::Member(Place::Body, name) => Excerpt(name).fmt(f),
            Self::Member(object, name) => write!(f, "{object}.{}", Excerpt(name)),
            Self::Element(array, index) => write!(f, "{array}[{index}]"),
        }
    }
}
