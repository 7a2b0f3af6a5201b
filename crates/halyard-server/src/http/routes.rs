//! Every route of the server, in one table.
//!
//! The table decides who may call what, how long a body may be, and which refusals the OpenAPI
//! document lists; the tests walk it. To add a call: a file for it, and a row here.

use std::collections::HashMap;
use std::pin::Pin;

use halyard_api::problem::Code;
use http::Method;
use percent_encoding::percent_decode_str;

use super::access::Access;
use super::answer::Answer;
use super::call::Call;
use super::refused::Refused;
use super::takes::Takes;
use super::{
    App, api_keys, audit, dashboard, docs, events, health, jobs, keys, metrics_page, openapi,
    queues, session, stats, tasks, version, workers,
};
use crate::access::Role::{Admin, Producer, Worker};

/// An endpoint at work.
pub type Working<'a> = Pin<Box<dyn Future<Output = Result<Answer, Refused>> + Send + 'a>>;

/// One route.
pub struct Route {
    /// Its method.
    pub method: Method,
    /// Its path; `{…}` stands for one segment.
    pub path: &'static str,
    /// Whom it is for.
    pub access: Access,
    /// Its body.
    pub takes: Takes,
    /// It hands out new work, so not while the server is draining.
    pub hands_out: bool,
    /// What it refuses a call with, beside what every route may ([`Route::codes`]).
    own_codes: &'static [Code],
    /// Its name: `jobs::list::list`.
    pub name: &'static str,
    /// The endpoint.
    pub call: for<'a> fn(&'a App, &'a Call) -> Working<'a>,
}

impl Route {
    /// Says whether it may change something that a read-only server keeps as it is.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.method != Method::GET && self.access != Access::SignIn
    }

    /// Every code that it may refuse a call with.
    #[must_use]
    pub fn codes(&self) -> Vec<Code> {
        let mut codes = self.own_codes.to_vec();
        if self.access != Access::Probe {
            codes.extend([Code::MissingField, Code::InvalidField, Code::UnknownHost]);
            codes.push(Code::Forbidden);
        }
        if let Access::Role(_) | Access::Open | Access::SignIn = self.access {
            codes.push(Code::UnknownField);
        }
        if let Access::Role(_) = self.access {
            codes.push(Code::Unauthenticated);
            codes.extend([Code::Overloaded, Code::StorageUnavailable]);
        }
        if self.takes != Takes::Nothing {
            codes.extend([Code::MalformedJson, Code::PayloadTooLarge, Code::UnsupportedMediaType]);
        }
        if self.changes() {
            codes.push(Code::ReadOnly);
        }
        if self.hands_out {
            codes.push(Code::Draining);
        }
        codes.sort_unstable_by_key(|code| (code.status(), code.as_str()));
        codes.dedup();
        codes
    }
}

macro_rules! row {
    (
        $method:ident $path:literal, $access:expr, $takes:expr,
        [$($code:ident)*] $($hands_out:ident)? => $endpoint:path
    ) => {
        Route {
            method: Method::$method,
            path: $path,
            access: $access,
            takes: $takes,
            hands_out: row!(@ $($hands_out)?),
            own_codes: &[$(Code::$code),*],
            name: stringify!($endpoint),
            call: |app, call| Box::pin($endpoint(app, call)),
        }
    };
    (@) => { false };
    (@ hands_out) => { true };
}

const PRODUCER: Access = Access::Role(Producer);
const WORKER: Access = Access::Role(Worker);
const ADMIN: Access = Access::Role(Admin);
const NOTHING: Takes = Takes::Nothing;

/// Every route.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    row!(POST "/v1/jobs", PRODUCER, Takes::ONE,
        [IdTaken IdempotencyKeyReused JobNotFound] hands_out => jobs::create::create),
    row!(GET "/v1/jobs", PRODUCER, NOTHING, [CursorMismatch] => jobs::list::list),
    row!(POST "/v1/jobs/batch", PRODUCER, Takes::MANY,
        [IdempotencyKeyReused] hands_out => jobs::batch::batch),
    row!(POST "/v1/jobs/bulk", ADMIN, Takes::ONE, [IdempotencyKeyReused] => jobs::bulk::bulk),
    row!(POST "/v1/jobs/claim", WORKER, Takes::MANY, [] hands_out => jobs::claim::claim),
    row!(POST "/v1/jobs/heartbeat", WORKER, Takes::MANY, [] => jobs::heartbeat::heartbeat),
    row!(POST "/v1/jobs/finish", WORKER, Takes::MANY, [] => jobs::finish::finish),
    row!(GET "/v1/jobs/{id}", PRODUCER, NOTHING, [JobNotFound] => jobs::get::get),
    row!(DELETE "/v1/jobs/{id}", ADMIN, NOTHING, [JobNotFound JobRunning] => jobs::delete::delete),
    row!(POST "/v1/jobs/{id}/retry", PRODUCER, Takes::MAYBE,
        [JobNotFound JobRunning JobNotRetryable IdempotencyKeyTaken IdempotencyKeyReused]
        => jobs::retry::retry),
    row!(POST "/v1/jobs/{id}/cancel", PRODUCER, Takes::MAYBE,
        [JobNotFound JobFinished] => jobs::cancel::cancel),
    row!(POST "/v1/jobs/{id}/run-now", PRODUCER, Takes::MAYBE,
        [JobNotFound JobFinished] => jobs::run_now::run_now),
    row!(POST "/v1/jobs/{id}/run-as-new", PRODUCER, Takes::MAYBE,
        [JobNotFound IdempotencyKeyReused] hands_out => jobs::run_as_new::run_as_new),
    row!(POST "/v1/jobs/{id}/checkpoints", WORKER, Takes::ONE,
        [JobNotFound LeaseLost CheckpointConflict] => jobs::checkpoints::checkpoints),
    row!(DELETE "/v1/jobs/{id}/idempotency-key", ADMIN, NOTHING,
        [JobNotFound] => keys::forget),
    row!(GET "/v1/keys", PRODUCER, NOTHING, [NotFound] => keys::find),
    row!(GET "/v1/queues", PRODUCER, NOTHING, [] => queues::list),
    row!(GET "/v1/queues/{name}", PRODUCER, NOTHING, [QueueNotFound] => queues::get),
    row!(POST "/v1/queues/{name}/pause", ADMIN, Takes::MAYBE, [QueueNotFound] => queues::pause),
    row!(POST "/v1/queues/{name}/resume", ADMIN, Takes::MAYBE, [QueueNotFound] => queues::resume),
    row!(GET "/v1/api-keys", ADMIN, NOTHING, [] => api_keys::list),
    row!(POST "/v1/api-keys", ADMIN, Takes::ONE, [] => api_keys::create),
    row!(DELETE "/v1/api-keys/{id}", ADMIN, NOTHING, [NotFound] => api_keys::revoke),
    row!(GET "/v1/session", PRODUCER, NOTHING, [] => session::get),
    row!(POST "/v1/session", Access::SignIn, Takes::ONE,
        [Unauthenticated Overloaded StorageUnavailable] => session::sign_in),
    row!(DELETE "/v1/session", Access::SignIn, NOTHING,
        [StorageUnavailable Overloaded] => session::sign_out),
    row!(GET "/v1/audit", ADMIN, NOTHING, [CursorMismatch] => audit::list),
    row!(GET "/v1/workers", PRODUCER, NOTHING, [] => workers::list),
    row!(GET "/v1/tasks", PRODUCER, NOTHING, [] => tasks::list),
    row!(GET "/v1/stats", PRODUCER, NOTHING, [] => stats::get),
    row!(GET "/v1/events", PRODUCER, NOTHING, [] => events::listen),
    row!(GET "/metrics", PRODUCER, NOTHING, [] => metrics_page::get),
    row!(GET "/healthz", Access::Probe, NOTHING, [] => health::alive),
    row!(GET "/readyz", Access::Probe, NOTHING,
        [Draining Overloaded StorageUnavailable] => health::ready),
    row!(GET "/version", Access::Open, NOTHING, [] => version::get),
    row!(GET "/openapi.json", Access::Open, NOTHING, [] => openapi::get),
    row!(GET "/docs/errors", Access::Page, NOTHING, [] => docs::errors),
    row!(GET "/", Access::Page, NOTHING, [NotFound] => dashboard::page),
    row!(GET "/assets/{name}", Access::Page, NOTHING, [NotFound] => dashboard::asset),
    row!(GET "/icon.svg", Access::Page, NOTHING, [NotFound] => dashboard::icon),
];

/// Further addresses of the page at `/`: what they mean is the page's own affair.
const PAGES: [&str; 8] =
    ["/jobs", "/jobs/{id}", "/keys", "/queues", "/workers", "/tasks", "/access", "/audit"];

/// Finds routes by method and path.
pub struct Routes {
    paths: matchit::Router<usize>,
    /// For each path its methods, with the row of each.
    methods: Vec<Vec<(Method, usize)>>,
}

/// What is at an address.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// A route, and what stands for its `{…}`, decoded.
    Route {
        /// Its row.
        index: usize,
        /// Empty when it has none.
        name: String,
    },
    /// Nothing.
    Nothing,
    /// Only routes of other methods: the value of `Allow`.
    OtherMethods(String),
}

/// The row of a route that was found.
#[must_use]
pub fn route(index: usize) -> &'static Route {
    match ROUTES.get(index) {
        Some(route) => route,
        None => unreachable!("a route is found in the table or not at all"),
    }
}

impl Routes {
    /// Of the whole table.
    ///
    /// # Panics
    /// When the table holds a path that is no pattern.
    #[must_use]
    pub fn new() -> Self {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut routes = Self { paths: matchit::Router::new(), methods: Vec::new() };
        for (index, route) in ROUTES.iter().enumerate() {
            let place = *known.entry(route.path).or_insert_with(|| {
                let place = routes.methods.len();
                routes.methods.push(Vec::new());
                let inserted = routes.paths.insert(route.path, place);
                assert_eq!(inserted, Ok(()), "{} is no pattern", route.path);
                place
            });
            if let Some(methods) = routes.methods.get_mut(place) {
                methods.push((route.method.clone(), index));
            }
        }
        for path in PAGES {
            let inserted = known.get("/").map(|page| routes.paths.insert(path, *page));
            assert_eq!(inserted, Some(Ok(())), "{path} is no pattern");
        }
        routes
    }

    /// What is at this path, which is not decoded yet.
    #[must_use]
    pub fn find(&self, method: &Method, path: &str) -> Found {
        let Ok(matched) = self.paths.at(path) else { return Found::Nothing };
        let Some(methods) = self.methods.get(*matched.value) else { return Found::Nothing };
        // A HEAD is a GET whose body is not sent.
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        let Some((_, index)) = methods.iter().find(|(method, _)| method == wanted) else {
            return Found::OtherMethods(allow(methods));
        };
        let raw = matched.params.iter().next().map_or("", |(_, value)| value);
        match percent_decode_str(raw).decode_utf8() {
            Ok(name) => Found::Route { index: *index, name: name.into_owned() },
            Err(_) => Found::Nothing,
        }
    }
}

impl Default for Routes {
    fn default() -> Self {
        Self::new()
    }
}

fn allow(methods: &[(Method, usize)]) -> String {
    let mut names: Vec<&str> = methods.iter().map(|(method, _)| method.as_str()).collect();
    if names.contains(&"GET") {
        names.push("HEAD");
    }
    names.sort_unstable();
    names.join(", ")
}
