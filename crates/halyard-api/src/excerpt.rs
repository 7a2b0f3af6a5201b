//! The sender's own words inside a message.

use std::fmt;

/// Characters of a value that a message shows before it is cut.
const EXCERPT_CHARS_MAX: usize = 80;

/// Text that somebody sent: cut after 80 characters, and without characters that could steer a
/// terminal or forge a line of a log.
pub(crate) struct Excerpt<'t>(pub(crate) &'t str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.chars();
        for character in rest.by_ref().take(EXCERPT_CHARS_MAX) {
            match character {
                '"' | '\'' | '\\' => write!(f, "{character}")?,
                other => write!(f, "{}", other.escape_debug())?,
            }
        }
        if rest.next().is_some() {
            f.write_str("…")?;
        }
        Ok(())
    }
}
