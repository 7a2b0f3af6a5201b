//! The base poll under all wake-ups: were every hint lost, each waiting claim and read would still
//! be served within a second. One look at the store serves all waiting claims.

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// One look.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    if engine.hints.claims.waiting() > 0 {
        let ready = engine.store.ready_queues().await?;
        engine.hints.claims.poke(&ready);
    }
    for id in engine.hints.reads.jobs() {
        let job = engine.store.get(id).await?.map(|detail| detail.view.job);
        let life = job.as_ref().map_or(0, |job| job.life);
        engine.hints.reads.tell(id, job.map(|job| job.state), life);
    }
    Ok(Left::Nothing)
}
