//! Writes when keys were used, and removes lines of the audit log that are old enough.

use halyard_store::Answer;
use halyard_store::access::AuditKept;

use super::Engine;
use super::loops::Left;

/// Lines of one step.
const BATCH: usize = 500;

/// One step.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    let used = engine.keyring.used();
    if !used.is_empty() {
        engine.store.use_api_keys(used).await?;
        engine.keyring.load(&*engine.store).await?;
    }
    Ok(Left::after(engine.store.prune_audit(BATCH, AuditKept::DEFAULT).await?, BATCH))
}
