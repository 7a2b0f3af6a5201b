//! What PostgreSQL and the way to it do to a server, and that no promise is broken by it.
//!
//! In each test clients do all that a producer, a worker and an operator do ([`load`]) at one
//! server, while something goes wrong between it and its database. Then the trouble ends, all work
//! is done, and the checker compares what the clients were told with what is there ([`trial`]): no
//! acknowledged job, key, checkpoint or result is lost, nothing is doubled, the server's process
//! is the one that was started, and it answers as before.
//!
//! [`load`]: halyard_tests::load
//!
//! | file | |
//! |---|---|
//! | `commits` | connections cut at any byte, and between a COMMIT and its answer |
//! | `functions` | the same around the COMMIT of a caller's own transaction |
//! | `sessions` | sessions ended and statements cancelled, restarts, no connection left |
//! | `settings` | what an administrator sets for the role |
//! | `locks` | a stranger's lock on a job's row |
//! | `frozen` | a database that stands still, or waits for a standby that does |
//! | `replicas` | failover, and a commit that did not wait for its standby |
//! | `disk` | a full disk |
//! | `doctor` | what `halyard doctor` says of it |
//!
//! Absent on purpose: servers that die themselves, which is another test.

mod commits;
mod disk;
mod doctor;
mod frozen;
mod functions;
mod locks;
mod replicas;
mod sessions;
mod settings;
mod trial;
