//! What went wrong, in words that say what to do, and the exit code for it ([`EXIT_CODES`]).

use std::process::ExitCode;
use std::{fmt, io};

use halyard::Error;

use super::screen::{clean, clean_lines};

/// The codes, for the end of the help.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  refused, not found, or not well
  2  the command line cannot be understood
  3  the server cannot be reached, or asks for patience
  4  the server wants a key, or one that may do this
  5  the time to wait was up
 74  the storage failed under a server, which ended so that nothing is lost: start it again";

/// Why a command did not do what it was told.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// The server, or the world, says no.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }

    /// The command line makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, message: message.into() }
    }

    /// What the SDK says went wrong, and one thing more to know.
    pub fn with_hint(error: &Error, hint: &str) -> Self {
        let failure = Self::of(error);
        Self { message: clean_lines(&format!("{failure}\n  {hint}")), ..failure }
    }

    /// The server wants a key, and not the one that was sent.
    #[must_use]
    pub fn wrong_key() -> Self {
        let message = "the server does not know the key that was sent (401 unauthenticated)\n  \
                       --api-key wins over HALYARD_API_KEY; see which one is set, and whether it \
                       is this server's";
        Self { code: 4, message: message.to_owned() }
    }

    fn of(error: &Error) -> Self {
        Self { code: code(error), message: message(error) }
    }

    fn of_any(error: anyhow::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(failure) => failure,
            Err(error) => match error.downcast_ref::<Error>() {
                Some(error) => Self::of(error),
                None => Self::refused(clean_lines(&causes(&error))),
            },
        }
    }
}

/// Says what went wrong, and answers with the exit code for it. Nobody who reads is nothing wrong:
/// `halyard jobs list | head` has what it wanted.
#[must_use]
pub fn report(error: anyhow::Error) -> ExitCode {
    let source = error.downcast_ref::<io::Error>();
    if source.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let failure = Failure::of_any(error);
    anstream::eprintln!("halyard: {failure}");
    failure.code.into()
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

/// The error and its causes, each once: some errors name their cause themselves.
fn causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| {
        if said.is_empty() {
            cause
        } else if said.ends_with(&cause) {
            said
        } else {
            format!("{said}: {cause}")
        }
    })
}

fn code(error: &Error) -> u8 {
    match error {
        Error::Connection(_) | Error::UnexpectedAnswer { .. } => 3,
        Error::WaitTimeout { .. } => 5,
        Error::InvalidValue(_) | Error::Settings(_) => 2,
        error => match error.status() {
            Some(401 | 403) => 4,
            Some(status) if status >= 500 => 3,
            _ => 1,
        },
    }
}

fn message(error: &Error) -> String {
    let mut lines = vec![sentence(error)];
    if let Error::Api(refusal) = error {
        // One fault is the detail itself.
        if refusal.errors.len() > 1 {
            lines.extend(
                refusal
                    .errors
                    .iter()
                    .map(|fault| format!("  {}: {}", clean(&fault.pointer), clean(&fault.message))),
            );
        }
        let job = refusal.job_id.as_deref().map(clean);
        match (job, &*refusal.code) {
            (Some(job), "idempotency_key_taken") => lines.push(format!(
                "  look at that job first, it may have done this work: `halyard jobs get {job}`"
            )),
            (None, _) | (Some(_), "job_finished") => {}
            (Some(job), _) => lines.push(format!("  see `halyard jobs get {job}`")),
        }
    }
    if let Error::IdempotencyConflict(conflict) = error {
        lines.push(format!("  see `halyard jobs get {}`", clean(&conflict.existing_job_id)));
    }
    lines.extend(advice(error).map(|advice| format!("  {advice}")));
    clean_lines(&lines.join("\n"))
}

fn sentence(error: &Error) -> String {
    match error {
        // An address that would be another one with this in it.
        Error::InvalidValue(fault) if fault.what == "the id or name" => {
            "an id or a name is needed, and none is empty or made of dots alone".to_owned()
        }
        error => clean(&error.to_string()),
    }
}

/// What a person can do, where the sentence itself does not say it.
fn advice(error: &Error) -> Option<&'static str> {
    match error {
        Error::Connection(failed) if failed.to_string().contains("https://") => {
            return Some(
                "is it https:// there? `halyard serve` itself speaks http://, and https:// only \
                 behind a proxy",
            );
        }
        Error::Connection(_) => {
            return Some("start one, or say where it is with --url or HALYARD_URL");
        }
        Error::UnexpectedAnswer { .. } => {
            return Some("is it a Halyard server that listens there? See --url and HALYARD_URL");
        }
        Error::WaitTimeout { .. } => {
            return Some("the job goes on; wait longer with `halyard jobs get ID --wait`");
        }
        _ => {}
    }
    Some(match error.code()? {
        "unauthenticated" => "give the server's key with HALYARD_API_KEY, or with --api-key",
        "forbidden" => "use a key with the role for this",
        "read_only" => "the server was started with --read-only",
        "unknown_host" => "add the host name to the server's HALYARD_ALLOWED_HOSTS",
        "job_not_found" => {
            "`halyard jobs list` shows those that exist; ended ones are removed after a while"
        }
        "queue_not_found" => "`halyard queues list` shows those that exist",
        "job_running" => "a running job can be stopped with `halyard jobs cancel`",
        "job_not_retryable" => {
            "a waiting job can be started with `halyard jobs run-now`; one that completed has done \
             its work, and --allow-completed does again what no checkpoint keeps"
        }
        "job_finished" => "nothing was done",
        "idempotency_key_taken" => {
            "`halyard jobs run-as-new` would do the work beside it: outside effects, such as a \
             charge, would then happen again"
        }
        "overloaded" | "draining" | "storage_unavailable" => "try again in a moment",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use halyard::{ApiError, FieldError};

    use super::*;

    fn api(status: u16, code: &str, detail: &str) -> ApiError {
        ApiError {
            status,
            code: code.to_owned(),
            detail: detail.to_owned(),
            request_id: "req_1".to_owned(),
            job_id: None,
            errors: Vec::new(),
        }
    }

    #[track_caller]
    fn check(error: Error, code: u8, words: &[&str]) {
        let failure = Failure::of(&error);
        assert_eq!(failure.code, code, "{error}");
        for word in words {
            assert!(failure.message.contains(word), "`{word}` is not in: {failure}");
        }
    }

    #[test]
    fn codes_and_advice() {
        for (status, name, code, word) in [
            (400, "invalid_field", 1, "400"),
            (401, "unauthenticated", 4, "HALYARD_API_KEY"),
            (403, "forbidden", 4, "role"),
            (403, "read_only", 4, "--read-only"),
            (404, "job_not_found", 1, "halyard jobs list"),
            (404, "queue_not_found", 1, "halyard queues list"),
            (409, "job_running", 1, "halyard jobs cancel"),
            (409, "job_not_retryable", 1, "--allow-completed"),
            (409, "job_finished", 1, "nothing was done"),
            (409, "idempotency_key_taken", 1, "happen again"),
            (421, "unknown_host", 1, "HALYARD_ALLOWED_HOSTS"),
            (503, "draining", 3, "try again"),
            (502, "", 3, "502"),
        ] {
            check(Error::Api(Box::new(api(status, name, "it is so"))), code, &["it is so", word]);
        }
        let timeout = std::time::Duration::from_secs(5);
        check(Error::WaitTimeout { id: "job_1".to_owned(), timeout }, 5, &["job_1", "--wait"]);
        check(Error::Settings("bad".to_owned()), 2, &["bad"]);
    }

    #[test]
    fn each_cause_is_said_once() {
        let missing = || anyhow::Error::from(std::io::Error::other("no such file"));
        for (error, expected) in [
            (missing(), "no such file"),
            (missing().context("cannot read it"), "cannot read it: no such file"),
            (missing().context("it: no such file").context("a"), "a: it: no such file"),
        ] {
            assert_eq!(Failure::of_any(error).message, expected);
        }
    }

    #[test]
    fn every_fault_is_shown_and_none_of_them_moves_the_cursor() {
        let fault = |pointer: &str, message: &str| FieldError {
            code: "invalid_field".to_owned(),
            pointer: pointer.to_owned(),
            message: message.to_owned(),
        };
        let errors = vec![fault("/queue", "no\u{1b}[2J"), fault("/pri\nority", "high")];
        let refusal = ApiError {
            errors,
            job_id: Some("job_2".to_owned()),
            ..api(400, "invalid_field", "2 faults\u{202e}")
        };
        check(
            Error::Api(Box::new(refusal)),
            1,
            &["2 faults\\u{202e}", "/queue: no\\u{1b}[2J", "/pri\\nority: high", "get job_2"],
        );
    }
}
