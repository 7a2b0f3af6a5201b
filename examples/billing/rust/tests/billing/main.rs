//! The billing example, run: on a real PostgreSQL, with the demo's payment provider.
//!
//! | file | |
//! |---|---|
//! | `charge_subscription` | the guide's test: charging twice charges once |
//! | `proof` | both handlers, in every way in which a job can be run more than once |
//! | `story` | the programs, and workers that are killed at the worst moments |
//! | `world` | the database and the provider of one test |
//! | `process` | programs that are started, stopped and killed |
//!
//! `scripts/services run cargo test -p halyard-example-billing` runs it. The server's binary is the
//! one that `HALYARD_BIN` names, or that `cargo build -p halyard-server` made.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

mod charge_subscription;
mod process;
mod proof;
mod story;
mod world;
