//! A database of a test's own on a server that all tests share.

use super::{Url, query};

const SHARED: &str = "HALYARD_TEST_POSTGRES_URL";
const PGBOUNCER: &str = "HALYARD_TEST_PGBOUNCER_URL";
const VERSIONS: [u32; 5] = [14, 15, 16, 17, 18];

/// An empty database, which goes with its owner, and with it whoever is still connected.
#[derive(Debug)]
pub struct Database {
    server: Url,
    name: String,
}

impl Database {
    /// Makes one on the shared server.
    ///
    /// # Panics
    ///
    /// When there is none: the message says how to have one.
    #[expect(clippy::new_without_default, reason = "it reaches out to a server")]
    pub fn new() -> Self {
        Self::on(&variable(SHARED, "--postgres"))
    }

    /// Makes one on the server of this database.
    ///
    /// # Panics
    ///
    /// When the server does not let it.
    pub fn on(server: &Url) -> Self {
        let name = format!("halyard_test_{:032x}", rand::random::<u128>());
        let made = query(server, &format!("CREATE DATABASE {name}"));
        made.unwrap_or_else(|error| panic!("a database on {}: {error:?}", server.address));
        Self { server: server.clone(), name }
    }

    /// Its address.
    pub fn url(&self) -> Url {
        self.server.database(&self.name)
    }

    /// Its address behind pgbouncer, in transaction mode: nothing that belongs to a session
    /// outlives a transaction there.
    ///
    /// # Panics
    ///
    /// When there is no pgbouncer; the message says how to have one.
    pub fn pgbouncer(&self) -> Url {
        variable(PGBOUNCER, "--postgres --pgbouncer").database(&self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = query(&self.server, &format!("DROP DATABASE {} WITH (FORCE)", self.name));
        if let Err(error) = dropped {
            eprintln!("the database {} stays: {error}", self.name);
        }
    }
}

/// Every shared server that is there, with its major version where its variable tells it.
pub fn shared() -> Vec<(Option<u32>, Url)> {
    let versions =
        VERSIONS.map(|major| (Some(major), format!("HALYARD_TEST_POSTGRES_{major}_URL")));
    let all = [(None, SHARED.to_owned())].into_iter().chain(versions);
    let there = all.map(|(major, name)| Some((major, Url::read(&std::env::var(name).ok()?))));
    there.flatten().collect()
}

fn variable(name: &str, service: &str) -> Url {
    match std::env::var(name) {
        Ok(url) => Url::read(&url),
        Err(_) => panic!("{name} is not set: run this under `scripts/services run {service}`"),
    }
}
