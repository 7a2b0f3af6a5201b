//! Several servers on one PostgreSQL.
//!
//! | file | |
//! |---|---|
//! | `claims` | what one server makes another one's worker gets, with hints and without |
//! | `keys` | one key, or one request, through several servers at once |
//! | `loops` | every server promotes, reaps and prunes, and nothing is done twice |
//! | `losses` | a server that dies in the middle of its work; outages of one and of all |
//! | `starts` | ten servers that start at once |
//! | `lists` | pages while others write |
//!
//! Needs `scripts/services run --postgres`; one test has a PostgreSQL of its own. Absent on
//! purpose: many kills under load, which `tests/kill` does, and failures of PostgreSQL.

#[path = "../cases/acting.rs"]
#[expect(dead_code, reason = "the cases use all of it")]
mod acting;
mod claims;
mod keys;
mod lists;
mod loops;
mod losses;
mod starts;

use halyard_tests::postgres::{Database, Url, tables_are_sound, value};
use halyard_tests::server::{Server, Setup};
use halyard_tests::wire::Client;

/// Servers on a database of their own.
struct Many {
    servers: Vec<Server>,
    database: Database,
}

impl Many {
    fn of(count: usize) -> Self {
        Self::with(count, |setup| setup)
    }

    fn with(count: usize, more: impl Fn(Setup) -> Setup) -> Self {
        let database = Database::new();
        let start = |_| more(on(&database.url())).start();
        Self { servers: (0..count).map(start).collect(), database }
    }

    /// A client of one of them; numbers go round.
    fn client(&self, number: usize) -> Client {
        self.servers[number % self.servers.len()].client()
    }

    /// One number from the tables.
    fn number(&self, statement: &str) -> usize {
        value(&self.database.url(), statement).parse().expect("a number")
    }

    /// Ends the servers in order; what they leave must agree with itself.
    fn end(mut self) {
        for server in &mut self.servers {
            assert!(server.stop().success());
        }
        tables_are_sound(&self.database.url());
    }
}

fn on(url: &Url) -> Setup {
    Setup::new().env("HALYARD_DATABASE_URL", &url.to_string())
}
