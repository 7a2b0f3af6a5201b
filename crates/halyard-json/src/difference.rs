//! Where two texts differ.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::canonical::write_value;
use crate::pointer::{POINTER_BYTES_MAX, push_token};
use crate::reader::{DEPTH_LIMIT, parse};
use crate::text::Text;
use crate::value::{Kind, Value};

/// JSON pointers (RFC 6901) of the values that differ, at most `most` of them; empty when the
/// texts are [`equal`](crate::equal) (or `most` is 0).
///
/// A member or an element that only one side has counts as differing. Arrays are compared place
/// by place. The order is that of places and of the code points of names. A pointer that would
/// be longer than [`POINTER_BYTES_MAX`] gives way to that of an enclosing value.
pub fn changed(a: &Text, b: &Text, most: usize) -> Vec<String> {
    let mut search = Search { most, pointer: String::new(), found: Vec::new() };
    if a == b {
        return search.found;
    }
    let (a, b) = (a.as_str().as_bytes(), b.as_str().as_bytes());
    match (parse(a, DEPTH_LIMIT), parse(b, DEPTH_LIMIT)) {
        (Ok(a), Ok(b)) => search.values(a.root(), b.root()),
        _ => search.report(),
    }
    search.found
}

struct Search {
    most: usize,
    pointer: String,
    found: Vec<String>,
}

impl Search {
    fn report(&mut self) {
        let known = self.found.last() == Some(&self.pointer);
        if !known && self.found.len() < self.most {
            self.found.push(self.pointer.clone());
        }
    }

    /// Recurses at most [`DEPTH_LIMIT`] times.
    fn values(&mut self, a: Value<'_>, b: Value<'_>) {
        match (a.kind(), b.kind()) {
            (Kind::Array, Kind::Array) => self.arrays(a, b),
            (Kind::Object, Kind::Object) => self.objects(a, b),
            _ if same(a, b) => {}
            _ => self.report(),
        }
    }

    fn arrays(&mut self, a: Value<'_>, b: Value<'_>) {
        let (mut left, mut right) = (a.elements(), b.elements());
        for place in 0_usize.. {
            let pair = (left.next(), right.next());
            if matches!(pair, (None, None)) || self.found.len() >= self.most {
                break;
            }
            self.child(&place.to_string(), pair);
        }
    }

    fn objects(&mut self, a: Value<'_>, b: Value<'_>) {
        let (left, right) = (sorted(a), sorted(b));
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while self.found.len() < self.most {
            let order = match (left.peek(), right.peek()) {
                (Some((a, _)), Some((b, _))) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let a = if order.is_le() { left.next() } else { None };
            let b = if order.is_ge() { right.next() } else { None };
            let values = (a.as_ref().map(|(_, value)| *value), b.as_ref().map(|(_, v)| *v));
            if let Some((name, _)) = a.or(b) {
                self.child(&name, values);
            }
        }
    }

    /// Compares one member or element, which one side may lack.
    fn child(&mut self, token: &str, pair: (Option<Value<'_>>, Option<Value<'_>>)) {
        let outer = self.pointer.len();
        push_token(&mut self.pointer, token);
        let fits = self.pointer.len() <= POINTER_BYTES_MAX;
        if !fits {
            self.pointer.truncate(outer);
        }
        match pair {
            (Some(a), Some(b)) if fits => self.values(a, b),
            (Some(a), Some(b)) if same(a, b) => {}
            _ => self.report(),
        }
        self.pointer.truncate(outer);
    }
}

fn sorted(object: Value<'_>) -> Vec<(Cow<'_, str>, Value<'_>)> {
    let mut members: Vec<_> = object.members().collect();
    members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    members
}

fn same(a: Value<'_>, b: Value<'_>) -> bool {
    let form = |value| {
        let mut out = Vec::new();
        write_value(value, &mut out);
        out
    };
    a.kind() == b.kind() && (a.raw() == b.raw() || form(a) == form(b))
}
