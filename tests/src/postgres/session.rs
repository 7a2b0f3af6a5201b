//! Statements over connections of their own.
//!
//! Each runs in a thread with a runtime of its own, so that a test that has a runtime may call it
//! as well.

use std::thread;

use tokio::runtime;
use tokio_postgres::{Client, Error, NoTls, SimpleQueryMessage};

use super::Url;
use crate::PATIENCE;

/// Runs statements on a new connection, and gives the rows of all of them, each value as text.
///
/// # Errors
///
/// Those of the server and of the connection.
///
/// # Panics
///
/// When there is no answer within [`PATIENCE`].
pub fn query(url: &Url, text: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
    in_session(url, async |client: &Client| rows(client, text).await)
}

/// The first value that a statement gives, for statements that always give one.
///
/// # Panics
///
/// When it fails, or gives nothing or NULL.
pub fn value(url: &Url, text: &str) -> String {
    let found = query(url, text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let first = found.into_iter().next().and_then(|row| row.into_iter().next()).flatten();
    first.unwrap_or_else(|| panic!("no value: {text}"))
}

/// Runs statements, and gives the rows of all of them.
pub(super) async fn rows(client: &Client, text: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
    let mut rows = Vec::new();
    for message in client.simple_query(text).await? {
        if let SimpleQueryMessage::Row(row) = message {
            rows.push((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect());
        }
    }
    Ok(rows)
}

/// Does something over one connection.
pub(super) fn in_session<T: Send>(
    url: &Url,
    act: impl AsyncFnOnce(&Client) -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let url = url.to_string();
    // The future is made where it runs, because it need not be `Send`.
    let run = || {
        let whole = async move {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
            let driver = tokio::spawn(connection);
            let done = act(&client).await;
            drop(client);
            let _ = driver.await;
            done
        };
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let patiently = async { tokio::time::timeout(PATIENCE, whole).await };
        runtime.expect("a runtime").block_on(patiently)
    };
    let ended = thread::scope(|scope| scope.spawn(run).join());
    ended.expect("no panic").expect("PostgreSQL answers in time")
}
