//! The power goes: what was acknowledged must be there when it comes back.
//!
//! A killed process leaves the kernel's page cache behind, so killing can never show a missing
//! sync. These tests open SQLite through a VFS of their own ([`vfs`]) that knows what was synced,
//! cut the power at a random write, keep a random legal part of what was not synced ([`disk`]),
//! and open the rest again.
//!
//! - [`plain`]: bare SQLite, which proves the instrument: WAL with `synchronous=FULL` loses
//!   nothing, `NORMAL` must lose something.
//! - [`store`]: Halyard's own store, under a load of six callers, with one cut in each life.
//! - [`verbs`]: each of its verbs, cut at any of its steps: it happened wholly or not at all.
//!
//! `HALYARD_CUTS` sets how often the store's power is cut (150).

mod disk;
mod plain;
mod store;
mod verbs;
mod vfs;

/// A seed for this run: `HALYARD_SEED`, or one by chance. It is printed, so that a failure can be
/// repeated.
fn seed() -> u64 {
    let given = std::env::var("HALYARD_SEED").ok().and_then(|text| text.parse().ok());
    let seed = given.unwrap_or_else(rand::random);
    println!("HALYARD_SEED={seed}");
    seed
}
