//! What stands in the database, as one value that can be compared.

use halyard_core::TimeMs;
use halyard_core::id::JobId;
use serde_json::Value;
use tokio_postgres::Client;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Compared;

/// Numbers of jobs are gaps where a create was rolled back. What a stamp adds later is left out.
const LOOK: &str = "
SELECT jsonb_build_object(
    'jobs', (
        SELECT jsonb_agg(to_jsonb(jobs) - 'seq' - 'replays' - 'rejected'
            ORDER BY id)
        FROM halyard.jobs WHERE id = ANY ($1)),
    'stamp', (SELECT at FROM halyard.stamp),
    'bodies', (
        SELECT jsonb_agg(to_jsonb(bodies) - 'seq' ORDER BY id)
        FROM halyard.bodies WHERE id = ANY ($1)),
    'results', (
        SELECT jsonb_agg(jsonb_build_array(id, result) ORDER BY id)
        FROM halyard.results JOIN halyard.bodies USING (seq) WHERE id = ANY ($1)),
    'checkpoints', (
        SELECT jsonb_agg(to_jsonb(checkpoints) - 'seq' ORDER BY id, position)
        FROM halyard.checkpoints JOIN halyard.bodies USING (seq) WHERE id = ANY ($1)),
    'keys', (
        SELECT jsonb_agg(to_jsonb(keys) - 'seq' || jsonb_build_object('job', bodies.id)
            ORDER BY task, key)
        FROM halyard.keys LEFT JOIN halyard.bodies USING (seq)),
    'counters', (
        SELECT jsonb_agg(to_jsonb(sums) ORDER BY queue, task, state) FROM (
            SELECT queue, task, state, sum(jobs) AS jobs FROM halyard.counters
            GROUP BY queue, task, state HAVING sum(jobs) <> 0) AS sums),
    'totals', (
        SELECT jsonb_build_array(sum(created), sum(completed), sum(failed), sum(retried))
        FROM halyard.totals),
    'minutes', (
        SELECT jsonb_agg(to_jsonb(sums) ORDER BY at) FROM (
            SELECT at, sum(created), sum(completed) AS ended FROM halyard.minutes GROUP BY at
        ) AS sums)
)::text";

impl Compared {
    pub(super) async fn look(&self, client: &Client, ids: &[JobId]) -> Value {
        let ids: Vec<Uuid> = ids.iter().map(|id| Uuid::from_u128(id.0)).collect();
        let row =
            client.query_typed_one(&self.sql(LOOK), &[(&ids, Type::UUID_ARRAY)]).await.unwrap();
        serde_json::from_str(row.get(0)).unwrap()
    }
}

/// What a verb and a function make alike. After an outage the verb stamps, and moves the ends of
/// leases; a function leaves both to the server.
pub(super) fn alike(mut seen: Value, is_outage: bool) -> Value {
    if is_outage {
        seen["stamp"].take();
        for job in seen["jobs"].as_array_mut().into_iter().flatten() {
            job["expires_at"].take();
            job["deadline"].take();
        }
    }
    seen
}

/// A time as the wire has it.
pub(super) fn rfc3339(at: TimeMs) -> String {
    let (days, ms) = (at.div_euclid(86_400_000), at.rem_euclid(86_400_000));
    // Civil from days, by Howard Hinnant: https://howardhinnant.github.io/date_algorithms.html
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let ms = ms % 1_000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}
