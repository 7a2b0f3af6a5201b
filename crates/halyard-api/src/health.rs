//! `GET /healthz` and `GET /readyz`. Need no key.
//!
//! `/healthz` is 200 for as long as the process answers; `/readyz` is 503 with a
//! [`Problem`](crate::problem::Problem) while the server is draining or its store is away.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// That all is well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
}
