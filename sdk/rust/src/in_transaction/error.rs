//! What went wrong in the caller's database.

use std::error::Error as StdError;
use std::sync::Arc;

/// The caller's database failed, in a way that is not about jobs: the connection broke, the
/// transaction cannot be serialized, a right is missing. The library's own error is the source.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DatabaseError {
    sqlstate: Option<String>,
    message: String,
    detail: Option<String>,
    #[source]
    cause: Arc<dyn StdError + Send + Sync>,
}

impl DatabaseError {
    /// An error without an answer of PostgreSQL, such as that of a connection that broke.
    pub fn new(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let cause: Arc<dyn StdError + Send + Sync> = Arc::from(cause.into());
        Self { sqlstate: None, message: cause.to_string(), detail: None, cause }
    }

    /// An error that PostgreSQL answered, with its code, its message and its `DETAIL`, which say
    /// what a refusal means.
    pub fn answered(
        cause: impl Into<Box<dyn StdError + Send + Sync>>,
        sqlstate: impl Into<String>,
        message: impl Into<String>,
        detail: Option<&str>,
    ) -> Self {
        Self {
            sqlstate: Some(sqlstate.into()),
            message: message.into(),
            detail: detail.map(str::to_owned),
            ..Self::new(cause)
        }
    }

    /// The SQLSTATE, such as `40001`, when PostgreSQL answered.
    pub fn sqlstate(&self) -> Option<&str> {
        self.sqlstate.as_deref()
    }

    /// PostgreSQL's message, or that of the library.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}
