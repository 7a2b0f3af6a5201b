//! PostgreSQL for tests: servers of a test's own, databases on a shared one, and a proxy that cuts.
//!
//! - [`Database`]: a new, empty database on the server that `scripts/services run --postgres`
//!   started, for tests that need no more than a place of their own. It goes with the test.
//! - [`Postgres`]: a whole server of the test's own, to be set up, stopped, killed, frozen, started
//!   again, copied into a standby and promoted, or put on a disk that is full. It takes about two
//!   seconds to make.
//! - [`Proxy`]: stands between a client and PostgreSQL and does what networks do: refuses, holds,
//!   cuts at a byte, and cuts around a COMMIT.
//! - [`query`] and [`value`]: one statement over a connection of its own, for looking at the truth
//!   beside whatever is under test.
//! - [`tables_are_sound`]: whether Halyard's tables agree with each other at the end.
//!
//! | variable | |
//! |---|---|
//! | `HALYARD_TEST_POSTGRES_URL` | the shared server |
//! | `HALYARD_TEST_POSTGRES_14_URL` … `_18_URL` | shared servers of these versions |
//! | `HALYARD_TEST_PGBOUNCER_URL` | pgbouncer in front of the first shared server |
//! | `HALYARD_TEST_POSTGRES_CA` | the authority that signed the certificates of all these |
//! | `HALYARD_TEST_POSTGRES_VERSION` | the version of a [`Postgres`]; else the system's newest |
//!
//! Everything here blocks, and may be called from a test with or without a runtime.
//!
//! Absent on purpose: TLS on a [`Postgres`] (the shared servers have it), and failover that is
//! decided by a program: a test stops one server and promotes the other itself.

mod database;
mod guard;
mod programs;
mod proxy;
mod server;
mod session;
mod standby;
mod tables;
mod url;

pub use database::{Database, shared};
pub use proxy::{Moment, Proxy};
pub use server::{Postgres, Setup, Stop};
pub use session::{query, value};
pub use tables::tables_are_sound;
pub use url::Url;
