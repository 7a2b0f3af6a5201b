//! The transactions of `tokio_postgres`.

use tokio_postgres::Transaction;
use tokio_postgres::types::{ToSql, Type};

use super::{DatabaseError, PostgresTransaction};

impl PostgresTransaction for &Transaction<'_> {
    async fn text(
        &mut self,
        statement: &str,
        parameters: &[&str],
    ) -> Result<String, DatabaseError> {
        let typed: Vec<(&(dyn ToSql + Sync), Type)> = parameters
            .iter()
            .map(|parameter| (parameter as &(dyn ToSql + Sync), Type::TEXT))
            .collect();
        let row = self.query_typed_one(statement, &typed).await?;
        Ok(row.try_get(0)?)
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        let answered = error.as_db_error().map(|answer| {
            let detail = answer.detail().map(str::to_owned);
            (answer.code().code().to_owned(), answer.message().to_owned(), detail)
        });
        match answered {
            Some((state, message, detail)) => {
                Self::answered(error, state, message, detail.as_deref())
            }
            None => Self::new(error),
        }
    }
}
