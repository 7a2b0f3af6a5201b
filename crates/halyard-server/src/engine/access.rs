//! Looks who may call: other servers change the keys of a shared store, and a client that hangs up
//! after its change was kept leaves it unseen here.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// One look.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    engine.keyring.load(&*engine.store).await?;
    Ok(Left::Nothing)
}
