//! What an examination of a store finds, and how bad that is.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Nothing is lost, but somebody should look.
    Warn,
    /// A promise is broken, or about to be.
    Error,
}

impl Level {
    /// The word for it: `ok`, `warn` or `error`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, one of a few stable words such as `counters`.
    pub check: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found, in a sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, message: message.into(), advice: None }
    }

    /// Somebody should look.
    pub fn warn(
        check: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { check, level: Level::Warn, message: message.into(), advice }
    }

    /// Something is broken.
    pub fn error(
        check: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { check, level: Level::Error, message: message.into(), advice }
    }
}
