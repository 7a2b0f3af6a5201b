//! Reading what the reader found: a document, its values, their members and elements.

use std::borrow::Cow;

use crate::escape::unescape;
use crate::refusal::Refusals;
use crate::scan::Stop;
use crate::text::Text;

/// The six kinds of JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number of any size and precision
    Number,
    /// A string
    String,
    /// An array
    Array,
    /// An object
    Object,
}

/// One value, or one member name, in the order of the text. A container's children follow it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// First byte, quotes and brackets included.
    pub(crate) start: u32,
    /// Byte behind the last.
    pub(crate) end: u32,
    /// Index of the node behind this one and all below it. While a container is still being
    /// read: the container around it, or [`Node::NO_PARENT`].
    pub(crate) after: u32,
    /// 0 for a scalar, otherwise 1 more than the highest child.
    pub(crate) height: u16,
    pub(crate) kind: Kind,
    /// A string with at least one escape.
    pub(crate) escaped: bool,
}

impl Node {
    pub(crate) const NO_PARENT: u32 = u32::MAX;

    /// The exact bytes. Spans are made from this very text, on character borders.
    pub(crate) fn raw<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// The characters of a string or a name.
    pub(crate) fn characters<'t>(&self, text: &'t str) -> Cow<'t, str> {
        unescape(self.raw(text), self.escaped)
    }
}

/// A text that the reader accepted, with the place of every value in it.
///
/// It borrows the text and takes 16 bytes for each value and each member name.
#[derive(Debug)]
pub struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) root: Node,
    pub(crate) nodes: Vec<Node>,
    /// What a tolerant reader noted, by place.
    pub(crate) refusals: Vec<Stop>,
    pub(crate) depth_max: u16,
}

impl Document<'_> {
    /// The value that the whole text is.
    pub fn root(&self) -> Value<'_> {
        Value { document: self, index: 0, node: self.root }
    }
}

/// One value of a [`Document`]; as cheap to copy as a few words.
#[derive(Clone, Copy)]
pub struct Value<'d> {
    document: &'d Document<'d>,
    index: u32,
    node: Node,
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Value({})", self.raw())
    }
}

impl<'d> Value<'d> {
    /// Which of the six kinds it is.
    pub fn kind(&self) -> Kind {
        self.node.kind
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.node.kind == Kind::Null
    }

    /// The sender's exact bytes, without white space around them.
    pub fn raw(&self) -> &'d str {
        self.node.raw(self.document.text)
    }

    /// Where it starts, in bytes from the start of the text.
    pub fn offset(&self) -> usize {
        self.node.start as usize
    }

    /// The truth value; `None` for any other kind.
    pub fn as_bool(&self) -> Option<bool> {
        (self.node.kind == Kind::Bool).then(|| self.raw() == "true")
    }

    /// The unescaped characters of a string, borrowed when it has no escape; `None` for any
    /// other kind.
    pub fn as_str(&self) -> Option<Cow<'d, str>> {
        (self.node.kind == Kind::String).then(|| self.node.characters(self.document.text))
    }

    /// The literal of a number as it was sent; `None` for any other kind.
    pub fn as_number(&self) -> Option<&'d str> {
        (self.node.kind == Kind::Number).then(|| self.raw())
    }

    /// A number written without fraction and exponent that fits; `None` for anything else, so
    /// also for `1.0` and `1e0`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.parse().ok()
    }

    /// The float nearest to a number; `None` for any other kind and where only infinity is
    /// near.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.parse().ok().filter(|float: &f64| float.is_finite())
    }

    /// The members of an object in the order of the text; none for any other kind.
    pub fn members(&self) -> Members<'d> {
        Members { nodes: self.children(Kind::Object) }
    }

    /// The value of the member called `name` (unescaped); walks all members before it.
    pub fn member(&self, name: &str) -> Option<Value<'d>> {
        self.members().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    /// The elements of an array in order; none for any other kind.
    pub fn elements(&self) -> Elements<'d> {
        Elements { nodes: self.children(Kind::Array) }
    }

    /// How many members or elements; 0 for scalars. Walks over them.
    pub fn len(&self) -> usize {
        match self.node.kind {
            Kind::Object => self.members().count(),
            Kind::Array => self.elements().count(),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => 0,
        }
    }

    /// Whether it has no members and no elements; true for scalars.
    pub fn is_empty(&self) -> bool {
        self.node.after == self.index + 1
    }

    /// How deep it nests: a scalar 0, `[]` 1, `[[]]` 2.
    pub fn height(&self) -> u16 {
        self.node.height
    }

    /// An owned copy of the exact bytes.
    pub fn to_text(&self) -> Text {
        Text::accepted(self.raw(), self.node.height)
    }

    /// What [`parse`](crate::parse) would refuse within this value, by place; none for a document
    /// from there.
    pub fn refusals(&self) -> Refusals<'d> {
        let (start, end) = (self.node.start as usize, self.node.end as usize);
        Refusals::within(self.document, *self, start..end)
    }

    fn children(&self, kind: Kind) -> Nodes<'d> {
        let end = if self.node.kind == kind { self.node.after } else { 0 };
        Nodes { document: self.document, next: self.index + 1, end }
    }
}

/// The direct children of one container: values, or names and values by turns.
#[derive(Clone, Debug)]
struct Nodes<'d> {
    document: &'d Document<'d>,
    next: u32,
    end: u32,
}

impl<'d> Iterator for Nodes<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        let node = *self.document.nodes.get(index as usize)?;
        self.next = node.after;
        Some(Value { document: self.document, index, node })
    }
}

/// See [`Value::members`].
#[derive(Clone, Debug)]
pub struct Members<'d> {
    nodes: Nodes<'d>,
}

impl<'d> Iterator for Members<'d> {
    type Item = (Cow<'d, str>, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.next_pair()?;
        Some((name.node.characters(name.document.text), value))
    }
}

impl<'d> Members<'d> {
    /// The name as a string value, and its value.
    pub(crate) fn next_pair(&mut self) -> Option<(Value<'d>, Value<'d>)> {
        Some((self.nodes.next()?, self.nodes.next()?))
    }
}

/// See [`Value::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'d> {
    nodes: Nodes<'d>,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Value<'d>> {
        self.nodes.next()
    }
}
