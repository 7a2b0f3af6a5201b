//! Looks who may call, on a store whose keys other servers change too.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// One look.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    if engine.store.is_shared() {
        engine.keyring.load(&*engine.store).await?;
    }
    Ok(Left::Nothing)
}
