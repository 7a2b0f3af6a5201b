//! `GET /version`: what answers here. Needs no key.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The newest version of the API that this crate describes.
pub const API_VERSION: &str = "v1";

/// The server's own name and version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// Always `halyard`.
    pub name: String,
    /// The server's version, such as `0.1.0`.
    pub version: String,
    /// The newest version of the API that it speaks.
    pub api: String,
}
