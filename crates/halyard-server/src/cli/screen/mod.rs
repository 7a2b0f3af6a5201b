//! What goes to the terminal, or into a pipe.
//!
//! On a terminal people read tables and sentences; a pipe, or `--json`, gets JSON. Text of jobs is
//! somebody else's, so on its way to a terminal it goes through [`clean`]: no character in it can
//! move the cursor, hide a line or turn it round.
//!
//! | file | what |
//! |---|---|
//! | `clean` | makes text harmless |
//! | `style` | colours |
//! | `table` | rows of cells |

mod clean;
mod style;
mod table;

use std::io::{self, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

pub use self::clean::{clean, clean_json, clean_lines};
pub use self::style::{Colour, Style};
pub use self::table::{Cell, Table};

/// Where the answer goes, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    is_terminal: bool,
    json: bool,
    /// How words are emphasised.
    pub style: Style,
    /// The time of this moment, in milliseconds since 1970: ages are counted from here.
    pub now: i64,
}

impl Screen {
    /// Standard output; `json` asks for JSON on a terminal too.
    #[must_use]
    pub fn new(json: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { is_terminal, json: json || !is_terminal, style: Style::of(is_terminal), now: now() }
    }

    /// Whether the answer is JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a value as one JSON document and a line break: on one line, as it came; on a
    /// terminal over several, with characters escaped that a terminal could take amiss.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn json<T: Serialize>(&self, value: &T) -> io::Result<()> {
        let text = if self.is_terminal {
            clean_json(&serde_json::to_string_pretty(value)?)
        } else {
            serde_json::to_string(value)?
        };
        self.lines(&text)
    }

    /// Prints a part of a JSON document: text that is JSON's own, and one value on one line.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn json_part<T: Serialize>(&self, before: &str, value: &T) -> io::Result<()> {
        let text = serde_json::to_string(value)?;
        let text = if self.is_terminal { clean_json(&text) } else { text };
        write!(io::stdout().lock(), "{before}{text}")
    }

    /// Prints text that was made harmless, and a line break if it ends without one.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn lines(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    }
}

/// A number of things, such as `1 job` or `3 jobs`.
#[must_use]
pub fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
