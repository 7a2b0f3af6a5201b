//! PostgreSQL as the other tests need it, tried before anything is tried on it: servers that are
//! stopped, killed and frozen, a standby, databases of a test's own, and the proxy that cuts.
//!
//! | file | |
//! |---|---|
//! | `servers` | a server of the test's own, and its standby |
//! | `shared` | the servers of `scripts/services`: versions, TLS, pgbouncer |
//! | `proxy` | refusing, holding, cutting at bytes |
//! | `commits` | cutting around a COMMIT |
//!
//! Needs `scripts/services run --postgres --postgres18 --pgbouncer`. Absent on purpose: Halyard
//! itself, which has its own tests on these.

mod commits;
mod proxy;
mod servers;
mod shared;

use halyard_tests::postgres::Url;
use tokio::runtime::{self, Runtime};
use tokio_postgres::{Client, Error, NoTls};

/// Connects as a program does; the connection is driven until the client is dropped.
async fn connect(url: &Url) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(&url.to_string(), NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn runtime() -> Runtime {
    runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
