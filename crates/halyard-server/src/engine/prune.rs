//! Removes what has been kept long enough.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// Rows of one step: a few milliseconds of the writer's time.
const BATCH: usize = 200;

/// One step.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    Ok(Left::after(engine.store.prune(BATCH, engine.retention).await?, BATCH))
}
