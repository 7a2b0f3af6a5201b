//! Reads that are given up.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::time::Duration;

use futures_util::FutureExt;

use super::{READ_MAX, Read, Readers};
use crate::StoreError;
use crate::sqlite::writer::{Ran, Writer};
use crate::sqlite::{Options, Synchronous};

/// It has no end of its own.
fn count_for_ever(read: &Read) -> Ran<i64> {
    let sql = "WITH RECURSIVE number (it) AS (SELECT 1 UNION ALL SELECT it + 1 FROM number)
               SELECT count(*) FROM number";
    read.connection.query_one(sql, [], |row| row.get(0))
}

/// One thread that reads, a read on it that does not end, and how that one fared; then one more.
async fn check(patience: Duration, read: impl AsyncFnOnce(&Readers)) {
    let directory = tempfile::tempdir().unwrap();
    let synchronous = Synchronous::Off;
    let options = Options { synchronous, readers: 1, ..Options::default() };
    let _writer = Writer::start(directory.path(), &options).unwrap();
    let mut readers = Readers::start(directory.path(), &options, patience).unwrap();
    read(&readers).await;
    readers.patience = READ_MAX;
    assert_eq!(readers.call(Read::ready_queues).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_given_up() {
    check(Duration::from_millis(50), async |readers| {
        let answer = readers.call(count_for_ever).await;
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    })
    .await;
}

#[tokio::test]
async fn a_read_whose_caller_has_gone_is_given_up() {
    check(READ_MAX, async |readers| {
        assert!(readers.call(count_for_ever).now_or_never().is_none());
        let (began, begins) = std::sync::mpsc::channel();
        let count = move |read: &Read| {
            began.send(()).unwrap();
            count_for_ever(read)
        };
        let mut call = Box::pin(readers.call(count));
        assert!(call.as_mut().now_or_never().is_none());
        begins.recv().unwrap();
    })
    .await;
}
