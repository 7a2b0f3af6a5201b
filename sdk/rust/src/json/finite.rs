//! Finds what in a value JSON cannot carry, and where.
//!
//! A serializer that writes nothing: it walks the value, keeps the path, and stops at the first
//! number that is not finite, the first map key that is no string, and the first error of a
//! `Serialize` implementation.

use std::cell::RefCell;
use std::fmt::Display;
use std::fmt::Write as _;

use serde::Serialize;
use serde::ser;

/// Where and what the first fault of `value` is, if it has one.
pub(super) fn fault<T: Serialize + ?Sized>(value: &T) -> Option<(String, String)> {
    let path = RefCell::new(String::new());
    let fault = value.serialize(Walk { path: &path }).err()?;
    Some((path.into_inner(), fault.0))
}

/// What is wrong; the path of the walk stands still at its place.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Fault(String);

impl ser::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

#[derive(Clone, Copy)]
struct Walk<'a> {
    path: &'a RefCell<String>,
}

impl<'a> Walk<'a> {
    /// Walks `value` one step down the path; the step is taken back when all is well there.
    fn step<T: Serialize + ?Sized>(self, step: Step<'_>, value: &T) -> Result<(), Fault> {
        let length = self.path.borrow().len();
        step.push(&mut self.path.borrow_mut());
        value.serialize(self)?;
        self.path.borrow_mut().truncate(length);
        Ok(())
    }

    fn members(self) -> Result<Members<'a>, Fault> {
        let length = self.path.borrow().len();
        Ok(Members { walk: self, length, index: 0, key: String::new() })
    }

    /// The members of an enum's variant, whose name is one step of the path.
    fn variant(self, name: &str) -> Result<Members<'a>, Fault> {
        let members = self.members();
        Step::Name(name).push(&mut self.path.borrow_mut());
        members
    }
}

enum Step<'s> {
    Index(usize),
    Name(&'s str),
}

impl Step<'_> {
    fn push(&self, path: &mut String) {
        // Writing to a `String` does not fail.
        let _ = match self {
            Self::Index(index) => write!(path, "[{index}]"),
            Self::Name(name) if path.is_empty() => write!(path, "{name}"),
            Self::Name(name) => write!(path, ".{name}"),
        };
    }
}

fn finite(number: f64) -> Result<(), Fault> {
    if number.is_finite() { Ok(()) } else { Err(Fault(format!("JSON has no {number}"))) }
}

macro_rules! fits {
    ($($method:ident: $type:ty),+ $(,)?) => {
        $(fn $method(self, _: $type) -> Result<(), Fault> { Ok(()) })+
    };
}

impl<'a> ser::Serializer for Walk<'a> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    fits! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, number: f32) -> Result<(), Fault> {
        finite(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Fault> {
        finite(number)
    }

    fn serialize_none(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &str, _: u32, _: &str) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &str,
        value: &T,
    ) -> Result<(), Fault> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &str,
        _: u32,
        variant: &str,
        value: &T,
    ) -> Result<(), Fault> {
        self.step(Step::Name(variant), value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>, Fault> {
        self.members()
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'a>, Fault> {
        self.members()
    }

    fn serialize_tuple_struct(self, _: &str, _: usize) -> Result<Members<'a>, Fault> {
        self.members()
    }

    fn serialize_tuple_variant(
        self,
        _: &str,
        _: u32,
        variant: &str,
        _: usize,
    ) -> Result<Members<'a>, Fault> {
        self.variant(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Fault> {
        self.members()
    }

    fn serialize_struct(self, _: &str, _: usize) -> Result<Members<'a>, Fault> {
        self.members()
    }

    fn serialize_struct_variant(
        self,
        _: &str,
        _: u32,
        variant: &str,
        _: usize,
    ) -> Result<Members<'a>, Fault> {
        self.variant(variant)
    }
}

/// The members of a list, a map or a struct, one after the other.
struct Members<'a> {
    walk: Walk<'a>,
    /// How long the path was before them.
    length: usize,
    index: usize,
    key: String,
}

impl Members<'_> {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let index = self.index;
        self.index += 1;
        self.walk.step(Step::Index(index), value)
    }

    fn named<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Fault> {
        self.walk.step(Step::Name(name), value)
    }

    fn done(self) -> Result<(), Fault> {
        self.walk.path.borrow_mut().truncate(self.length);
        Ok(())
    }
}

macro_rules! lists {
    ($($trait:ident :: $method:ident),+ $(,)?) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                self.next(value)
            }

            fn end(self) -> Result<(), Fault> {
                self.done()
            }
        })+
    };
}
lists!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
);

macro_rules! structs {
    ($($trait:ident),+) => {
        $(impl ser::$trait for Members<'_> {
            type Ok = ();
            type Error = Fault;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Fault> {
                self.named(name, value)
            }

            fn end(self) -> Result<(), Fault> {
                self.done()
            }
        })+
    };
}
structs!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.key = key_text(key)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        let key = std::mem::take(&mut self.key);
        self.named(&key, value)
    }

    fn end(self) -> Result<(), Fault> {
        self.done()
    }
}

/// The key as `serde_json` writes it: it decides which keys can be written as a string.
fn key_text<T: Serialize + ?Sized>(key: &T) -> Result<String, Fault> {
    let text = serde_json::to_string(&OneKey(key));
    let key = text.ok().and_then(|text| {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).ok()?;
        members.into_iter().next().map(|(key, _)| key)
    });
    key.ok_or_else(|| Fault("a key of a map must be a string".to_owned()))
}

struct OneKey<'k, T: ?Sized>(&'k T);

impl<T: Serialize + ?Sized> Serialize for OneKey<'_, T> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        ser::SerializeMap::serialize_entry(&mut map, self.0, &())?;
        ser::SerializeMap::end(map)
    }
}
