//! One pass over the bytes into a flat list of nodes, without recursion.

use std::borrow::Cow;

use crate::fault::{Fault, FaultKind, cut};
use crate::names;
use crate::pointer;
use crate::scan::{self, Stop, Trouble, byte_at, space};
use crate::value::{Document, Kind, Node};

/// The deepest nesting that any caller can ask for. What walks a text may therefore recurse.
pub const DEPTH_LIMIT: u16 = 200;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a text that must be exactly one JSON value, with white space around it at most.
///
/// `depth_max` is how many arrays and objects may be nested: 0 admits scalars only; above
/// [`DEPTH_LIMIT`] it counts as that. Time and memory are linear in the length; memory is 16
/// bytes for each value and each name, and while the names of an object of more than 16 members
/// are compared, about 32 for each of them.
///
/// # Errors
///
/// The first [`Fault`] that stops the reader; see the crate's front page for what is refused.
pub fn parse(bytes: &[u8], depth_max: u16) -> Result<Document<'_>, Fault> {
    read(bytes, depth_max, None)
}

/// As [`parse`], but refuses only what is not JSON at all; what [`parse`] would refuse beside that
/// is noted, and [`Value::refusals`](crate::Value::refusals) tells of it. So a reader of many
/// reports can turn down one for its value and take the others.
///
/// Strings and names that hold refused characters read with U+FFFD in their place. A value with
/// refusals must not become a [`Text`](crate::Text) that is kept.
///
/// # Errors
///
/// The first [`Fault`] that [is syntax](Fault::is_syntax), or a text of 4 GiB or more.
pub fn parse_tolerant(bytes: &[u8], depth_max: u16) -> Result<Document<'_>, Fault> {
    read(bytes, depth_max, Some(Vec::new()))
}

fn read(bytes: &[u8], depth_max: u16, refusals: Option<Vec<Stop>>) -> Result<Document<'_>, Fault> {
    let whole = |kind, offset| Fault { kind, offset, pointer: String::new() };
    if u32::try_from(bytes.len()).is_err() {
        return Err(whole(FaultKind::TooLong, 0));
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        return Err(whole(FaultKind::ByteOrderMark, 0));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Reader::new(text, depth_max, refusals).read(),
        Err(error) => {
            let text = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let text = std::str::from_utf8(text).unwrap_or_default();
            Err(not_utf8(text, depth_max, refusals))
        }
    }
}

/// The fault of a text that is UTF-8 only as far as `text` goes: whatever is wrong before that
/// place, otherwise that place, in the value that is being read there.
#[cold]
fn not_utf8(text: &str, depth_max: u16, refusals: Option<Vec<Stop>>) -> Fault {
    let offset = text.len();
    match Reader::new(text, depth_max, refusals).read() {
        Err(fault) if fault.offset < offset => fault,
        Err(fault) => Fault { kind: FaultKind::NotUtf8, offset, pointer: fault.pointer },
        Ok(_) => Fault { kind: FaultKind::NotUtf8, offset, pointer: String::new() },
    }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<Node>,
    /// The innermost container that is not closed; each one's `after` names the next outer.
    open: u32,
    depth: u32,
    depth_max: u16,
    /// Where a tolerant reader notes what it would refuse otherwise.
    refusals: Option<Vec<Stop>>,
    /// Whether the reader stands at a value, and not at a name or behind a value.
    at_value: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, depth_max: u16, refusals: Option<Vec<Stop>>) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            // A node for eight bytes is what job bodies have; dense arrays of digits grow it.
            nodes: Vec::with_capacity(text.len() / 8 + 4),
            open: Node::NO_PARENT,
            depth: 0,
            depth_max: depth_max.min(DEPTH_LIMIT),
            refusals,
            at_value: true,
        }
    }

    fn read(mut self) -> Result<Document<'a>, Fault> {
        match self.whole() {
            Ok(root) => {
                let mut refusals = self.refusals.unwrap_or_default();
                // Duplicates are noted where their object ends, so they come too late.
                refusals.sort_unstable_by_key(|(_, offset)| *offset);
                let depth_max = self.depth_max;
                Ok(Document { text: self.text, root, nodes: self.nodes, refusals, depth_max })
            }
            Err((trouble, offset)) => Err(self.fault(trouble, offset)),
        }
    }

    fn whole(&mut self) -> Result<Node, Stop> {
        self.at = space(self.bytes, 0);
        if self.at == self.bytes.len() {
            return Err((Trouble::Empty, self.at));
        }
        loop {
            let opened = self.value()?;
            if !opened && !self.follow()? {
                break;
            }
        }
        self.at = space(self.bytes, self.at);
        match self.nodes.first() {
            Some(root) if self.at == self.bytes.len() => Ok(*root),
            _ => Err((Trouble::TrailingBytes, self.at)),
        }
    }

    /// Reads a scalar or an empty container, or opens a container and goes to its first value
    /// (then true).
    #[inline]
    fn value(&mut self) -> Result<bool, Stop> {
        self.at_value = true;
        match byte_at(self.bytes, self.at) {
            b'"' => {
                let (end, escaped) = scan::string(self.bytes, self.at, self.refusals.as_mut())?;
                self.push(Kind::String, end, escaped);
            }
            b'{' => {
                self.open(Kind::Object)?;
                if byte_at(self.bytes, self.at) != b'}' {
                    self.name()?;
                    return Ok(true);
                }
                self.close()?;
            }
            b'[' => {
                self.open(Kind::Array)?;
                if byte_at(self.bytes, self.at) != b']' {
                    return Ok(true);
                }
                self.close()?;
            }
            b'-' | b'0'..=b'9' => {
                let end = scan::number(self.bytes, self.at)?;
                self.push(Kind::Number, end, false);
            }
            b't' => self.literal(b"true", Kind::Bool)?,
            b'f' => self.literal(b"false", Kind::Bool)?,
            b'n' => self.literal(b"null", Kind::Null)?,
            _ => return Err(self.syntax("a value is expected")),
        }
        self.at_value = false;
        Ok(false)
    }

    /// Goes on behind a value: closes what ends here and stops at the next value; false when
    /// the root has ended.
    #[inline]
    fn follow(&mut self) -> Result<bool, Stop> {
        while let Some(container) = self.nodes.get(self.open as usize) {
            let object = container.kind == Kind::Object;
            self.at = space(self.bytes, self.at);
            match byte_at(self.bytes, self.at) {
                b',' => {
                    self.at = space(self.bytes, self.at + 1);
                    if object {
                        self.name()?;
                    } else if byte_at(self.bytes, self.at) == b']' {
                        return Err(self.syntax("a comma must not be the last in an array"));
                    }
                    return Ok(true);
                }
                b'}' if object => self.close()?,
                b']' if !object => self.close()?,
                _ if object => return Err(self.syntax("a comma or } is expected after a member")),
                _ => return Err(self.syntax("a comma or ] is expected after an element")),
            }
        }
        Ok(false)
    }

    /// Reads a name and its colon and goes to its value.
    #[inline]
    fn name(&mut self) -> Result<(), Stop> {
        self.at_value = false;
        if byte_at(self.bytes, self.at) != b'"' {
            return Err(self.syntax("a member name in double quotes is expected"));
        }
        let (end, escaped) = scan::string(self.bytes, self.at, self.refusals.as_mut())?;
        self.push(Kind::String, end, escaped);
        self.at_value = true;
        self.at = space(self.bytes, self.at);
        if byte_at(self.bytes, self.at) != b':' {
            return Err(self.syntax("a colon is expected after a member name"));
        }
        self.at = space(self.bytes, self.at + 1);
        Ok(())
    }

    #[inline]
    fn literal(&mut self, word: &'static [u8], kind: Kind) -> Result<(), Stop> {
        let end = scan::literal(self.bytes, self.at, word)?;
        self.push(kind, end, false);
        Ok(())
    }

    #[inline]
    fn push(&mut self, kind: Kind, end: usize, escaped: bool) {
        let after = self.nodes.len() as u32 + 1;
        let (start, end_place) = (self.at as u32, end as u32);
        self.nodes.push(Node { start, end: end_place, after, height: 0, kind, escaped });
        self.at = end;
    }

    #[inline]
    fn open(&mut self, kind: Kind) -> Result<(), Stop> {
        if self.depth == u32::from(self.depth_max) {
            self.refuse((Trouble::TooDeep, self.at))?;
        }
        let (start, after) = (self.at as u32, self.open);
        self.open = self.nodes.len() as u32;
        self.nodes.push(Node { start, end: start, after, height: 1, kind, escaped: false });
        self.depth += 1;
        self.at = space(self.bytes, self.at + 1);
        Ok(())
    }

    /// Closes the innermost container, whose last byte the reader stands at.
    #[inline]
    fn close(&mut self) -> Result<(), Stop> {
        let index = self.open as usize;
        self.at += 1;
        let after = self.nodes.len() as u32;
        let Some(container) = self.nodes.get(index) else { return Ok(()) };
        if container.kind == Kind::Object
            && let Some(second) = names::duplicate(self.text, &self.nodes, index + 1)
        {
            let offset = self.nodes.get(second as usize).map_or(0, |name| name.start);
            self.refuse((Trouble::DuplicateMember(second), offset as usize))?;
        }
        let Some(container) = self.nodes.get_mut(index) else { return Ok(()) };
        let height = container.height.saturating_add(1);
        container.end = self.at as u32;
        self.open = std::mem::replace(&mut container.after, after);
        self.depth -= 1;
        if let Some(outer) = self.nodes.get_mut(self.open as usize) {
            outer.height = outer.height.max(height);
        }
        Ok(())
    }

    /// Stops the reader, unless it is a tolerant one.
    #[cold]
    fn refuse(&mut self, stop: Stop) -> Result<(), Stop> {
        match &mut self.refusals {
            Some(refusals) => {
                refusals.push(stop);
                Ok(())
            }
            None => Err(stop),
        }
    }

    #[cold]
    fn syntax(&self, words: &'static str) -> Stop {
        if self.at >= self.bytes.len() {
            return (Trouble::Syntax("the text ends too early"), self.bytes.len());
        }
        (Trouble::Syntax(words), self.at)
    }

    #[cold]
    fn fault(self, trouble: Trouble, offset: usize) -> Fault {
        let mut last = self.at_value.then_some(self.nodes.len() as u32);
        let kind = match trouble {
            Trouble::Empty => FaultKind::Empty,
            Trouble::Syntax(words) => FaultKind::Syntax(words),
            Trouble::TrailingBytes => FaultKind::TrailingBytes,
            Trouble::TooDeep => FaultKind::TooDeep { max: self.depth_max },
            Trouble::DuplicateMember(second) => {
                last = Some(second + 1);
                let name = self.nodes.get(second as usize);
                let name = name.map(|name| name.characters(self.text)).unwrap_or_default();
                FaultKind::DuplicateMember(cut(&name))
            }
            Trouble::Nul => FaultKind::Nul,
            Trouble::LoneSurrogate => FaultKind::LoneSurrogate,
        };
        Fault { kind, offset, pointer: self.pointer(last) }
    }

    /// The pointer of the child at index `child` of the innermost open container, or of that
    /// container.
    fn pointer(&self, child: Option<u32>) -> String {
        let mut steps = Vec::new();
        let mut open = self.open;
        let mut child = child;
        while let Some(container) = self.nodes.get(open as usize) {
            if let Some(child) = child {
                steps.push((container.kind, open, child));
            }
            child = Some(open);
            open = container.after;
        }
        // A tolerant reader may stand millions deep; only tokens that fit are made.
        let outermost_first = steps.into_iter().rev();
        pointer::join(outermost_first.map(|(kind, open, child)| self.token(kind, open, child)))
    }

    /// The name or the place of the value at index `child` in the container at index `open`.
    fn token(&self, kind: Kind, open: u32, child: u32) -> Cow<'a, str> {
        if kind == Kind::Object {
            let name = self.nodes.get(child.saturating_sub(1) as usize);
            return name.map(|name| name.characters(self.text)).unwrap_or_default();
        }
        let (mut place, mut index) = (0_u32, open + 1);
        while index < child {
            let Some(element) = self.nodes.get(index as usize) else { break };
            index = element.after;
            place += 1;
        }
        Cow::Owned(place.to_string())
    }
}
