//! What went wrong in other job queues, tried on this one.
//!
//! Each test is a case from a public bug report, rewritten as steps for one server over HTTP; its
//! number and title stand at the test. Rounds are cut down to what runs in seconds. Every test has
//! a server of its own, and several wait for leases to lapse (5 s at the least), so they are meant
//! to run side by side: `cargo test --test cases -- --test-threads 12`.
//!
//! They run a second time on PostgreSQL behind pgbouncer (`HALYARD_TEST_STORE=pgbouncer`), without
//! those that move the server's clock or fill its disk. What only several servers on one database
//! can show is in `tests/postgres_many`, what a failing database does in `tests/postgres_failures`.
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
