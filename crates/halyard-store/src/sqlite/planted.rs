//! Bugs that tests plant in this store and that take more than a word beside the sound code. Each
//! is asked for by `if planted(Bug::…)`, which is `if false` in a release.

use std::cell::Cell;

use halyard_core::chance::Seed;
use halyard_core::planted::{Bug, planted};

use super::transaction::Tx;
use super::writer::{Call, Ran};
use crate::StoreError;

/// Runs a group, answers it, and only then commits it.
pub(super) fn answer_first(tx: &mut Tx<'_>, mut group: Vec<Box<dyn Call>>) {
    let run = |tx: &mut Tx<'_>, group: &mut [Box<dyn Call>]| -> Ran<()> {
        tx.begin()?;
        for call in group {
            tx.enter()?;
            call.run(tx)?;
        }
        Ok(())
    };
    let ran = run(tx, &mut group);
    let error = ran.as_ref().err().map(|error| StoreError::Unavailable(error.to_string()));
    group.into_iter().for_each(|call| call.answer(error.clone().map_or(Ok(()), Err)));
    match ran.and_then(|()| tx.commit()) {
        Ok(()) => tx.publish(),
        Err(_) => tx.roll_back(),
    }
}

/// The chance of a claim: its own or, planted, one that is counted from when the store was opened.
pub(super) fn seed(own: Seed) -> Seed {
    thread_local!(static CLAIMS: Cell<u8> = const { Cell::new(0) });
    if !planted(Bug::TokenReusedAfterRestart) {
        return own;
    }
    // The writer's thread is as old as the open store.
    CLAIMS.set(CLAIMS.get().wrapping_add(1));
    Seed([CLAIMS.get(); 32])
}
