//! What was refused, where, and how to mend it.

use std::fmt;

/// Characters of a name or a pointer that a message shows before it is cut.
const EXCERPT_CHARS_MAX: usize = 80;

/// Why a text was refused, and where.
///
/// `Display` gives one line: what was wrong, the byte, the value, how to mend it. Names and
/// pointers in it are cut and their control characters escaped, so it is safe in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was wrong.
    pub kind: FaultKind,
    /// Where, in bytes from the start of the text; the length of the text when it ends early.
    pub offset: usize,
    /// JSON pointer (RFC 6901) of the innermost value concerned, `""` for the whole text. It
    /// points at an enclosing value where the full pointer would be longer than
    /// [`POINTER_BYTES_MAX`](crate::POINTER_BYTES_MAX).
    pub pointer: String,
}

/// The ways in which a text can be refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Nothing, or white space only.
    Empty,
    /// A byte that does not belong to UTF-8.
    NotUtf8,
    /// U+FEFF before the value.
    ByteOrderMark,
    /// Not JSON; the words say what is wrong or what is expected there.
    Syntax(&'static str),
    /// Something other than white space after the value.
    TrailingBytes,
    /// More arrays and objects inside each other than allowed.
    TooDeep {
        /// The limit that was passed.
        max: u16,
    },
    /// A name that the same object already has; the name is unescaped and cut when long.
    DuplicateMember(String),
    /// `\u0000` in a string or a name.
    Nul,
    /// `\uD800` to `\uDFFF` that is not half of a pair, in a string or a name.
    LoneSurrogate,
    /// 4 GiB or more.
    TooLong,
}

impl FaultKind {
    /// Whether the text is not JSON at all, as opposed to JSON that is refused.
    pub fn is_syntax(&self) -> bool {
        match self {
            Self::Empty
            | Self::NotUtf8
            | Self::ByteOrderMark
            | Self::Syntax(_)
            | Self::TrailingBytes => true,
            Self::TooDeep { .. }
            | Self::DuplicateMember(_)
            | Self::Nul
            | Self::LoneSurrogate
            | Self::TooLong => false,
        }
    }

    fn mend(&self) -> &'static str {
        match self {
            Self::Empty => "send one JSON value",
            Self::NotUtf8 => "encode the text as UTF-8",
            Self::ByteOrderMark => "remove the first three bytes",
            Self::Syntax(_) => "write it with a JSON library (RFC 8259)",
            Self::TrailingBytes => "send one value and nothing after it",
            Self::TooDeep { .. } => "nest less deeply, or send the inner part as a string",
            Self::DuplicateMember(_) => "keep one of the two",
            Self::Nul => "remove the character, or encode the data (base64)",
            Self::LoneSurrogate => "send both halves of the pair, or replace it by \\ufffd",
            Self::TooLong => "send less",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no JSON value"),
            Self::NotUtf8 => f.write_str("the text is not UTF-8"),
            Self::ByteOrderMark => f.write_str("the text starts with a byte order mark"),
            Self::Syntax(words) => f.write_str(words),
            Self::TrailingBytes => f.write_str("something follows the JSON value"),
            Self::TooDeep { max } => write!(f, "more than {max} arrays and objects are nested"),
            Self::DuplicateMember(name) => {
                write!(f, "the member \"{}\" appears twice in one object", Excerpt(name))
            }
            Self::Nul => f.write_str("the character U+0000 is not accepted"),
            Self::LoneSurrogate => f.write_str("half of a surrogate pair stands alone"),
            Self::TooLong => f.write_str("the text has 4 GiB or more"),
        }
    }
}

impl Fault {
    /// Whether the text is not JSON at all, as opposed to JSON that is refused.
    pub fn is_syntax(&self) -> bool {
        self.kind.is_syntax()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {}", self.kind, self.offset)?;
        if !self.pointer.is_empty() {
            write!(f, " in \"{}\"", Excerpt(&self.pointer))?;
        }
        write!(f, ": {}", self.kind.mend())
    }
}

impl std::error::Error for Fault {}

/// The start of `text`, no longer than a [`FaultKind::DuplicateMember`] carries.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS_MAX + 1) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned(),
        None => text.to_owned(),
    }
}

/// Sender's text inside a message: cut, and without characters that could steer a terminal.
struct Excerpt<'a>(&'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars();
        for character in rest.by_ref().take(EXCERPT_CHARS_MAX) {
            write!(f, "{}", character.escape_debug())?;
        }
        if rest.next().is_some() {
            f.write_str("…")?;
        }
        Ok(())
    }
}
