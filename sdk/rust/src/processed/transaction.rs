//! Record and business rows in one transaction: exactly once, for what is in that database.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_postgres::{Client, Transaction};

use crate::json;
use crate::worker::{HandlerError, HandlerResult};

use super::StoreError;
use super::once::{Begun, Once, read};
use super::postgres::PostgresStore;

/// Mark the transaction that the work is given, and take the mark away.
const MARK: &str = "savepoint halyard_processed_work";
const UNMARK: &str = "release savepoint halyard_processed_work";

impl Once<'_, PostgresStore> {
    /// Does the work in a transaction on `client`, which also holds the record: both are there
    /// afterwards or neither is, however often the work is begun and wherever it is killed. A
    /// second run waits for the first one's commit and gets its response.
    ///
    /// Only what the work writes through the given transaction is exactly once. What it does
    /// elsewhere, a charge or an e-mail, still needs a key of its own.
    ///
    /// # Errors
    ///
    /// Those of [`Once::run`]; after any of them nothing was written. An error of the commit
    /// itself leaves open whether it was; the next run finds out. [`StoreError`] when the work has
    /// ended the transaction itself: what it has committed by that stays.
    pub async fn transaction<T, E, F>(self, client: &mut Client, work: F) -> HandlerResult<T>
    where
        T: Serialize + DeserializeOwned,
        E: Into<HandlerError>,
        F: AsyncFnOnce(&Transaction<'_>) -> Result<T, E>,
    {
        let claim = self.to_claim()?;
        let statements = &self.store.statements;
        // Dropped on every way out but the last, it is rolled back.
        let transaction = client.transaction().await.map_err(StoreError::because)?;
        let begun = read(&self.key, statements.claim(&transaction, &claim).await?)?;
        let before = match begun {
            Begun::Before(response) => return Ok(json::read("response", Some(&response))?),
            Begun::Now { unknown: true } => self.answer_for_unknown().await?,
            Begun::Now { unknown: false } => None,
        };
        let response = match before {
            Some(response) => response,
            None => {
                transaction.batch_execute(MARK).await.map_err(StoreError::because)?;
                let value = work(&transaction).await.map_err(Into::into)?;
                // The mark is gone with its transaction, and is in no other.
                transaction.batch_execute(UNMARK).await.map_err(|error| {
                    let what = format!("the work of `{}` ended or broke its transaction", self.key);
                    StoreError { message: what, cause: Some(error.into()) }
                })?;
                json::write("response", &value)?
            }
        };
        let completed =
            statements.complete(&transaction, &self.key, &claim.owner, &response, self.expires_in);
        if !completed.await? {
            let message = format!("the work of `{}` took its record away", self.key);
            return Err(StoreError::new(message).into());
        }
        transaction.commit().await.map_err(StoreError::because)?;
        Ok(json::read("response", Some(&response))?)
    }
}
