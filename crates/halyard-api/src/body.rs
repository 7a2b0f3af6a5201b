//! A request body that arrived: JSON for certain, its members not looked at yet.

use halyard_json::{DEPTH_LIMIT, Document, Value, parse_tolerant};

use crate::faults::Faults;
use crate::problem::Code;

/// How many elements any array of a request may hold: jobs of a batch, outcomes, leases, ids, and
/// lists of names. More is refused before the elements are read, so that a body of many tiny
/// elements costs no more memory than its own.
pub const ELEMENTS_MAX: usize = 1_000;

/// A body that is JSON. What each call makes of it is its `read`.
#[derive(Debug)]
pub struct Body<'a> {
    document: Document<'a>,
}

impl<'a> Body<'a> {
    /// Reads a body that must be one JSON value.
    ///
    /// # Errors
    ///
    /// One fault, `malformed_json`, that names the byte. Refused characters, equal names and too
    /// deep nesting are found later, by the call's `read`, which knows what else they may harm.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Faults> {
        match parse_tolerant(bytes, DEPTH_LIMIT) {
            Ok(document) => Ok(Self { document }),
            Err(fault) => {
                let code =
                    if fault.is_syntax() { Code::MalformedJson } else { Code::PayloadTooLarge };
                Err(Faults::one(code, fault.pointer.clone(), format!("the body: {fault}")))
            }
        }
    }

    /// Reads a body that may be left out; then it counts as `{}`.
    ///
    /// # Errors
    ///
    /// As [`Body::parse`].
    pub fn parse_optional(bytes: &'a [u8]) -> Result<Self, Faults> {
        Self::parse(if bytes.is_empty() { b"{}" } else { bytes })
    }

    /// The whole body, for instance to compare it with another by value.
    pub fn root(&self) -> Value<'_> {
        self.document.root()
    }
}
