//! Words on the wire and numbers in a store read back, and what no one wrote is nothing.

use halyard_core::error::{ErrorKind, ErrorReport};
use halyard_core::job::{ReportKind, RetryReason, StartState, State};
use halyard_core::limits::{ERROR_MESSAGE_BYTES_MAX, ERROR_STACK_BYTES_MAX, ERROR_TYPE_BYTES_MAX};

#[test]
fn words_and_numbers_read_back() {
    for state in State::ALL {
        assert_eq!(State::parse(state.as_str()), Some(state));
        assert_eq!(State::from_number(state.number()), Some(state));
    }
    for kind in [ErrorKind::Error, ErrorKind::Timeout, ErrorKind::Lost, ErrorKind::NonRetryable] {
        assert_eq!(ErrorKind::parse(kind.as_str()), Some(kind));
    }
    for word in ["", "Queued", "queued ", "nonretryable"] {
        assert_eq!((State::parse(word), ErrorKind::parse(word)), (None, None), "{word}");
    }
}

/// Numbers lie in files that live for years: they never change.
#[test]
fn numbers_are_stable() {
    use StartState::{Cancelled, Completed, Failed, Lost, Released, Running, Snoozed, TimedOut};
    let starts = [Running, Completed, Failed, TimedOut, Lost, Released, Snoozed, Cancelled];
    for (number, start) in (0..).zip(starts) {
        assert_eq!((start.number(), StartState::from_number(number)), (number, Some(start)));
    }
    let reports = [
        ReportKind::Completed,
        ReportKind::Failed,
        ReportKind::Released,
        ReportKind::Snoozed,
        ReportKind::Cancelled,
    ];
    for (number, report) in (0..).zip(reports) {
        assert_eq!((report.number(), ReportKind::from_number(number)), (number, Some(report)));
    }
    let reasons = [RetryReason::Backoff, RetryReason::RetryAfter, RetryReason::Crash];
    for (number, reason) in (0..).zip(reasons) {
        assert_eq!((reason.number(), RetryReason::from_number(number)), (number, Some(reason)));
    }
    let states: Vec<&str> = (0..8).filter_map(State::from_number).map(State::as_str).collect();
    let expected =
        ["scheduled", "queued", "running", "retrying", "completed", "failed", "cancelled"];
    assert_eq!(states, expected);
    assert_eq!((StartState::from_number(8), ReportKind::from_number(5)), (None, None));
    assert_eq!(RetryReason::from_number(3), None);
}

#[test]
fn text_that_fits_is_not_cut() {
    let sized = |bytes: usize| "x".repeat(bytes);
    let (kind, message, stack) =
        (sized(ERROR_TYPE_BYTES_MAX), sized(ERROR_MESSAGE_BYTES_MAX), sized(ERROR_STACK_BYTES_MAX));
    let report = ErrorReport::reported(Some(&kind), Some(&message), Some(&stack), true);
    assert_eq!((&report.error_type, &report.message), (&kind, &message));
    assert_eq!(report.stack, Some(stack));
    let longer = sized(ERROR_MESSAGE_BYTES_MAX + 1);
    let report = ErrorReport::reported(None, Some(&longer), None, true);
    assert_eq!(report.message.len(), ERROR_MESSAGE_BYTES_MAX);
    assert!(report.message.ends_with("[cut, 8193 bytes in all]"));
}
