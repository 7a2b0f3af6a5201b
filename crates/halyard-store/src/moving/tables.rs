//! What a store consists of, said once for both databases: tables, columns, and the order in which
//! rows are read, by which both sides have the same digest.

use sha2::{Digest, Sha256};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An integer of 16 bits.
    Small,
    /// An integer of 32 bits.
    Medium,
    /// An integer of 64 bits.
    Large,
    /// Whether something is so.
    Truth,
    /// A number of double precision.
    Real,
    /// UTF-8.
    Text,
    /// Bytes of any number.
    Bytes,
    /// 16 bytes.
    Uuid,
}

/// What stands in a column of a row. A truth is a whole number, an id is bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Nothing.
    Null,
    /// An integer or a truth.
    Whole(i64),
    /// A number of double precision.
    Real(f64),
    /// UTF-8.
    Text(String),
    /// Bytes or an id.
    Bytes(Vec<u8>),
}

/// One table, as both databases have it.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// In the order of reading.
    pub(crate) columns: &'static [(&'static str, Kind)],
    /// What rows are ordered by.
    pub(crate) order: &'static str,
}

impl Table {
    /// The columns' names with commas between.
    pub(crate) fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// The digest of one side, as it grows.
pub(crate) struct Sum {
    tables: Vec<(&'static str, u64)>,
    digest: Sha256,
}

impl Sum {
    pub(crate) fn new() -> Self {
        Self { tables: Vec::new(), digest: Sha256::new() }
    }

    /// A table begins.
    pub(crate) fn begin(&mut self, table: &Table) {
        self.tables.push((table.name, 0));
        self.bytes(b't', table.name.as_bytes());
    }

    /// A row of the table that began last. Says how many it has now.
    pub(crate) fn row(&mut self, row: &[Value]) -> u64 {
        self.bytes(b'r', &[]);
        for value in row {
            match value {
                Value::Null => self.bytes(b'n', &[]),
                Value::Whole(number) => self.bytes(b'i', &number.to_be_bytes()),
                Value::Real(number) => self.bytes(b'f', &number.to_bits().to_be_bytes()),
                Value::Text(text) => self.bytes(b's', text.as_bytes()),
                Value::Bytes(bytes) => self.bytes(b'b', bytes),
            }
        }
        let Some((_, rows)) = self.tables.last_mut() else { return 0 };
        *rows += 1;
        *rows
    }

    /// Lengths stand before bytes, so that no two stores are the same text.
    fn bytes(&mut self, tag: u8, bytes: &[u8]) {
        self.digest.update([tag]);
        self.digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        self.digest.update(bytes);
    }

    /// Rows by table, and the digest.
    pub(crate) fn end(self) -> (Vec<(&'static str, u64)>, [u8; 32]) {
        (self.tables, self.digest.finalize().into())
    }
}

use Kind::{Bytes, Large, Medium, Real, Small, Text, Truth, Uuid};

/// Every table, in the order in which they are carried. A test holds them to both schemas.
pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "jobs",
        columns: &[
            ("seq", Large),
            ("id", Uuid),
            ("task", Text),
            ("queue", Text),
            ("state", Small),
            ("priority", Medium),
            ("created_at", Large),
            ("run_at", Large),
            ("life", Medium),
            ("attempt", Medium),
            ("starts", Large),
            ("max_attempts", Medium),
            ("crashes", Medium),
            ("max_crashes", Medium),
            ("releases", Large),
            ("snoozes", Large),
            ("timeout_ms", Large),
            ("backoff_initial_ms", Large),
            ("backoff_factor", Real),
            ("backoff_max_ms", Large),
            ("backoff_jitter", Real),
            ("queued_at", Large),
            ("error_start", Large),
            ("cancel_requested", Truth),
            ("finished_at", Large),
            ("holds_key", Truth),
            ("key_ttl_ms", Large),
            ("checkpoints", Medium),
            ("checkpoints_bytes", Large),
            ("replays", Large),
            ("rejected", Large),
            ("replaced_by", Uuid),
            ("start_state", Small),
            ("attempt_id", Uuid),
            ("token", Uuid),
            ("claim_mark", Uuid),
            ("worker", Text),
            ("start_queued_at", Large),
            ("started_at", Large),
            ("lease_ms", Large),
            ("expires_at", Large),
            ("deadline", Large),
        ],
        order: "seq",
    },
    Table {
        name: "bodies",
        // SQLite has the id in the job's row only.
        columns: &[
            ("seq", Large),
            ("id", Uuid),
            ("tags", Text),
            ("traceparent", Text),
            ("idempotency_key", Text),
            ("rerun_of", Uuid),
            ("payload", Text),
        ],
        order: "seq",
    },
    Table { name: "results", columns: &[("seq", Large), ("result", Text)], order: "seq" },
    Table {
        name: "attempts",
        columns: &[
            ("seq", Large),
            ("number", Large),
            ("id", Uuid),
            ("token", Uuid),
            ("life", Medium),
            ("attempt", Medium),
            ("state", Small),
            ("worker", Text),
            ("queued_at", Large),
            ("started_at", Large),
            ("finished_at", Large),
            ("retry_delay_ms", Large),
            ("retry_reason", Small),
            ("report", Small),
            ("result", Bytes),
            ("state_after", Small),
            ("error_type", Text),
            ("error_kind", Text),
            ("error_message", Text),
            ("error_stack", Text),
        ],
        order: "seq, number",
    },
    Table {
        name: "checkpoints",
        columns: &[
            ("seq", Large),
            ("position", Medium),
            ("name", Text),
            ("life", Medium),
            ("attempt", Medium),
            ("start", Large),
            ("created_at", Large),
            ("value", Text),
        ],
        order: "seq, position",
    },
    Table {
        name: "keys",
        columns: &[
            ("task", Text),
            ("key", Text),
            ("job_id", Uuid),
            ("fingerprint", Bytes),
            ("algorithm", Small),
            ("seq", Large),
            ("queue", Text),
            ("state", Small),
            ("created_at", Large),
            ("finished_at", Large),
            ("expires_at", Large),
        ],
        order: "task, key",
    },
    Table {
        name: "requests",
        columns: &[
            ("scope", Text),
            ("value", Text),
            ("body", Bytes),
            ("expires_at", Large),
            ("results", Text),
        ],
        order: "scope, value",
    },
    Table { name: "queues", columns: &[("name", Text), ("paused", Truth)], order: "name" },
    Table {
        name: "counters",
        columns: &[("queue", Text), ("task", Text), ("state", Small), ("jobs", Large)],
        order: "queue, task, state",
    },
    Table {
        name: "totals",
        columns: &[
            ("created", Large),
            ("replayed", Large),
            ("keys_refused", Large),
            ("completed", Large),
            ("failed", Large),
            ("cancelled", Large),
            ("retried", Large),
            ("leases_lost", Large),
            ("timed_out", Large),
            ("reports_rejected", Large),
        ],
        order: "created",
    },
    Table {
        name: "minutes",
        columns: &[("at", Large), ("created", Large), ("completed", Large), ("failed", Large)],
        order: "at",
    },
    Table {
        name: "api_keys",
        columns: &[
            ("id", Uuid),
            ("name", Text),
            ("role", Text),
            ("hash", Bytes),
            ("created_at", Large),
            ("last_used_at", Large),
        ],
        order: "id",
    },
    Table {
        name: "sign_ins",
        columns: &[("hash", Bytes), ("key_hash", Bytes), ("expires_at", Large)],
        order: "hash",
    },
    Table {
        name: "audit",
        columns: &[
            ("number", Large),
            ("at", Large),
            ("actor", Text),
            ("key_id", Uuid),
            ("request_id", Text),
            ("action", Text),
            ("target", Text),
            ("job_ids", Text),
        ],
        order: "number",
    },
    Table { name: "stamp", columns: &[("at", Large)], order: "at" },
];

/// Tables of which both stores have one row from the beginning, or may have none for nothing: what
/// is there goes before rows come.
pub(crate) fn begins_filled(table: &Table) -> bool {
    matches!(table.name, "totals" | "stamp")
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "a test that panics has failed")]
pub(crate) mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// Columns by table.
    pub(crate) type Schema = BTreeMap<String, BTreeSet<String>>;

    /// What a move carries.
    pub(crate) fn carried() -> Schema {
        let names = |table: &Table| table.columns.iter().map(|it| it.0.to_owned()).collect();
        TABLES.iter().map(|table| (table.name.to_owned(), names(table))).collect()
    }

    #[test]
    fn whatever_differs_has_another_digest() {
        let digest = |rows: &[&[Value]]| {
            let mut sum = Sum::new();
            sum.begin(&TABLES[0]);
            for row in rows {
                sum.row(row);
            }
            sum.end().1
        };
        let text = |text: &str| Value::Text(text.to_owned());
        let (a, b) = ([text("a"), text("bc")], [text("ab"), text("c")]);
        let digests: BTreeSet<[u8; 32]> = [
            digest(&[]),
            digest(&[&[]]),
            digest(&[&a]),
            digest(&[&b]),
            digest(&[&a[..1], &a[1..]]),
            digest(&[&[Value::Null]]),
            digest(&[&[text("")]]),
            digest(&[&[Value::Bytes(Vec::new())]]),
            digest(&[&[Value::Whole(0)]]),
            digest(&[&[Value::Real(0.0)]]),
            digest(&[&[Value::Real(-0.0)]]),
        ]
        .into();
        assert_eq!(digests.len(), 11);
    }
}
