//! The connections of one store: as many as are allowed, or as the database gives.
//!
//! A database that is asked for more than it gives is left alone for a moment; calls use in turn
//! what there is. One that does not answer is not asked by everybody at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, PoolError, TimeoutType};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connect::{About, OpenError, Options};
use super::connection::{Maker, RECYCLE_MAX, Unmade};
use super::url::Target;
use super::{Ran, Trouble, told};
use crate::clock::pause;

/// How long a call waits for a connection before it is told that the store is overloaded.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How long making a connection may take, over all addresses.
const CREATE_MAX: Duration = Duration::from_secs(15);
/// How long a call waits for a connection in all: those that rest are looked at first.
pub const GET_MAX: Duration = Duration::from_secs(15);
/// Where the database gives no further connection, a free one is looked for so often.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const LOOKS_MAX: usize = 500;
/// That it gives fewer than are allowed is said once in so long.
const SAID_FOR: Duration = Duration::from_secs(600);

/// A connection on its own, with what must be polled so that it works.
pub(super) type Lone =
    (Client, Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

/// A connection of the pool. It goes back when it is dropped.
pub(super) type Object = managed::Object<Maker>;

/// The connections of one store.
#[derive(Clone)]
pub(super) struct Pool {
    pool: managed::Pool<Maker>,
    config: Config,
    tls: MakeRustlsConnect,
    place: String,
    has_said: Arc<AtomicBool>,
}

impl Pool {
    /// Makes the pool and asks the database whether it can keep jobs.
    pub(super) async fn open(options: &Options) -> Result<Self, OpenError> {
        let target = Target::parse(&options.url)?;
        let tls = target.tls.connector()?;
        let maker = Maker::of(target.config.clone(), tls.clone());
        let pool = managed::Pool::builder(maker)
            .max_size(options.connections.max(2))
            .wait_timeout(Some(WAIT_MAX))
            .create_timeout(Some(CREATE_MAX))
            .recycle_timeout(Some(RECYCLE_MAX))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| OpenError::Tls(error.to_string()))?;
        let (config, place) = (target.config.clone(), target.place());
        let pool = Self { pool, config, tls, place, has_said: Arc::default() };
        pool.examine().await?;
        Ok(pool)
    }

    /// A connection.
    pub(super) async fn get(&self) -> Ran<Object> {
        let got = tokio::time::timeout(GET_MAX, self.look()).await;
        got.unwrap_or_else(|_| Err(silent(GET_MAX)))
    }

    async fn look(&self) -> Ran<Object> {
        for _ in 0..LOOKS_MAX {
            match self.pool.get().await {
                Ok(connection) => return Ok(connection),
                Err(PoolError::Backend(Unmade::Full(told))) => {
                    let used = self.pool.status().size;
                    if used == 0 {
                        return Err(Trouble::Unconnected(told));
                    }
                    self.say_once(used, &told);
                    pause(LOOK_EVERY).await;
                }
                Err(PoolError::Timeout(TimeoutType::Wait)) => break,
                Err(PoolError::Backend(Unmade::Failed(error))) => {
                    return Err(Trouble::Unconnected(told(&error)));
                }
                Err(error) => return Err(Trouble::Unconnected(told(&error))),
            }
        }
        Err(Trouble::Overloaded)
    }

    fn say_once(&self, used: usize, told: &str) {
        if self.has_said.swap(true, Ordering::Relaxed) {
            return;
        }
        let allowed = self.pool.status().max_size;
        tracing::warn!(
            used,
            allowed,
            told,
            "the database gives fewer connections than are allowed here"
        );
        let has_said = Arc::clone(&self.has_said);
        tokio::spawn(async move {
            pause(SAID_FOR).await;
            has_said.store(false, Ordering::Relaxed);
        });
    }

    /// One connection was lost: those that rest may be, too, and nobody has noticed.
    pub(super) fn distrust(&self) {
        self.pool.retain(|_, _| false);
    }

    /// Ends what a connection does, and the connection.
    pub(super) fn stop(&self, connection: Object) {
        let (cancel, tls) = (connection.cancel_token(), self.tls.clone());
        drop(Object::take(connection));
        tokio::spawn(async move {
            // What does not come through is ended by its end, later.
            let _ = tokio::time::timeout(RECYCLE_MAX, cancel.cancel_query(tls)).await;
        });
    }

    /// Where the database is, without password.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// A connection beside the pool, for who listens.
    pub(super) async fn lone(&self) -> Ran<Lone> {
        let made = tokio::time::timeout(CREATE_MAX, self.config.connect(self.tls.clone())).await;
        Ok(made.map_err(|_| silent(CREATE_MAX))??)
    }

    /// What went wrong while a store was opened.
    pub(super) fn failed(&self, trouble: &Trouble) -> OpenError {
        let (place, cause) = (self.place.clone(), trouble.to_string());
        let Trouble::Database(error) = trouble else {
            return OpenError::Database { place, cause };
        };
        let Some(code) = error.code() else { return OpenError::Unreachable { place, cause } };
        let refusals = [
            SqlState::INVALID_PASSWORD,
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            SqlState::INVALID_CATALOG_NAME,
            SqlState::INSUFFICIENT_PRIVILEGE,
            SqlState::TOO_MANY_CONNECTIONS,
        ];
        if refusals.contains(code) {
            OpenError::Refused { place, cause }
        } else {
            OpenError::Database { place, cause }
        }
    }

    async fn examine(&self) -> Result<(), OpenError> {
        // Beside the pool, whose errors say less.
        let (client, connection) = self.lone().await.map_err(|trouble| self.failed(&trouble))?;
        let speaking = tokio::spawn(connection);
        let asked = client.query_typed_one(include_str!("sql/about.sql"), &[]);
        let row = tokio::time::timeout(CREATE_MAX, asked).await;
        let row = row.map_err(|_| self.failed(&silent(CREATE_MAX)))?;
        drop(client);
        let row = row.map_err(|error| self.failed(&error.into()))?;
        drop(speaking.await);
        let text = |at: usize| row.try_get(at).map_err(|error| self.failed(&error.into()));
        About {
            number: text(0)?,
            version: text(1)?,
            encoding: text(2)?,
            commits: text(3)?,
            recovers: text(4)?,
            read_only: text(5)?,
        }
        .judge(&self.place)
    }
}

fn silent(time: Duration) -> Trouble {
    Trouble::Unconnected(format!("it does not answer within {} s", time.as_secs()))
}
