//! Where the server's randomness comes from: the operating system's generator, by way of a
//! cryptographic one in each thread. Core and store are handed what is drawn here.

use halyard_core::TimeMs;
use halyard_core::chance::Seed;
use halyard_core::id::JobId;

/// 256 random bits for one call.
#[must_use]
pub fn seed() -> Seed {
    Seed(rand::random())
}

/// A new job's id.
#[must_use]
pub fn job_id(now: TimeMs) -> JobId {
    JobId::make(now, rand::random())
}
