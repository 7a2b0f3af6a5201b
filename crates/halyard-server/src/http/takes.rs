//! How much of a body a call takes.

use halyard_core::limits;

/// Of a body that is refused unread, so much is read all the same, so that a client which writes
/// first and reads later gets its answer.
pub const DISCARDED_BYTES_MAX: usize = 2 * limits::BATCH_BODY_BYTES_MAX;

/// What a route does with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Ignores it.
    Nothing,
    /// JSON of at most so many bytes, or none.
    Optional(usize),
    /// JSON of at most so many bytes.
    Json(usize),
}

impl Takes {
    /// A call that carries one job.
    pub const ONE: Self = Self::Json(limits::BODY_BYTES_MAX);
    /// A call that carries many.
    pub const MANY: Self = Self::Json(limits::BATCH_BODY_BYTES_MAX);
    /// A call whose members may all be left out.
    pub const MAYBE: Self = Self::Optional(limits::BODY_BYTES_MAX);

    /// The longest body.
    pub fn bytes_max(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Optional(max) | Self::Json(max) => max,
        }
    }
}
