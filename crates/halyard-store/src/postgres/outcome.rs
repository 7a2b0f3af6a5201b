//! What became of a commit whose answer was lost, or came with a warning.
//!
//! The database knows a transaction by its number. That is an answer only from the server that ran
//! it, and as long as that has not been started anew: after a failover the same number may be
//! another transaction's. And where commits wait for a standby, "committed" may be true of the
//! primary alone, when the wait was cut short. What is committed after it, and did wait, proves
//! that the standby has both.

use std::time::Duration;

use tokio_postgres::Row;

use super::connect::Object;
use super::lanes::Shared;
use super::loaded::Hands;
use super::rows::Columns;
use super::{Ran, Trouble};
use crate::clock::pause;

/// How often, and how long apart, it is asked, and how long one answer may take.
const TRIES: usize = 10;
const APART: Duration = Duration::from_millis(500);
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Something in the log of changes, which a commit waits for as it does for a job.
const PROOF: &str = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL synchronous_commit = on; \
                     SELECT pg_logical_emit_message(true, 'halyard', '')";

/// What a transaction is known by afterwards.
pub(super) struct TransactionId {
    number: String,
    life: i64,
}

impl TransactionId {
    /// From a row of `transaction_id.sql`; `None` for a transaction that has written nothing.
    pub(super) fn of(row: &Row) -> Ran<Option<Self>> {
        let mut next = Columns::from(row, 0);
        let (number, life): (Option<String>, i64) = (next.next()?, next.next()?);
        Ok(number.map(|number| Self { number, life }))
    }
}

/// `Ok` when it is committed for good, [`Trouble::ChangedMeanwhile`] when it is rolled back.
///
/// # Errors
/// [`Trouble::OutcomeUnknown`] when nobody can tell.
pub(super) async fn outcome(shared: &Shared, id: &TransactionId) -> Ran<()> {
    for _ in 0..TRIES {
        if let Ok(connection) = shared.pool.get().await {
            let asked = tokio::time::timeout(ANSWER_MAX, ask(shared, &connection, id)).await;
            match asked {
                Ok(Ok(Some(true))) => return Ok(()),
                Ok(Ok(Some(false))) => return Err(Trouble::ChangedMeanwhile),
                Ok(Err(Trouble::OutcomeUnknown)) => break,
                Ok(Ok(None)) => {}
                // Whatever it is in the middle of, nobody gets it after this. All that it could
                // still commit is the proof.
                Ok(Err(_)) => shared.pool.stop(connection),
                Err(_) => {
                    shared.pool.stop(connection);
                    break;
                }
            }
        }
        pause(APART).await;
    }
    Err(Trouble::OutcomeUnknown)
}

/// Whether it is committed; `None` while it runs.
async fn ask(shared: &Shared, connection: &Object, id: &TransactionId) -> Ran<Option<bool>> {
    let hands = Hands::of(connection, &shared.sql);
    let values: [super::statements::Parameter<'_>; 2] = [&id.number, &id.life];
    let rows = hands.query(&shared.sql.transaction_status, &values).await?;
    let row = rows.first().ok_or(Trouble::OutcomeUnknown)?;
    let mut next = Columns::from(row, 0);
    let status: Option<String> = next.next()?;
    let (is_same_server, waits_for_standby): (bool, bool) = (next.next()?, next.next()?);
    match status.as_deref() {
        _ if !is_same_server => Err(Trouble::OutcomeUnknown),
        Some("committed") if waits_for_standby => {
            connection.batch_execute(PROOF).await?;
            connection.commit().await?;
            Ok(Some(true))
        }
        Some("committed") => Ok(Some(true)),
        Some("aborted") => Ok(Some(false)),
        Some(_) => Ok(None),
        None => Err(Trouble::OutcomeUnknown),
    }
}
