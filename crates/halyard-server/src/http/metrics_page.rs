//! `GET /metrics`, in the OpenMetrics text format.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use halyard_store::verbs::Stats;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::App;
use super::answer::Answer;
use super::call::Call;
use super::convert;
use super::metrics::{BUCKETS_S, CLASSES, Metrics};
use super::refused::Refused;

const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything that is counted.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses((status = 200, body = String, content_type = "application/openmetrics-text",
        description = "The metrics."))
)]
pub async fn get(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let page = Page {
        metrics: Arc::clone(&app.metrics),
        stats: app.engine.store.stats().await?,
        waiting_claims: app.engine.hints.claims.waiting() as u64,
        workers: app.alive().len() as u64,
        draining: u64::from(app.engine.is_draining()),
    };
    let mut registry = Registry::default();
    registry.register_collector(Box::new(page));
    let mut text = String::new();
    if let Err(error) = encode(&mut text, &registry) {
        unreachable!("writing to a string failed: {error}");
    }
    Ok(Answer::text(MEDIA_TYPE, text))
}

/// One look at everything.
#[derive(Debug)]
struct Page {
    metrics: Arc<Metrics>,
    stats: Stats,
    waiting_claims: u64,
    workers: u64,
    draining: u64,
}

impl Collector for Page {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        self.requests(&mut to)?;
        self.durations(&mut to)?;
        self.jobs(&mut to)?;
        self.totals(&mut to)?;
        gauge(
            &mut to,
            "halyard_waiting_claims",
            "Claims that wait for a job",
            self.waiting_claims,
        )?;
        gauge(&mut to, "halyard_workers", "Workers heard of lately", self.workers)?;
        gauge(&mut to, "halyard_draining", "1 while the server shuts down", self.draining)
    }
}

impl Page {
    fn requests(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Requests answered, by route and class of status";
        let mut family =
            to.encode_descriptor("halyard_http_requests", help, None, MetricType::Counter)?;
        for (method, path, counts) in self.metrics.each() {
            for (class, count) in CLASSES.into_iter().zip(&counts.classes) {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let labels = [("method", method), ("route", path), ("status", class)];
                    family.encode_family(&labels)?.encode_counter(&count, NO_EXEMPLAR)?;
                }
            }
        }
        Ok(())
    }

    fn durations(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Time from a request's head to its answer, waits included";
        let name = "halyard_http_duration_seconds";
        let mut family = to.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (method, path, counts) in self.metrics.each() {
            let load = |counts: &[AtomicU64]| -> Vec<u64> {
                counts.iter().map(|count| count.load(Ordering::Relaxed)).collect()
            };
            let total: u64 = load(&counts.classes).iter().sum();
            if total == 0 {
                continue;
            }
            let within = load(&counts.buckets);
            let beyond = total.saturating_sub(within.iter().sum());
            let ends = BUCKETS_S.into_iter().chain([f64::INFINITY]);
            let buckets: Vec<(f64, u64)> = ends.zip(within.into_iter().chain([beyond])).collect();
            let seconds = counts.micros.load(Ordering::Relaxed) as f64 / 1e6;
            let labels = [("method", method), ("route", path)];
            family
                .encode_family(&labels)?
                .encode_histogram::<NoLabelSet>(seconds, total, &buckets, None)?;
        }
        Ok(())
    }

    fn jobs(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Jobs in the store by state; the running ones hold a lease each";
        let mut family = to.encode_descriptor("halyard_jobs", help, None, MetricType::Gauge)?;
        for (index, count) in self.stats.counts.iter().enumerate() {
            let labels = [("state", convert::look::state_name(index))];
            family.encode_family(&labels)?.encode_gauge(count)?;
        }
        Ok(())
    }

    fn totals(&self, to: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let totals = &self.stats.totals;
        let all = [
            ("halyard_jobs_created", "Jobs created", totals.created),
            ("halyard_creates_replayed", "Creates answered with a known job", totals.replayed),
            ("halyard_keys_refused", "Creates with a key of another payload", totals.keys_refused),
            ("halyard_lives_completed", "Lives completed", totals.completed),
            ("halyard_lives_failed", "Lives failed", totals.failed),
            ("halyard_lives_cancelled", "Lives cancelled", totals.cancelled),
            ("halyard_lives_retried", "Lives opened by a retry", totals.retried),
            ("halyard_leases_lost", "Starts whose lease ran out", totals.leases_lost),
            ("halyard_starts_timed_out", "Starts that passed their deadline", totals.timed_out),
            ("halyard_reports_rejected", "Calls with a dead token", totals.reports_rejected),
        ];
        for (name, help, count) in all {
            to.encode_descriptor(name, help, None, MetricType::Counter)?
                .encode_counter(&count, NO_EXEMPLAR)?;
        }
        Ok(())
    }
}

type Exemplar = prometheus_client::metrics::exemplar::Exemplar<NoLabelSet, u64>;

const NO_EXEMPLAR: Option<&Exemplar> = None;

fn gauge(to: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    to.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
}
