//! What the server counts of itself: plain atomics, in arrays whose size is known at start, so
//! that no caller can make them grow.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

use super::routes::ROUTES;

/// Upper ends of the histogram's buckets, in seconds. The last ones hold long polls.
pub const BUCKETS_S: [f64; 12] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];

/// Classes of a status, by its first digit.
pub const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counts of one route.
#[derive(Debug, Default)]
pub struct RouteCounts {
    /// Requests by [`CLASSES`].
    pub classes: [AtomicU64; CLASSES.len()],
    /// Requests by [`BUCKETS_S`]; one that took longer is in `micros` and the classes only.
    pub buckets: [AtomicU64; BUCKETS_S.len()],
    /// All their time, in microseconds.
    pub micros: AtomicU64,
}

/// Counts of all routes.
#[derive(Debug)]
pub struct Metrics {
    /// By row of the route table; the last is what matched no route.
    routes: Vec<RouteCounts>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            routes: ROUTES.iter().map(|_| ()).chain([()]).map(|()| Default::default()).collect(),
        }
    }
}

impl Metrics {
    /// A request was answered; `route` is its row, if it matched one.
    pub fn record(&self, route: Option<usize>, status: StatusCode, took: Duration) {
        let index = route.unwrap_or(ROUTES.len());
        let Some(counts) = self.routes.get(index) else { return };
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        if let Some(class) = counts.classes.get(class) {
            class.fetch_add(1, Ordering::Relaxed);
        }
        let seconds = took.as_secs_f64();
        if let Some(bucket) = BUCKETS_S.iter().position(|end| seconds <= *end)
            && let Some(bucket) = counts.buckets.get(bucket)
        {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        counts.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The counts of each route with its method and path; `other` is what matched none.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, &'static str, &RouteCounts)> {
        let names = ROUTES.iter().map(|route| (route.method.as_str(), route.path));
        names
            .chain([("", "other")])
            .zip(&self.routes)
            .map(|((method, path), counts)| (method, path, counts))
    }
}
