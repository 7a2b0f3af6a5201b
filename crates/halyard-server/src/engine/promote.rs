//! Makes due jobs claimable.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// Jobs of one step: a million due in one second become claimable without holding up claims.
const BATCH: usize = 500;

/// One step.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    Ok(Left::after(engine.store.promote(BATCH).await?, BATCH))
}
