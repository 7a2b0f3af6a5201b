//! What a database says of itself in one row, and what of it is well.

use halyard_core::TimeMs;
use tokio_postgres::Row;

use crate::finding::Finding;
use crate::postgres::Ran;
use crate::postgres::connect::VERSION_MIN;
use crate::postgres::rows::Columns;

/// A snapshot that is older keeps dead rows in the way of every claim.
const SNAPSHOT_MS_OLD: i64 = 5 * 60_000;
/// A replication slot that is so many transactions behind does the same.
const SLOT_AGE_OLD: i64 = 1_000_000;
/// PostgreSQL stops taking writes at two thousand million.
const XID_AGE_OLD: i64 = 1_000_000_000;
/// Servers measure by the database's clock, and clients make times by theirs.
const CLOCK_MS_APART: i64 = 2_000;

/// What the database says of itself.
#[derive(Clone, Debug)]
pub(super) struct Vitals {
    version_number: i64,
    version: String,
    commits: String,
    waits_for_standby: bool,
    replicas: i64,
    now: TimeMs,
    sees_others: bool,
    oldest_snapshot_ms: Option<i64>,
    oldest_prepared_ms: Option<i64>,
    slot_age: Option<i64>,
    xid_age: i64,
    pub(super) has_schema: bool,
    encoding: String,
    is_standby: bool,
    is_read_only: bool,
}

impl Vitals {
    pub(super) fn of(row: &Row) -> Ran<Self> {
        let mut next = Columns::from(row, 0);
        Ok(Self {
            version_number: next.next()?,
            version: next.next()?,
            commits: next.next()?,
            waits_for_standby: next.next()?,
            replicas: next.next()?,
            now: next.next()?,
            sees_others: next.next()?,
            oldest_snapshot_ms: next.next()?,
            oldest_prepared_ms: next.next()?,
            slot_age: next.next()?,
            xid_age: next.next()?,
            has_schema: next.next()?,
            encoding: next.next()?,
            is_standby: next.next()?,
            is_read_only: next.next()?,
        })
    }

    pub(super) fn findings(&self, schema: &str, here: TimeMs, took: i64) -> Vec<Finding> {
        vec![
            self.version(),
            self.encoding(),
            self.writes(),
            self.commits(),
            self.replicas(),
            self.snapshots(),
            self.transaction_ids(),
            self.clock(here, took),
            self.schema(schema),
        ]
    }

    fn encoding(&self) -> Finding {
        if self.encoding == "UTF8" {
            return Finding::ok("encoding", "its encoding is UTF8");
        }
        Finding::error(
            "encoding",
            format!("its encoding is {}: no server starts on it", self.encoding),
            "make another database, with ENCODING 'UTF8'",
        )
    }

    fn writes(&self) -> Finding {
        if self.is_standby {
            let advice = "name the primary, or all hosts of the cluster, in the URL";
            return Finding::error("writes", "it is a standby: no server starts on one", advice);
        }
        if self.is_read_only {
            return Finding::error(
                "writes",
                "default_transaction_read_only is on: no server starts with that",
                "set it to off for this user and database",
            );
        }
        Finding::ok("writes", "it takes writes")
    }

    fn version(&self) -> Finding {
        let message = format!("it is PostgreSQL {}", self.version);
        if self.version_number / 10_000 < i64::from(VERSION_MIN) {
            let advice = format!("upgrade it to {VERSION_MIN} or newer; no server starts on it");
            return Finding::error("version", message, advice);
        }
        Finding::ok("version", message)
    }

    fn commits(&self) -> Finding {
        let set = &self.commits;
        match set.as_str() {
            "off" => Finding::error(
                "commits",
                "synchronous_commit is off: no server starts with that",
                "set it to on for this user: ALTER ROLE … SET synchronous_commit = on",
            ),
            "local" | "remote_write" => Finding::warn(
                "commits",
                format!("synchronous_commit is {set}"),
                "set it to on, so that a standby has written what was acknowledged to its disk",
            ),
            _ => Finding::ok("commits", format!("synchronous_commit is {set}")),
        }
    }

    fn replicas(&self) -> Finding {
        match (self.replicas, self.waits_for_standby) {
            (0, false) => Finding::ok("replicas", "none is attached"),
            (0, true) => Finding::warn(
                "replicas",
                "none is attached, and commits wait for one",
                "start the standby that synchronous_standby_names names, or empty that setting",
            ),
            (count, true) => {
                Finding::ok("replicas", format!("{count} attached, and commits wait for them"))
            }
            (count, false) => Finding::warn(
                "replicas",
                format!("{count} attached, and no commit waits for them"),
                "a failover can lose jobs that were acknowledged: name the standbys in \
                 synchronous_standby_names",
            ),
        }
    }

    fn snapshots(&self) -> Finding {
        let advice = "end that transaction, or give the role an \
                      idle_in_transaction_session_timeout: until then dead rows stay, and claims \
                      become slow";
        let old = |age: Option<i64>| age.filter(|age| *age > SNAPSHOT_MS_OLD);
        let minutes = |age: i64| age / 60_000;
        if let Some(age) = old(self.oldest_snapshot_ms) {
            let message = format!("a transaction has been open for {} min", minutes(age));
            return Finding::warn("snapshots", message, advice);
        }
        if let Some(age) = old(self.oldest_prepared_ms) {
            let message = format!("a transaction has been prepared for {} min", minutes(age));
            return Finding::warn("snapshots", message, advice);
        }
        if let Some(age) = self.slot_age.filter(|age| *age > SLOT_AGE_OLD) {
            return Finding::warn(
                "snapshots",
                format!("a replication slot is {age} transactions behind"),
                "let its reader catch up, or drop the slot: until then dead rows stay",
            );
        }
        if !self.sees_others {
            return Finding::ok(
                "snapshots",
                "none of this role's is old; what others hold open it may not see (GRANT \
                 pg_read_all_stats lets it)",
            );
        }
        Finding::ok("snapshots", "no transaction is open for long")
    }

    fn transaction_ids(&self) -> Finding {
        let age = self.xid_age;
        if age > XID_AGE_OLD {
            return Finding::warn(
                "xids",
                format!("the oldest transaction number is {age} behind"),
                "let autovacuum finish, or run VACUUM FREEZE: at 2,000,000,000 PostgreSQL stops",
            );
        }
        Finding::ok("xids", format!("the oldest transaction number is {age} behind"))
    }

    fn clock(&self, here: TimeMs, took: i64) -> Finding {
        // It was read at most `took` before `here`.
        let ahead = self.now.saturating_sub(here);
        let behind = here.saturating_sub(took).saturating_sub(self.now);
        let (apart, side) = if ahead > behind { (ahead, "ahead of") } else { (behind, "behind") };
        if apart <= CLOCK_MS_APART {
            return Finding::ok("clock", "its clock and this one agree");
        }
        Finding::warn(
            "clock",
            format!("its clock is {apart} ms {side} this one"),
            "let both machines follow a time server (NTP): leases and `run_at` are judged by the \
             database's clock",
        )
    }

    fn schema(&self, schema: &str) -> Finding {
        if self.has_schema {
            return Finding::ok("schema", format!("{schema} holds a store"));
        }
        Finding::error(
            "schema",
            format!("{schema} holds no store"),
            "start a server on it once, or name another schema with --database-schema",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    const NOW: TimeMs = 1_800_000_000_000;

    fn vitals() -> Vitals {
        Vitals {
            version_number: 150_018,
            version: "15.18".to_owned(),
            commits: "on".to_owned(),
            waits_for_standby: false,
            replicas: 0,
            now: NOW,
            sees_others: true,
            oldest_snapshot_ms: Some(SNAPSHOT_MS_OLD),
            oldest_prepared_ms: None,
            slot_age: Some(SLOT_AGE_OLD),
            xid_age: XID_AGE_OLD,
            has_schema: true,
            encoding: "UTF8".to_owned(),
            is_standby: false,
            is_read_only: false,
        }
    }

    /// What was not well, as `level check`.
    fn bad(vitals: &Vitals) -> Vec<String> {
        let found = vitals.findings("\"halyard\"", NOW, 10);
        let bad = found.iter().filter(|finding| finding.level != Level::Ok);
        bad.map(|finding| format!("{} {}", finding.level.as_str(), finding.check)).collect()
    }

    #[test]
    fn what_is_worth_a_look_and_what_is_broken() {
        assert_eq!(bad(&vitals()), [""; 0]);
        let old = Some(SNAPSHOT_MS_OLD + 1);
        for (vitals, expected) in [
            (Vitals { version_number: 130_022, ..vitals() }, "error version"),
            (Vitals { commits: "off".to_owned(), ..vitals() }, "error commits"),
            (Vitals { commits: "local".to_owned(), ..vitals() }, "warn commits"),
            (Vitals { commits: "remote_write".to_owned(), ..vitals() }, "warn commits"),
            (Vitals { replicas: 1, ..vitals() }, "warn replicas"),
            (Vitals { waits_for_standby: true, ..vitals() }, "warn replicas"),
            (Vitals { oldest_snapshot_ms: old, ..vitals() }, "warn snapshots"),
            (Vitals { oldest_prepared_ms: old, ..vitals() }, "warn snapshots"),
            (Vitals { slot_age: Some(SLOT_AGE_OLD + 1), ..vitals() }, "warn snapshots"),
            (Vitals { xid_age: XID_AGE_OLD + 1, ..vitals() }, "warn xids"),
            (Vitals { now: NOW + CLOCK_MS_APART + 1, ..vitals() }, "warn clock"),
            (Vitals { now: NOW - CLOCK_MS_APART - 11, ..vitals() }, "warn clock"),
            (Vitals { has_schema: false, ..vitals() }, "error schema"),
            (Vitals { encoding: "LATIN1".to_owned(), ..vitals() }, "error encoding"),
            (Vitals { is_standby: true, ..vitals() }, "error writes"),
            (Vitals { is_read_only: true, ..vitals() }, "error writes"),
        ] {
            assert_eq!(bad(&vitals), [expected], "{vitals:?}");
        }
        for vitals in [
            Vitals { commits: "remote_apply".to_owned(), ..vitals() },
            Vitals { replicas: 1, waits_for_standby: true, ..vitals() },
            // It may have been read as long ago as the question took.
            Vitals { now: NOW - CLOCK_MS_APART - 10, ..vitals() },
        ] {
            assert_eq!(bad(&vitals), [""; 0], "{vitals:?}");
        }
    }
}
