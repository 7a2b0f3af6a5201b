//! What is printed while the story runs: one line for each thing that happens, with the time and
//! the part that speaks. Colours appear on a terminal only.

use std::fmt::Display;
use std::io::{Stdout, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anstream::AutoStream;

const DIM: &str = "\x1b[2m";
const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const BLUE: &str = "\x1b[34m";
const MAGENTA: &str = "\x1b[35m";
const CYAN: &str = "\x1b[36m";
const RESET: &str = "\x1b[0m";

/// A part of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// The `halyard serve` process.
    Server,
    /// The payment provider.
    Provider,
    /// The renewal script, and whoever else creates jobs.
    Producer,
    /// A worker process, by its number.
    Worker(u32),
    /// The person at the keyboard.
    You,
}

impl Voice {
    fn name(self) -> String {
        match self {
            Self::Server => "server".to_owned(),
            Self::Provider => "provider".to_owned(),
            Self::Producer => "producer".to_owned(),
            Self::Worker(number) => format!("worker {number}"),
            Self::You => "you".to_owned(),
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Self::Server => BLUE,
            Self::Provider => MAGENTA,
            Self::Producer => CYAN,
            Self::Worker(_) => GREEN,
            Self::You => YELLOW,
        }
    }
}

/// Prints lines, whole ones, from whichever task they come.
#[derive(Debug)]
pub(super) struct Narrator {
    begun: Instant,
    out: Mutex<AutoStream<Stdout>>,
}

impl Narrator {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), out: Mutex::new(anstream::stdout()) }
    }

    /// Begins a chapter, and says what to look for in it.
    pub(super) fn chapter(&self, title: &str, hint: &str) {
        self.print(&format!("\n{BOLD}{title}{RESET}\n{DIM}{hint}{RESET}\n"));
    }

    /// Something happens. With 18 columns before it, a text of up to 62 fits a small terminal.
    pub(super) fn say(&self, voice: Voice, text: impl Display) {
        let seconds = self.begun.elapsed().as_secs_f64();
        let (name, colour) = (voice.name(), voice.colour());
        self.print(&format!("{DIM}{seconds:5.1}s{RESET}  {colour}{name:<8}{RESET}  {text}"));
    }

    /// A line of nobody's.
    pub(super) fn print(&self, line: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever read the lines may have left; the story goes on, and its exit code counts.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }

    /// A verdict: green or red.
    pub(super) fn judge(&self, is_right: bool, line: &str) {
        let colour = if is_right { GREEN } else { RED };
        self.print(&format!("{BOLD}{colour}{line}{RESET}"));
    }
}
