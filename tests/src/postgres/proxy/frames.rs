//! Messages of PostgreSQL's protocol, version 3, as they go over the wire.
//!
//! Source: "Frontend/Backend Protocol" of PostgreSQL's manual, chapter "Message Formats": a letter,
//! a length of four bytes that counts itself, and the rest; a client's first messages have no
//! letter, and a server answers a request for encryption with one lone letter.

use std::collections::HashMap;

/// The letter of a message without one.
pub(super) const UNLETTERED: u8 = 0;

const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

/// One message, or a piece of what cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) letter: u8,
    /// All of it, as it came.
    pub(super) bytes: Vec<u8>,
}

impl Frame {
    /// What follows letter and length.
    fn body(&self) -> &[u8] {
        self.bytes.get(5..).unwrap_or_default()
    }

    /// Texts of a body, each ended by a zero.
    fn texts(&self) -> impl Iterator<Item = String> {
        self.body().split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// What a server says it has done, for instance `COMMIT` or `INSERT 0 1`.
    pub(super) fn tag(&self) -> Option<String> {
        (self.letter == b'C').then(|| self.texts().next()).flatten()
    }

    /// Whether a server says that it waits for the next request.
    pub(super) fn is_ready(&self) -> bool {
        self.letter == b'Z'
    }

    /// Whether a client asks for encryption.
    pub(super) fn asks_for_encryption(&self) -> bool {
        self.letter == UNLETTERED && self.code().is_some_and(|code| [TLS, GSS].contains(&code))
    }

    /// The number behind the length of a message without a letter.
    fn code(&self) -> Option<u32> {
        self.bytes.get(4..8).and_then(|code| code.try_into().ok()).map(u32::from_be_bytes)
    }
}

/// Cuts a stream into messages.
#[derive(Debug)]
pub(super) struct Frames {
    buffer: Vec<u8>,
    lettered: bool,
    opaque: bool,
}

impl Frames {
    pub(super) fn of_client() -> Self {
        Self { buffer: Vec::new(), lettered: false, opaque: false }
    }

    pub(super) fn of_server() -> Self {
        Self { buffer: Vec::new(), lettered: true, opaque: false }
    }

    /// From now on pieces pass as they come: they are encrypted.
    pub(super) fn become_opaque(&mut self) {
        self.opaque = true;
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The lone letter with which a server answers a request for encryption.
    pub(super) fn lone_letter(&mut self) -> Option<Frame> {
        if self.buffer.is_empty() {
            return None;
        }
        Some(Frame { letter: UNLETTERED, bytes: vec![self.buffer.remove(0)] })
    }

    /// The next message that is whole.
    pub(super) fn next(&mut self) -> Option<Frame> {
        if self.opaque {
            let bytes = std::mem::take(&mut self.buffer);
            return (!bytes.is_empty()).then_some(Frame { letter: UNLETTERED, bytes });
        }
        let before = usize::from(self.lettered);
        let length = self.buffer.get(before..before + 4)?;
        let length = u32::from_be_bytes(length.try_into().ok()?);
        let whole = before + usize::try_from(length).ok()?;
        if self.buffer.len() < whole {
            return None;
        }
        let rest = self.buffer.split_off(whole);
        let bytes = std::mem::replace(&mut self.buffer, rest);
        let letter = if self.lettered { *bytes.first()? } else { UNLETTERED };
        let frame = Frame { letter, bytes };
        let asks = frame.asks_for_encryption() || frame.code() == Some(CANCEL);
        if !self.lettered && !asks {
            self.lettered = true;
        }
        Some(frame)
    }
}

/// What of a client's statements matters: which message asks for a commit.
#[derive(Debug, Default)]
pub(super) struct Statements {
    /// By the name of a prepared statement: whether it is a commit.
    prepared: HashMap<String, bool>,
    /// The same by the name of a portal, which is what is run.
    portals: HashMap<String, bool>,
}

impl Statements {
    /// Takes note of a message; whether the server would commit on it.
    pub(super) fn ask_for_commit(&mut self, frame: &Frame) -> bool {
        let mut texts = frame.texts();
        let mut next = || texts.next().unwrap_or_default();
        match frame.letter {
            b'Q' => is_commit(&next()),
            b'P' => {
                let (name, text) = (next(), next());
                self.prepared.insert(name, is_commit(&text));
                false
            }
            b'B' => {
                let (portal, statement) = (next(), next());
                let commit = self.prepared.get(&statement).copied().unwrap_or(false);
                self.portals.insert(portal, commit);
                false
            }
            b'E' => self.portals.get(&next()).copied().unwrap_or(false),
            _ => false,
        }
    }
}

/// Whether one of these statements ends a transaction with a commit. A `;` within a string is not
/// told apart; no test sends one before a COMMIT.
fn is_commit(text: &str) -> bool {
    text.split(';').any(|statement| {
        let first = statement.split_whitespace().next().unwrap_or_default();
        ["COMMIT", "END"].iter().any(|word| first.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(letter: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[letter], &length[..], body].concat()
    }

    fn unlettered(code: u32) -> Vec<u8> {
        [8_u32.to_be_bytes(), code.to_be_bytes()].concat()
    }

    #[test]
    fn a_stream_is_cut_alike_however_it_comes() {
        let whole =
            [unlettered(TLS), unlettered(196_608), message(b'Q', b"BEGIN\0"), message(b'X', b"")]
                .concat();
        for piece in 1..whole.len() {
            let mut frames = Frames::of_client();
            let mut found = Vec::new();
            for bytes in whole.chunks(piece) {
                frames.push(bytes);
                while let Some(frame) = frames.next() {
                    found.push(frame);
                }
            }
            let letters: Vec<_> = found.iter().map(|frame| frame.letter).collect();
            assert_eq!(letters, [UNLETTERED, UNLETTERED, b'Q', b'X'], "pieces of {piece}");
            let bytes: Vec<_> = found.into_iter().flat_map(|frame| frame.bytes).collect();
            assert_eq!(bytes, whole, "pieces of {piece}");
        }
    }

    #[test]
    fn what_is_encrypted_passes_as_it_comes() {
        let mut frames = Frames::of_client();
        frames.push(&unlettered(TLS));
        assert!(frames.next().unwrap().asks_for_encryption());
        frames.become_opaque();
        frames.push(&[22, 3, 1]);
        assert_eq!(frames.next().unwrap().bytes, [22, 3, 1]);
        assert_eq!(frames.next(), None);
    }

    #[test]
    fn commits_are_found() {
        let mut statements = Statements::default();
        let mut asks = |letter, body: &[u8]| {
            let bytes = message(letter, body);
            statements.ask_for_commit(&Frame { letter, bytes })
        };
        for (text, commit) in [
            ("COMMIT", true),
            ("  commit ;", true),
            ("BEGIN; INSERT INTO t VALUES (1); END", true),
            ("SELECT 'COMMIT'", false),
            ("ROLLBACK", false),
            ("SELECT commit FROM t", false),
        ] {
            assert_eq!(asks(b'Q', format!("{text}\0").as_bytes()), commit, "{text}");
        }
        assert!(!asks(b'P', b"s1\0COMMIT\0\0\0"), "only prepared");
        assert!(!asks(b'P', b"s2\0SELECT 1\0\0\0"));
        assert!(!asks(b'B', b"\0s1\0"), "only bound");
        assert!(asks(b'E', b"\0\0\0\0\0"));
        assert!(!asks(b'B', b"\0s2\0"));
        assert!(!asks(b'E', b"\0\0\0\0\0"));
    }

    #[test]
    fn tags_are_read() {
        let bytes = message(b'C', b"INSERT 0 1\0");
        assert_eq!(Frame { letter: b'C', bytes }.tag().as_deref(), Some("INSERT 0 1"));
        let bytes = message(b'Z', b"I");
        assert_eq!(Frame { letter: b'Z', bytes }.tag(), None);
    }
}
