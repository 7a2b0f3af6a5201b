//! A server on a store that another version of it has written, and beside one.
//!
//! `kept/` holds what servers of earlier schemas left: a dump of a whole store that a real one of
//! its time filled with jobs in every state ([`story`]). A store is made of it again, as if it had
//! been written just now ([`kept`]), and today's server must lose nothing of it and go on.
//!
//! | file | |
//! |---|---|
//! | `older` | stores of each earlier schema, in PostgreSQL and in a directory |
//! | `newer` | a schema that became newer than the server: one that runs, and one that starts |
//! | `beside` | an older program beside this one, when `HALYARD_OLDER_BIN` names it |
//!
//! # When a schema changes
//!
//! Build the program of the last commit before the change, and let it write its stores down; then
//! name the new files in `kept.rs`:
//!
//! ```sh
//! HALYARD_BIN=… scripts/services run --postgres cargo test -p halyard-tests --test upgrades -- \
//!     --ignored write_down
//! ```
//!
//! Needs `scripts/services run --postgres`.

#[path = "../cases/acting.rs"]
#[expect(dead_code, reason = "the cases use all of it")]
mod acting;
mod beside;
mod kept;
mod newer;
mod older;
mod story;

use halyard_tests::postgres::Url;
use halyard_tests::server::Setup;

fn on(url: &Url) -> Setup {
    Setup::new().env("HALYARD_DATABASE_URL", &url.to_string())
}
