//! Forgets what this node kept in memory for somebody who is gone.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// One step.
///
/// # Errors
/// None.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    let now = engine.store.now();
    engine.workers.forget(now);
    engine.hints.events.rest(now);
    Ok(Left::Nothing)
}
