//! Says every second that a server is there, so that a later start can tell an outage.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;
use super::refusals::STORAGE;

/// One stamp.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    engine.store.stamp().await?;
    STORAGE.works();
    Ok(Left::Nothing)
}
