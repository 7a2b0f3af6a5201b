//! What becomes of a record when the work failed.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use crate::error::{Error, InvalidValue};
use crate::job::Job;
use crate::worker::{HandlerError, OutcomeUnknown, chain};

/// What returned values are called in errors: those of a piece of work, and of a handler.
const RETURNED: [&str; 2] = ["response", "result"];

/// Whether the effect may have happened although the work failed: then the record stays.
///
/// [`OutcomeUnknown`] says so; an aborted attempt was stopped somewhere; a request whose answer
/// was lost may have been carried out; work whose response cannot be written has been done. A
/// connection that was never made has done nothing.
pub(super) fn is_unknown(error: &HandlerError, job: Option<&Job>) -> bool {
    let aborted = job.is_some_and(|job| job.signal().reason().is_some());
    if aborted || error.find::<OutcomeUnknown>().is_some() {
        return true;
    }
    if error.find::<InvalidValue>().is_some_and(|value| RETURNED.contains(&value.what.as_str())) {
        return true;
    }
    // The first link that tells is believed: what it was caused by is of the same request.
    chain(error.get()).find_map(is_answer_lost).unwrap_or(false)
}

/// Whether an answer was lost; `None` where this link of a chain does not tell.
fn is_answer_lost(error: &(dyn StdError + 'static)) -> Option<bool> {
    if let Some(Error::Aborted(_)) = error.downcast_ref() {
        return Some(true);
    }
    if error.is::<tokio::time::error::Elapsed>() {
        return Some(true);
    }
    // That of this crate's own client is shared.
    let shared = error.downcast_ref::<Arc<reqwest::Error>>().map(|shared| &**shared);
    if let Some(http) = error.downcast_ref().or(shared) {
        let never_sent = http.is_connect() || http.is_builder() || http.is_status();
        return Some(!never_sent);
    }
    #[cfg(feature = "redis")]
    if let Some(redis) = error.downcast_ref::<redis::RedisError>() {
        let broken = redis.is_timeout() || redis.is_connection_dropped();
        return Some(broken && !redis.is_connection_refusal());
    }
    #[cfg(feature = "postgres")]
    if let Some(postgres) = error.downcast_ref::<tokio_postgres::Error>()
        && (postgres.is_closed() || postgres.code().is_some_and(ends_in_the_middle))
    {
        return Some(true);
    }
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    let broken = kind.is_some_and(|kind| {
        matches!(
            kind,
            io::ErrorKind::TimedOut
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof
        )
    });
    broken.then_some(true)
}

/// PostgreSQL's codes for a server that ended, or a connection that broke, in the middle.
#[cfg(feature = "postgres")]
fn ends_in_the_middle(code: &tokio_postgres::error::SqlState) -> bool {
    ["57P01", "57P02"].contains(&code.code()) || code.code().starts_with("08")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ConnectionError;
    use crate::testing::fake_job;
    use crate::{AbortReason, NonRetryable};

    #[track_caller]
    fn check(error: impl Into<HandlerError>, unknown: bool) {
        let error = error.into();
        assert_eq!(is_unknown(&error, None), unknown, "{error:?}");
    }

    #[tokio::test]
    async fn what_leaves_the_outcome_unknown() {
        check("declined", false);
        check(NonRetryable::new("gone"), false);
        check(OutcomeUnknown::new("no answer"), true);
        let written = |what| crate::json::write(what, &f64::NAN).expect_err("no JSON");
        check(written("response"), true);
        check(written("result"), true);
        check(written("payload"), false);
        check(io::Error::other(OutcomeUnknown::new("deep")), true);
        check(Error::Aborted(AbortReason::TimedOut), true);
        check(io::Error::from(io::ErrorKind::TimedOut), true);
        check(io::Error::from(io::ErrorKind::ConnectionReset), true);
        check(io::Error::from(io::ErrorKind::ConnectionRefused), false);
        let never = std::future::pending::<()>();
        let elapsed = tokio::time::timeout(std::time::Duration::ZERO, never).await;
        check(elapsed.expect_err("it never ends"), true);

        let fake = fake_job("t");
        let job = fake.job();
        assert!(!is_unknown(&"declined".into(), Some(&job)));
        fake.abort(AbortReason::WorkerStopped);
        assert!(is_unknown(&"declined".into(), Some(&job)));
    }

    #[tokio::test]
    async fn requests_over_http() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("its address"));
        let hang_up = tokio::spawn(async move {
            for _ in 0..2 {
                let (connection, _) = listener.accept().await.expect("a connection");
                connection.readable().await.expect("a request");
            }
        });
        // Another test may have chosen a provider before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let lost = client.post(&url).send().await.expect_err("nobody answers");
        check(lost, true);
        let lost = client.post(&url).send().await.expect_err("nobody answers");
        let own = |error| Error::from(ConnectionError::new(&url, error));
        check(io::Error::other(own(lost)), true);
        hang_up.await.expect("the other side");
        let refused = client.post(&url).send().await.expect_err("nobody listens");
        check(own(refused), false);
        let refused = client.post(&url).send().await.expect_err("nobody listens");
        check(refused, false);

        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", silent.local_addr().expect("its address"));
        let request = client.post(&url).timeout(std::time::Duration::from_millis(200));
        let late = request.send().await.expect_err("nobody answers");
        check(Error::from(ConnectionError::new(&url, late)), true);
    }
}
