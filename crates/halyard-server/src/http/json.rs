//! Writing wire types as JSON.
//!
//! `serde_json` looks through every member's name for characters to escape, byte by byte, and a job
//! has some 35 members. Here a name is copied as it stands, for the names of wire types are plain
//! words, and so is a string without anything to escape. All else is `serde_json`'s own writing,
//! and the bytes are those that it would give.
//!
//! Deliberately absent: what no wire type holds, and is refused ([`Unwritable`]): bytes, tuples,
//! enum variants with content.

use serde::Serialize;
use serde::ser::{Error, Impossible, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

/// The value holds what no wire type holds.
#[derive(Debug, thiserror::Error)]
#[error("cannot be written as JSON: {0}")]
pub struct Unwritable(String);

impl Error for Unwritable {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

type Written = Result<(), Unwritable>;
type Never = Impossible<(), Unwritable>;

/// Writes a value behind what `out` holds.
///
/// # Errors
/// See [`Unwritable`].
pub fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Written {
    value.serialize(Writer { out, raw: false })
}

/// The name under which `serde_json` serialises a raw value, as a struct of one member.
const RAW: &str = "$serde_json::private::RawValue";

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// A string is JSON already.
    raw: bool,
}

impl Writer<'_> {
    fn leave_to_serde_json<T: Serialize + ?Sized>(self, value: &T) -> Written {
        serde_json::to_writer(self.out, value).map_err(Error::custom)
    }
}

fn refuse<T>(what: &str) -> Result<T, Unwritable> {
    Err(Error::custom(what))
}

macro_rules! left_to_serde_json {
    ($($method:ident $type:ty,)+) => {
        $(fn $method(self, value: $type) -> Written {
            self.leave_to_serde_json(&value)
        })+
    };
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Parts<'o>;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Parts<'o>;
    type SerializeStruct = Members<'o>;
    type SerializeStructVariant = Never;

    left_to_serde_json! {
        serialize_bool bool,
        serialize_i8 i8,
        serialize_i16 i16,
        serialize_i32 i32,
        serialize_i64 i64,
        serialize_u8 u8,
        serialize_u16 u16,
        serialize_u32 u32,
        serialize_u64 u64,
        serialize_f32 f32,
        serialize_f64 f64,
        serialize_char char,
    }

    fn serialize_str(self, text: &str) -> Written {
        if self.raw {
            self.out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        // No early end, so that many bytes are looked at together.
        let special = |found, byte| found | (byte < b' ') | (byte == b'"') | (byte == b'\\');
        if text.bytes().fold(false, special) {
            return self.leave_to_serde_json(text);
        }
        self.out.reserve(text.len() + 2);
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Written {
        refuse("bytes")
    }

    fn serialize_none(self) -> Written {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Written {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Written {
        refuse("a variant with content")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'o>, Unwritable> {
        self.out.push(b'[');
        Ok(Parts { out: self.out, comma: false })
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, Unwritable> {
        refuse("a tuple")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, Unwritable> {
        refuse("a tuple")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, Unwritable> {
        refuse("a variant with content")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'o>, Unwritable> {
        self.out.push(b'{');
        Ok(Parts { out: self.out, comma: false })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'o>, Unwritable> {
        let raw = name == RAW;
        if !raw {
            self.out.push(b'{');
        }
        Ok(Members { out: self.out, comma: false, raw })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, Unwritable> {
        refuse("a variant with content")
    }
}

/// The elements of an array, or the members of a map.
struct Parts<'o> {
    out: &'o mut Vec<u8>,
    comma: bool,
}

impl Parts<'_> {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        if std::mem::replace(&mut self.comma, true) {
            self.out.push(b',');
        }
        write(value, self.out)
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.next(value)
    }

    fn end(self) -> Written {
        self.out.push(b']');
        Ok(())
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        let at = self.out.len() + usize::from(self.comma);
        self.next(key)?;
        if self.out.get(at) == Some(&b'"') { Ok(()) } else { refuse("a name that is no string") }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.out.push(b':');
        write(value, self.out)
    }

    fn end(self) -> Written {
        self.out.push(b'}');
        Ok(())
    }
}

/// The members of a struct, or a raw value.
struct Members<'o> {
    out: &'o mut Vec<u8>,
    comma: bool,
    raw: bool,
}

impl SerializeStruct for Members<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
        if self.raw {
            return value.serialize(Writer { out: self.out, raw: true });
        }
        let opening: &[u8] = if std::mem::replace(&mut self.comma, true) { b",\"" } else { b"\"" };
        self.out.extend_from_slice(opening);
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        write(value, self.out)
    }

    fn end(self) -> Written {
        if !self.raw {
            self.out.push(b'}');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Serialize)]
    struct Wire {
        text: String,
        nothing: Option<u8>,
        raw: Option<Box<RawValue>>,
        numbers: Vec<i64>,
        part: f64,
        nested: Vec<Part>,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<bool>,
        map: std::collections::BTreeMap<String, bool>,
    }

    #[derive(Serialize)]
    struct Part {
        word: Word,
        unit: (),
    }

    #[derive(Serialize)]
    enum Word {
        #[serde(rename = "non_retryable")]
        NonRetryable,
    }

    #[track_caller]
    fn check<T: Serialize + ?Sized>(value: &T) {
        let mut out = Vec::new();
        let written = write(value, &mut out).map_err(|error| error.to_string());
        let expected = serde_json::to_string(value).map_err(|error| error.to_string());
        assert_eq!(written.map(|()| String::from_utf8(out)), expected.map(Ok));
    }

    #[test]
    fn the_bytes_are_those_of_serde_json() {
        let raw = r#"{"b" : 9007199254740993,"a":"\u0041"}"#.to_owned();
        check(&Wire {
            text: "plain".to_owned(),
            nothing: None,
            raw: RawValue::from_string(raw).ok(),
            numbers: vec![0, -1, i64::MIN, i64::MAX],
            part: 0.2,
            nested: vec![Part { word: Word::NonRetryable, unit: () }],
            absent: None,
            map: [("a\"b".to_owned(), true), ("c".to_owned(), false)].into(),
        });
        for number in [0.0, -0.0, 1.0, 1e300, 5e-324, f64::NAN, f64::INFINITY] {
            check(&number);
        }
        check(&[] as &[u8]);
        check(&None::<u8>);
        check(&'"');
        for character in (0..0x300).chain([0xffff, 0x10ffff]).filter_map(char::from_u32) {
            check(&format!("{character}"));
            check(&format!("twenty bytes before it {character}, and some behind"));
        }
    }

    #[test]
    fn what_no_wire_type_holds_is_refused() {
        #[derive(Serialize)]
        enum Variant {
            Content(u8),
        }
        let refused = |value: &dyn Fn(&mut Vec<u8>) -> Written| value(&mut Vec::new()).is_err();
        assert!(refused(&|out| write(&Variant::Content(1), out)));
        assert!(refused(&|out| write(&(1, 2), out)));
        assert!(refused(&|out| write(&std::collections::BTreeMap::from([(1, 2)]), out)));
    }
}
