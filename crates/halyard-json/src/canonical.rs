//! The one form of all texts of equal value; fingerprints are made from it.

use crate::escape::write_string;
use crate::number::write_number;
use crate::reader::{DEPTH_LIMIT, parse};
use crate::text::Text;
use crate::value::{Kind, Value};

/// The canonical bytes: equal for two texts exactly when they have the same value.
///
/// They are JSON without white space. Members are sorted by the code points of their names at
/// every depth; arrays keep their order; strings have an escape only where one is needed;
/// numbers are sign, digits without outer zeros, and exponent (`1`, `1.0` and `1e0` are `1e0`,
/// `-0` is `0e0`), never through a float.
///
/// A [`Text::trusted`] that no reader would accept gives its own bytes behind a byte that no
/// canonical form has, so it equals only itself.
pub fn canonical(text: &Text) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    match parse(text.as_str().as_bytes(), DEPTH_LIMIT) {
        Ok(document) => write_value(document.root(), &mut out),
        Err(_) => {
            out.push(0xFF);
            out.extend(text.as_str().as_bytes());
        }
    }
    out
}

/// Whether two texts have the same value, however they are written.
pub fn equal(a: &Text, b: &Text) -> bool {
    a == b || canonical(a) == canonical(b)
}

/// Appends the canonical bytes of one value. Recurses at most [`DEPTH_LIMIT`] times.
pub(crate) fn write_value(value: Value<'_>, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.extend(value.raw().as_bytes()),
        Kind::Number => write_number(value.raw(), out),
        Kind::String => write_string(&value.as_str().unwrap_or_default(), out),
        Kind::Array => {
            out.push(b'[');
            for (place, element) in value.elements().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write_value(element, out);
            }
            out.push(b']');
        }
        Kind::Object => {
            let mut members: Vec<_> = value.members().collect();
            // UTF-8 sorts its bytes as it sorts code points.
            members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            out.push(b'{');
            for (place, (name, member)) in members.iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                write_string(name, out);
                out.push(b':');
                write_value(*member, out);
            }
            out.push(b'}');
        }
    }
}
