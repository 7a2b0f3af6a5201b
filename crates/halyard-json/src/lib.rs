//! Strict JSON: what Halyard reads every request body with.
//!
//! The usual readers keep the last of two members with one name, turn numbers into floats and do
//! not look inside what they skip. A payload would then mean one thing to the server and another
//! to the worker. This reader refuses what two readers could understand differently, and keeps
//! the sender's exact bytes of everything else.
//!
//! Map:
//!
//! - `reader`: one pass over the bytes, without recursion, into a flat list of nodes;
//!   `scan` knows strings, numbers and literals, `names` finds a member that appears twice
//! - `refusal`: what a tolerant reading let pass
//! - `value`: reading the nodes; `escape`: strings with and without escapes
//! - `text`: an owned, accepted JSON text
//! - `canonical`: the one form of all texts of equal value; `number`: numbers in it
//! - `difference`: where two texts differ, as JSON pointers (RFC 6901); `pointer`: writing them
//! - `fault`: what was refused, where, and how to mend it
//!
//! Accepted is exactly RFC 8259 in UTF-8, less: a byte order mark, two members of one name in one
//! object (compared after unescaping), `\u0000` and lone surrogates (PostgreSQL could not hold
//! them), nesting beyond the caller's limit.
//!
//! Deliberately absent: writing JSON from Rust values and filling Rust structures (serde does
//! both), reading from a stream, changing a value.

mod canonical;
mod difference;
mod escape;
mod fault;
mod names;
mod number;
mod pointer;
mod reader;
mod refusal;
mod scan;
mod text;
mod value;

pub use canonical::{canonical, equal};
pub use difference::changed;
pub use fault::{Fault, FaultKind};
pub use pointer::{POINTER_BYTES_MAX, push_token};
pub use reader::{DEPTH_LIMIT, parse, parse_tolerant};
pub use refusal::{Refusal, Refusals};
pub use text::Text;
pub use value::{Document, Elements, Kind, Members, Value};
