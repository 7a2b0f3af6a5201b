//! What went wrong in other job queues, tried on this one.
//!
//! Each test is a case from a public bug report, rewritten as steps for one server on SQLite over
//! HTTP; its number and title stand at the test. Rounds are cut down to what runs in seconds.
//! Every test has a server of its own, and several wait for leases to lapse (5 s at the least), so
//! they are meant to run side by side: `cargo test --test cases -- --test-threads 12`.
//!
//! [`acting`] has the calls they share.

mod acting;
mod cancel;
mod checkpoints;
mod claim_and_lease;
mod clock;
mod crash;
mod create_and_keys;
mod disk_full;
mod finish;
mod http_input;
mod http_wire;
mod life_of_a_key;
mod reaper;
mod refusals;
mod refusals_by_state;
mod shutdown;
mod smuggling;
mod storage;
