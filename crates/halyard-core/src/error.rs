//! What an attempt reported when it failed. A failure report always fits: text is cut and cleaned,
//! never refused.

use crate::limits;
use crate::planted::{Bug, planted};

/// Why an attempt did not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReport {
    /// Class of the error, for people and for grouping: `TypeError`, `CardDeclined`.
    pub error_type: String,
    /// One sentence for people.
    pub message: String,
    /// Where it happened, in the language's own form.
    pub stack: Option<String>,
    /// How the attempt ended.
    pub kind: ErrorKind,
}

/// How a failed attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The handler failed and may be retried.
    Error,
    /// The attempt reached its deadline.
    Timeout,
    /// The lease lapsed before its deadline: the worker is gone, or was frozen.
    Lost,
    /// The handler said that another attempt is pointless.
    NonRetryable,
}

impl ErrorKind {
    /// The word on the wire and in the store.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Lost => "lost",
            Self::NonRetryable => "non_retryable",
        }
    }

    /// Reads what [`ErrorKind::as_str`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Error, Self::Timeout, Self::Lost, Self::NonRetryable]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

impl ErrorReport {
    /// Takes a worker's words as they came and makes them fit.
    #[must_use]
    pub fn reported(
        error_type: Option<&str>,
        message: Option<&str>,
        stack: Option<&str>,
        retryable: bool,
    ) -> Self {
        Self {
            error_type: clean(error_type.unwrap_or("Error"), limits::ERROR_TYPE_BYTES_MAX),
            message: clean(message.unwrap_or_default(), limits::ERROR_MESSAGE_BYTES_MAX),
            stack: stack.map(|stack| clean(stack, limits::ERROR_STACK_BYTES_MAX)),
            kind: if retryable { ErrorKind::Error } else { ErrorKind::NonRetryable },
        }
    }

    /// An error that the server itself records.
    #[must_use]
    pub fn recorded(error_type: &str, message: String, kind: ErrorKind) -> Self {
        Self { error_type: error_type.to_owned(), message, stack: None, kind }
    }
}

/// Replaces NUL, which PostgreSQL cannot hold, by a visible sign, and cuts what is too long with a
/// mark that says so. The answer is at most `bytes_max` long.
fn clean(text: &str, bytes_max: usize) -> String {
    if planted(Bug::ErrorTextNotCleaned) {
        return text.to_owned();
    }
    let visible = |text: &str| text.replace('\0', "\u{fffd}");
    let cleaned = visible(text);
    if cleaned.len() <= bytes_max {
        return cleaned;
    }
    let mark = format!(" … [cut, {} bytes in all]", text.len());
    let mut end = bytes_max.saturating_sub(mark.len());
    while !cleaned.is_char_boundary(end) {
        end -= 1;
    }
    let mut cut = cleaned;
    cut.truncate(end);
    cut.push_str(&mark);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_any_size_fits() {
        let huge = "é\0".repeat(3_000_000);
        let report = ErrorReport::reported(Some(&huge), Some(&huge), Some(&huge), true);
        assert!(report.error_type.len() <= limits::ERROR_TYPE_BYTES_MAX);
        assert!(report.message.len() <= limits::ERROR_MESSAGE_BYTES_MAX);
        let stack = report.stack.unwrap_or_default();
        assert!(stack.len() <= limits::ERROR_STACK_BYTES_MAX);
        assert!(stack.ends_with("[cut, 9000000 bytes in all]"), "{stack}");
        assert!(!stack.contains('\0') && stack.contains('\u{fffd}'));
    }

    #[test]
    fn an_empty_report_has_a_type() {
        let report = ErrorReport::reported(None, None, None, false);
        assert_eq!((report.error_type.as_str(), report.message.as_str()), ("Error", ""));
        assert_eq!(report.kind, ErrorKind::NonRetryable);
    }
}
