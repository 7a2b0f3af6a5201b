//! Ends the starts whose lease has lapsed.

use halyard_store::Answer;

use super::loops::Left;
use super::{Engine, chance};

/// Starts of one step.
const BATCH: usize = 200;

/// One step.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    Ok(Left::after(engine.store.reap(BATCH, chance::seed()).await?, BATCH))
}
