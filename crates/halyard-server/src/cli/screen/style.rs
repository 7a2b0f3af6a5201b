//! Colours, where there is a terminal that wants them.

use std::fmt::Display;

use halyard::State;

/// What a word is emphasised with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Broken, failed.
    Red,
    /// Done, well.
    Green,
    /// Somebody should look.
    Yellow,
    /// Under way.
    Cyan,
    /// Beside the point.
    Faint,
    /// A heading.
    Bold,
}

impl Colour {
    /// What a state is shown in; plain for a job that simply waits its turn.
    #[must_use]
    pub fn of(state: State) -> Option<Self> {
        match state {
            State::Running => Some(Self::Cyan),
            State::Retrying => Some(Self::Yellow),
            State::Completed => Some(Self::Green),
            State::Failed => Some(Self::Red),
            State::Cancelled => Some(Self::Faint),
            State::Scheduled | State::Queued => None,
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Red => 31,
            Self::Green => 32,
            Self::Yellow => 33,
            Self::Cyan => 36,
            Self::Faint => 2,
            Self::Bold => 1,
        }
    }
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether words are coloured.
    pub colours: bool,
}

impl Style {
    /// Colours for a terminal that can show them and a person who did not set `NO_COLOR`
    /// (<https://no-color.org>).
    #[must_use]
    pub fn of(is_terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_none_or(|term| term == "dumb");
        Self { colours: is_terminal && set("NO_COLOR").is_none() && !dumb }
    }

    /// A word in a colour.
    #[must_use]
    pub fn paint(self, colour: impl Into<Option<Colour>>, word: impl Display) -> String {
        match colour.into().filter(|_| self.colours) {
            Some(colour) => format!("\u{1b}[{}m{word}\u{1b}[0m", colour.code()),
            None => word.to_string(),
        }
    }
}
