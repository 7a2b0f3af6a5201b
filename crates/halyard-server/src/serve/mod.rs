//! A server from its settings to its end.
//!
//! | file | what |
//! |---|---|
//! | this one | start, drain, stop |
//! | [`logs`] | where its log goes |

pub mod logs;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use halyard_core::job::Name;
use halyard_core::retention::Retention;
use halyard_store::Store;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::access::keyring::Keyring;
use crate::access::secret::KeyHash;
use crate::engine::{Engine, Hints, loops};
use crate::http::access::Door;
use crate::http::patience::Patience;
use crate::http::{App, Rules, listener};

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// An admin's key beside those in the store.
    pub key: Option<KeyHash>,
    /// Further host names that it answers to, in lower case, without ports.
    pub allowed_hosts: Vec<String>,
    /// Refuse every call that changes something.
    pub read_only: bool,
    /// How long a key outlives its job's end when a create does not say.
    pub key_ttl_ms: i64,
    /// How long ended jobs are kept.
    pub retention: Retention,
    /// How long a client is waited for.
    pub patience: Patience,
}

/// Whoever reaches the port could read and change every job.
#[derive(Debug, thiserror::Error)]
#[error("refusing to listen on {listen} without an API key")]
pub struct OpenToAll {
    /// Where it was to listen.
    pub listen: SocketAddr,
}

/// A server that runs. Dropped, it ends at once.
pub struct Running {
    address: SocketAddr,
    engine: Arc<Engine>,
    read_only: bool,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    _loops: JoinSet<()>,
}

/// Answers that are under way at the end have so long to be written.
const GRACE: Duration = Duration::from_secs(2);

/// How often a draining server looks whether a lease is live.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Starts a server on a store that was opened with the listener of `hints`.
///
/// # Errors
/// The port cannot be had, the store does not answer, or [`OpenToAll`].
pub async fn start(
    settings: Settings,
    store: Arc<dyn Store>,
    hints: Hints,
) -> anyhow::Result<Running> {
    // An outage is made good before any call is answered.
    store.stamp().await.context("the store does not answer")?;
    let keyring = Keyring::new(settings.key, settings.listen.ip());
    keyring.load(&*store).await.context("the store does not answer")?;
    if keyring.is_shut() {
        return Err(OpenToAll { listen: settings.listen }.into());
    }
    let port = listener::bind(settings.listen)
        .with_context(|| format!("cannot listen on {}", settings.listen))?;
    let address = port.local_addr()?;
    let engine = Arc::new(Engine::new(store, hints, keyring, settings.retention));
    let rules = Rules {
        door: Door { listen: address.ip(), allowed_hosts: settings.allowed_hosts },
        read_only: settings.read_only,
        key_ttl_ms: settings.key_ttl_ms,
        patience: settings.patience,
    };
    let app = Arc::new(App::new(Arc::clone(&engine), rules));
    let (stop, stopped) = watch::channel(false);
    let loops = loops::start(&engine);
    let serving = listener::serve(port, app, listener::CONNECTIONS_MAX, stopped, GRACE);
    let serving = tokio::spawn(serving);
    Ok(Running { address, engine, read_only: settings.read_only, stop, serving, _loops: loops })
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The engine, for tests that look behind the API.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Hands out nothing new and answers who waits; ends as soon as no lease is live, at the
    /// latest after `patience`. A read-only server, which takes no report, waits for no lease.
    pub async fn drain(mut self, patience: Duration) {
        let until = Instant::now() + patience;
        self.engine.drain();
        while Instant::now() < until && self.holds_leases().await {
            tokio::time::sleep(LOOK_EVERY.min(until.saturating_duration_since(Instant::now())))
                .await;
        }
        self.stop.send_replace(true);
        if let Err(error) = (&mut self.serving).await {
            tracing::error!(%error, "serving ended badly");
        }
    }

    /// Says whether a worker may still report here. A store that does not answer may hold leases.
    /// On a shared one only workers count that were heard of here: others report elsewhere.
    async fn holds_leases(&self) -> bool {
        if self.read_only {
            return false;
        }
        let Engine { store, workers, .. } = &*self.engine;
        let may_report = |worker: &Name| !store.is_shared() || workers.knows(worker);
        let running = store.running_by_worker().await;
        running.map_or(true, |running| running.iter().any(|(worker, _)| may_report(worker)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
