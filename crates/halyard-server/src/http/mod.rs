//! The HTTP API: one file per endpoint, named as in `halyard-api`.
//!
//! The path of a call: [`listener`] → [`connection`] → [`entry`] (id, route, who may) → [`body`] →
//! the endpoint: read the wire type, [`convert`] it, call the engine or the store, convert the
//! answer back.
//!
//! | file | what |
//! |---|---|
//! | [`routes`] | the one table of all routes, and finding one |
//! | [`access`] | hosts, origins, keys and roles |
//! | [`call`], [`takes`] | a call, and how much of a body it takes |
//! | [`answer`], [`refused`], [`request_id`] | what a call is answered with |
//! | [`api_keys`], [`session`], [`audit`] | who may call, and what operators did |
//! | [`jobs`], [`queues`], [`workers`], [`tasks`], [`keys`] | the endpoints of `/v1` |
//! | [`stats`], [`events`] | more of them |
//! | [`health`], [`version`], [`metrics_page`], [`openapi`], [`dashboard`], [`docs`] | its own |
//! | [`convert`] | the only place where core and wire types meet |
//! | [`json`] | how answers are written |
//! | [`metrics`], [`patience`] | what is counted; how long a client is waited for |
//!
//! Deliberately absent: a web framework between hyper and the table. A call costs one look-up and
//! one allocation before its endpoint runs; what middleware would do is [`entry`], in one pass.
//!
//! To add a call: its file here and in `halyard-api`, a row in [`routes`], its function among the
//! paths of [`openapi`].

pub mod access;
pub mod answer;
pub mod api_keys;
pub mod audit;
pub mod body;
pub mod call;
pub mod connection;
pub mod convert;
pub mod dashboard;
pub mod docs;
pub mod entry;
pub mod events;
pub mod health;
pub mod jobs;
pub mod json;
pub mod keys;
pub mod listener;
pub mod metrics;
pub mod metrics_page;
pub mod openapi;
pub mod patience;
pub mod queues;
pub mod refused;
pub mod request_id;
pub mod routes;
pub mod session;
pub mod stats;
pub mod takes;
pub mod tasks;
pub mod version;
pub mod workers;

use std::sync::Arc;

use self::access::Door;
use self::body::Room;
use self::metrics::Metrics;
use self::patience::Patience;
use self::routes::Routes;
use crate::access::attempts::Attempts;
use crate::engine::Engine;
use crate::engine::workers::Worker;

/// What one server allows.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Who may call.
    pub door: Door,
    /// Nothing may be changed by a call.
    pub read_only: bool,
    /// How long a key outlives its job's end when a create does not say.
    pub key_ttl_ms: i64,
    /// How long a client is waited for.
    pub patience: Patience,
}

/// Everything that a call may need.
pub struct App {
    /// The store and who waits for it.
    pub engine: Arc<Engine>,
    /// What this server allows.
    pub rules: Rules,
    /// For large bodies.
    pub room: Room,
    /// Where calls go.
    pub routes: Routes,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Wrong keys at the sign-in.
    pub attempts: Attempts,
}

impl App {
    /// Around an engine.
    #[must_use]
    pub fn new(engine: Arc<Engine>, rules: Rules) -> Self {
        Self {
            engine,
            rules,
            room: Room::default(),
            routes: Routes::new(),
            metrics: Arc::default(),
            attempts: Attempts::default(),
        }
    }

    fn now(&self) -> i64 {
        self.engine.store.now()
    }

    /// The workers that were heard of lately.
    fn alive(&self) -> Vec<Worker> {
        self.engine.workers.alive(self.now(), |_| false)
    }
}
