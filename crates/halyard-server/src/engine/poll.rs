//! The base poll under all wake-ups: were every hint lost, each waiting claim and read would still
//! be served within a second. One look at the store serves all waiting claims, another one all
//! waiting reads; neither waits for the other.

use std::collections::HashMap;

use halyard_store::Answer;

use super::Engine;
use super::loops::Left;

/// One look for claims.
///
/// # Errors
/// The store's.
pub async fn tick(engine: &Engine) -> Answer<Left> {
    if engine.hints.claims.waiting() > 0 {
        let ready = engine.store.ready_queues().await?;
        engine.hints.claims.poke(&ready);
    }
    Ok(Left::Nothing)
}

/// One look for reads.
///
/// # Errors
/// The store's.
pub async fn tick_reads(engine: &Engine) -> Answer<Left> {
    let reads = &engine.hints.reads;
    let ids = reads.jobs();
    if !ids.is_empty() {
        let states = engine.store.states(ids.clone()).await?;
        let states: HashMap<_, _> =
            states.into_iter().map(|(id, state, life)| (id, (state, life))).collect();
        for id in ids {
            let (state, life) = states.get(&id).copied().unzip();
            reads.tell(id, state, life.unwrap_or(0));
        }
    }
    Ok(Left::Nothing)
}
