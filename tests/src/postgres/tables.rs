//! Whether what lies in Halyard's tables agrees with itself.

use super::{Url, query};

/// What must give no row, and why.
const NOTHING: &[(&str, &str)] = &[
    (
        "the counters, summed over their slots, are the jobs (I34)",
        "WITH counted AS (SELECT queue, task, state, sum(jobs) AS jobs FROM halyard.counters
             GROUP BY queue, task, state HAVING sum(jobs) <> 0),
         there AS (SELECT queue, task, state, count(*) AS jobs FROM halyard.jobs
             GROUP BY queue, task, state)
         SELECT * FROM counted FULL JOIN there USING (queue, task, state)
         WHERE counted.jobs IS DISTINCT FROM there.jobs",
    ),
    (
        "each job has its body and each body its job",
        "SELECT seq FROM halyard.jobs FULL JOIN halyard.bodies USING (seq)
         WHERE jobs.id IS DISTINCT FROM bodies.id",
    ),
    (
        "results, attempts and checkpoints belong to jobs",
        "SELECT seq FROM (SELECT seq FROM halyard.results UNION SELECT seq FROM halyard.attempts
             UNION SELECT seq FROM halyard.checkpoints) AS kept
         WHERE NOT EXISTS (SELECT FROM halyard.jobs WHERE jobs.seq = kept.seq)",
    ),
    (
        "a job counts its checkpoints",
        "SELECT seq FROM halyard.jobs
         WHERE checkpoints <> (SELECT count(*) FROM halyard.checkpoints c WHERE c.seq = jobs.seq)",
    ),
    (
        "a key points at its job, which knows that it holds it",
        "SELECT key FROM halyard.keys LEFT JOIN halyard.jobs USING (seq)
         WHERE keys.seq IS NOT NULL AND (jobs.id, jobs.task, jobs.holds_key)
             IS DISTINCT FROM (keys.job_id, keys.task, true)",
    ),
    (
        "a job that holds a key is pointed at",
        "SELECT jobs.id FROM halyard.jobs LEFT JOIN halyard.keys USING (seq)
         WHERE jobs.holds_key AND keys.seq IS NULL",
    ),
    (
        "the totals are the sums of the minutes",
        "SELECT * FROM (SELECT sum(created) AS created, sum(completed) AS completed,
             sum(failed) AS failed FROM halyard.totals) AS totals,
         (SELECT sum(created) AS created, sum(completed) AS completed,
             sum(failed) AS failed FROM halyard.minutes) AS minutes
         WHERE (totals.created, totals.completed, totals.failed)
             IS DISTINCT FROM (minutes.created, minutes.completed, minutes.failed)",
    ),
];

/// Looks at the tables of a store in the schema `halyard` that nobody writes just now.
///
/// # Panics
///
/// When one of them says something else than another.
pub fn tables_are_sound(url: &Url) {
    for (rule, statement) in NOTHING {
        let found = query(url, statement).unwrap_or_else(|error| panic!("{rule}: {error:?}"));
        assert!(found.is_empty(), "not so: {rule}: {found:?}");
    }
}
