//! Figures as a table for people and as JSON for programs.

use std::path::Path;

use anyhow::Context;
use comfy_table::{CellAlignment, Table, presets};
use halyard_api::Timestamp;
use serde::Serialize;

use super::latency::Latency;
use super::limits::Limit;
use super::machine::{Machine, Memory};
use super::postgres::Settings;
use super::postgres::cost::Cost;
use super::postgres::steady::Steady;
use super::suite::{Ran, Test};

/// Everything that one run found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: &'static str,
    /// When the run began.
    pub(super) at: Timestamp,
    pub(super) machine: Machine,
    /// Of each test.
    pub(super) seconds: f64,
    /// The settings of the database that was measured, when it was not SQLite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) database: Option<Settings>,
    /// Appends of 4 KiB that the disk syncs in a second.
    pub(super) syncs: Option<f64>,
    pub(super) tests: Vec<Figure>,
    pub(super) latency: Option<Latency>,
    pub(super) start_ups: Vec<StartUp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steady: Option<Steady>,
}

/// The figures of one test.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) connections: usize,
    /// Jobs a second.
    pub(super) rate: f64,
    /// In the window.
    pub(super) jobs: u64,
    pub(super) seconds: f64,
    /// What the machine itself can do of the kind, a second.
    pub(super) limits: Vec<LimitFigure>,
    /// A job.
    pub(super) server_cpu_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) database_cpu_us: Option<f64>,
    pub(super) client_cpu_us: Option<f64>,
    /// Share of the machine that others used meanwhile.
    pub(super) elsewhere_percent: Option<f64>,
    /// Of the server.
    pub(super) memory: Option<Memory>,
    /// Of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<Cost>,
}

/// What the machine itself can do.
#[derive(Debug, Serialize)]
pub(super) struct LimitFigure {
    /// Of what.
    pub(super) limit: String,
    /// A second.
    pub(super) rate: f64,
}

/// How long a server takes until it listens.
#[derive(Debug, Serialize)]
pub(super) struct StartUp {
    pub(super) on: &'static str,
    /// The shortest and the longest of a few starts.
    pub(super) shortest_ms: f64,
    pub(super) longest_ms: f64,
    /// Bytes of the database and its log.
    pub(super) file_bytes: u64,
    /// Of the server when it has started.
    pub(super) memory: Option<Memory>,
}

impl Figure {
    pub(super) fn new(test: &Test, ran: &Ran, limits: Vec<LimitFigure>) -> Self {
        Self {
            name: test.name,
            connections: test.connections,
            rate: ran.seen.rate(),
            jobs: ran.seen.counted,
            seconds: ran.seen.seconds,
            limits,
            server_cpu_us: ran.seen.server_cpu_us,
            database_cpu_us: ran.seen.database_cpu_us,
            client_cpu_us: ran.seen.client_cpu_us,
            elsewhere_percent: ran.seen.elsewhere_percent,
            memory: ran.memory,
            cost: ran.cost,
        }
    }
}

impl StartUp {
    fn print(&self) {
        anstream::println!(
            "start-up on {}: {:.0} to {:.0} ms, {} MiB of memory, {} MiB of files",
            self.on,
            self.shortest_ms,
            self.longest_ms,
            self.memory.map_or_else(unknown, |memory| (memory.now_kib >> 10).to_string()),
            self.file_bytes >> 20
        );
    }
}

impl Report {
    pub(super) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_vec_pretty(self)?;
        std::fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Nothing was measured.
    pub(super) fn is_empty(&self) -> bool {
        let has_figures = self.latency.is_some() || self.steady.is_some();
        self.tests.is_empty() && self.start_ups.is_empty() && !has_figures
    }

    pub(super) fn print(&self) {
        anstream::println!("{}", self.machine);
        if let Some(settings) = &self.database {
            let all = settings.iter().map(|(name, value)| format!("{name}={value}"));
            anstream::println!("PostgreSQL: {}", all.collect::<Vec<_>>().join(" "));
        }
        if let Some(syncs) = self.syncs {
            anstream::println!("{}: {} a second", Limit::Sync, thousands(syncs));
        }
        if !self.tests.is_empty() {
            anstream::println!("\n{}", self.table());
        }
        for (big, small) in self.big_and_small() {
            anstream::println!(
                "{}: {:.0} % of {} on an empty directory",
                big.name,
                100.0 * big.rate / small.rate,
                small.name
            );
        }
        if let Some(latency) = &self.latency {
            anstream::println!(
                "\ncreate to claim of a waiting worker: p50 {:.2} ms, p99 {:.2} ms ({} jobs)",
                milliseconds(latency.p50_us),
                milliseconds(latency.p99_us),
                latency.samples
            );
        }
        self.start_ups.iter().for_each(StartUp::print);
        if let Some(steady) = &self.steady {
            steady.print();
        }
    }

    /// Each test on the big file with the same one on an empty directory.
    fn big_and_small(&self) -> impl Iterator<Item = (&Figure, &Figure)> {
        self.tests.iter().filter_map(|big| {
            let name = big.name.strip_prefix("big-")?;
            Some((big, self.tests.iter().find(|small| small.name == name)?))
        })
    }

    fn table(&self) -> Table {
        const DATABASE: [&str; 4] = ["database µs/job", "WAL B/job", "dead/job", "of them HOT"];
        let mut header = vec!["test", "jobs/s", "machine's limit a second", "server µs/job"];
        header.extend(["client µs/job", "peak MiB", "others %"]);
        if self.database.is_some() {
            header.extend(DATABASE);
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(header);
        for figure in &self.tests {
            let limits = figure.limits.iter();
            let limits: Vec<_> = limits
                .map(|LimitFigure { limit, rate }| format!("{} {limit}", thousands(*rate)))
                .collect();
            let mut row = vec![
                figure.name.to_owned(),
                thousands(figure.rate),
                limits.join(", "),
                tenths(figure.server_cpu_us),
                tenths(figure.client_cpu_us),
                figure.memory.map_or_else(unknown, |memory| (memory.peak_kib >> 10).to_string()),
                figure.elsewhere_percent.map_or_else(unknown, |percent| format!("{percent:.0}")),
            ];
            if let Some(cost) = &figure.cost {
                row.push(tenths(figure.database_cpu_us));
                row.push(thousands(cost.wal_bytes));
                row.extend([cost.dead_tuples, cost.hot_tuples].map(|dead| format!("{dead:.2}")));
            }
            table.add_row(row);
        }
        for column in table.column_iter_mut() {
            if !matches!(column.index, 0 | 2) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }
}

fn unknown() -> String {
    "-".to_owned()
}

fn tenths(value: Option<f64>) -> String {
    value.map_or_else(unknown, |value| format!("{value:.1}"))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn milliseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1_000.0
}

/// A rate to its last digit, in groups of three.
pub(super) fn thousands(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn numbers_in_groups() {
        let check = |rate: f64, text: &str| assert_eq!(thousands(rate), text);
        check(0.4, "0");
        check(999.0, "999");
        check(1_000.4, "1,000");
        check(1_234_567.6, "1,234,568");
    }
}
