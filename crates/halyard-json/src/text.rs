//! An owned JSON text that the reader accepted.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use crate::fault::Fault;
use crate::reader::parse;

/// One JSON value as its sender wrote it: exact numbers, member order and white space.
///
/// A clone shares the bytes. Equality is that of the bytes; see [`equal`](crate::equal) for
/// equality of the value.
#[derive(Clone)]
pub struct Text {
    text: Arc<str>,
    /// `None` for what came back from a store: it is counted when asked for, which is rare.
    height: Option<u16>,
}

impl Text {
    /// `null`.
    pub fn null() -> Self {
        static NULL: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("null"));
        Self { text: Arc::clone(&NULL), height: Some(0) }
    }

    /// Reads a text with [`parse`]; white space around the value is dropped.
    ///
    /// # Errors
    ///
    /// Those of [`parse`].
    pub fn parse(text: &str, depth_max: u16) -> Result<Self, Fault> {
        Ok(parse(text.as_bytes(), depth_max)?.root().to_text())
    }

    /// Takes back from a store what was a `Text` when it was put there, without reading it
    /// again. For anything else use [`Text::parse`]: a text that never passed the reader would
    /// reach workers and fingerprints as it is.
    pub fn trusted(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), height: None }
    }

    /// A span that the reader accepted.
    pub(crate) fn accepted(text: &str, height: u16) -> Self {
        if text == "null" {
            return Self::null();
        }
        Self { text: Arc::from(text), height: Some(height) }
    }

    /// The exact bytes.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many bytes; never 0.
    #[expect(clippy::len_without_is_empty, reason = "no JSON text is empty")]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// How deep it nests: a scalar 0, `[]` 1, `[[]]` 2. Walks the bytes of a trusted text.
    pub fn height(&self) -> u16 {
        self.height.unwrap_or_else(|| measure(&self.text))
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        &*self.text == "null"
    }
}

/// Counts brackets outside strings.
fn measure(text: &str) -> u16 {
    let (mut depth, mut height) = (0_u16, 0_u16);
    let (mut in_string, mut in_escape) = (false, false);
    for &byte in text.as_bytes() {
        match byte {
            _ if in_escape => in_escape = false,
            b'\\' => in_escape = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth = depth.saturating_add(1);
                height = height.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    height
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Text({})", self.text)
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.text
    }
}
