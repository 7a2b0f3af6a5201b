//! One connection of the pool, with what the database says beside its answers.
//!
//! A commit that is waiting for a standby can be cut short: the database then says that it
//! succeeded, and in a warning beside that answer that it may be on one machine alone. The driver
//! hands such warnings to whoever drives the connection, in the order of the wire, so a warning of
//! a commit is known before its answer is.

use std::future::poll_fn;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::{AsyncMessage, Client, Config, Error};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connect::Lone;
use super::names::Names;
use super::{Ran, Trouble, told};
use crate::clock::pause;

/// How long an idle connection may take to answer before another one is made.
pub(super) const RECYCLE_MAX: Duration = Duration::from_secs(2);
/// A connection is closed after this long: a balancer's choice and memory are not kept for ever.
const LIFE_MAX: Duration = Duration::from_secs(30 * 60);
/// A connection that rested longer is asked whether it still is one before it is used.
const TRUSTED_FOR: Duration = Duration::from_secs(2);
/// How many connections are made at the same time.
const MAKING_MAX: usize = 2;
/// So long a database is not asked again that gives no further connection.
const FULL_FOR: Duration = Duration::from_secs(1);

/// A connection that is driven, until it is dropped.
pub(super) struct Connected {
    client: Client,
    /// What this connection has prepared.
    pub(super) names: Names,
    has_warned: Arc<AtomicBool>,
    driving: JoinHandle<()>,
}

impl Connected {
    pub(super) fn of((client, mut connection): Lone) -> Self {
        let has_warned = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&has_warned);
        let driving = tokio::spawn(async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    Ok(AsyncMessage::Notice(notice)) => hear(&notice, &heard),
                    Ok(_) => {}
                    Err(error) => {
                        return tracing::debug!(error = told(&error), "a connection broke");
                    }
                }
            }
        });
        Self { client, names: Names::default(), has_warned, driving }
    }

    /// Commits.
    ///
    /// # Errors
    /// [`Trouble::OutcomeUnknown`] when it is committed, and the database warns that this is not
    /// all that was asked for; the database's own error, or that of the connection, otherwise.
    pub(super) async fn commit(&self) -> Ran<()> {
        self.has_warned.store(false, Ordering::SeqCst);
        self.client.batch_execute("COMMIT").await?;
        if self.has_warned.load(Ordering::SeqCst) { Err(Trouble::OutcomeUnknown) } else { Ok(()) }
    }
}

impl Deref for Connected {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Connected {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

/// A warning is told apart by its severity: its text is in any language, and its code says nothing.
fn hear(notice: &DbError, has_warned: &AtomicBool) {
    if notice.parsed_severity() == Some(Severity::Warning) {
        has_warned.store(true, Ordering::SeqCst);
        tracing::warn!(detail = notice.detail(), "the database warns: {}", notice.message());
    } else {
        tracing::debug!("the database notes: {}", notice.message());
    }
}

/// Why no connection was made.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unmade {
    /// The database gives no more for now; what it said.
    #[error("{0}")]
    Full(String),
    /// It cannot be reached, or lets nobody in.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Makes connections for the pool.
pub(super) struct Maker {
    config: Config,
    tls: MakeRustlsConnect,
    /// Who makes one just now: where nobody answers, the others do not add to what waits there.
    making: Semaphore,
    /// What the database said when it gave no more; it is not asked meanwhile.
    full: Arc<Mutex<Option<String>>>,
}

impl Maker {
    pub(super) fn of(config: Config, tls: MakeRustlsConnect) -> Self {
        Self { config, tls, making: Semaphore::new(MAKING_MAX), full: Arc::default() }
    }

    fn full(&self) -> MutexGuard<'_, Option<String>> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a database alone that gives no more connections.
    fn is_full(&self, told: String) -> Unmade {
        *self.full() = Some(told.clone());
        let full = Arc::clone(&self.full);
        tokio::spawn(async move {
            pause(FULL_FOR).await;
            *full.lock().unwrap_or_else(PoisonError::into_inner) = None;
        });
        Unmade::Full(told)
    }
}

impl managed::Manager for Maker {
    type Type = Connected;
    type Error = Unmade;

    async fn create(&self) -> Result<Connected, Unmade> {
        // It is never closed.
        let _turn = self.making.acquire().await;
        if let Some(told) = self.full().clone() {
            return Err(Unmade::Full(told));
        }
        match self.config.connect(self.tls.clone()).await {
            Err(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                Err(self.is_full(told(&error)))
            }
            made => Ok(Connected::of(made?)),
        }
    }

    async fn recycle(&self, known: &mut Connected, metrics: &Metrics) -> RecycleResult<Unmade> {
        if known.is_closed() {
            return Err(RecycleError::message("it is closed"));
        }
        if metrics.age() > LIFE_MAX {
            return Err(RecycleError::message("its life is over"));
        }
        if metrics.last_used() > TRUSTED_FOR {
            tokio::time::timeout(RECYCLE_MAX, known.simple_query(""))
                .await
                .map_err(|_| RecycleError::message("it does not answer"))?
                .map_err(|error| RecycleError::Backend(error.into()))?;
        }
        Ok(())
    }
}
