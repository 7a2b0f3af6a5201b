//! What core promises, as tables: one `check` a rule, one row a case. `lives` then lets chance
//! apply the rules in any order and looks whether the invariants hold.
//!
//! The store's contract asks the same of a whole store; here a rule stands alone.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it did not expect"
)]

mod admission;
mod checkpoint;
mod key;
mod lapse;
mod lease;
mod lives;
mod nouns;
mod operate;
mod outcome;
mod ranges;
mod repeat;
mod words;
