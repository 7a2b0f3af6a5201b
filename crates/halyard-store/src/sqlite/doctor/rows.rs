//! Whether the rows agree with each other, and whether each job that has not ended has somebody
//! who will act on it.

use std::collections::{BTreeMap, HashMap};

use halyard_core::job::{Name, State};
use halyard_core::limits;

use super::database::unreadable;
use super::faults::{FAULTS, Found};
use super::{Exam, Finding};
use crate::sqlite::counters::{self, ByQueue};
use crate::sqlite::rows::Columns;
use crate::sqlite::writer::Ran;
use crate::verbs::Counts;

/// Due jobs and lapsed leases are acted on within a second, but for a million that fall due at
/// once.
const ACTED_ON_MS: i64 = 60_000;
/// Counters that a finding names.
const COUNTERS_NAMED_MAX: usize = 5;

impl Exam {
    /// Everything about rows. A check that fails to read is a finding, and the others go on.
    pub(super) fn rows(&mut self, findings: &mut Vec<Finding>) {
        if let Err(error) = self.stamp(findings) {
            findings.push(unreadable("stamp", &error));
        }
        for (name, found) in [
            ("jobs", self.jobs()),
            ("orphans", self.orphans()),
            ("checkpoints", self.checkpoints()),
            ("keys", self.keys()),
            ("queues", self.queues()),
        ] {
            match found {
                Ok(found) => findings.extend(found),
                Err(error) => findings.push(unreadable(name, &error)),
            }
        }
    }

    /// One walk over all jobs: what is wrong with each, and whether the counters count them.
    fn jobs(&self) -> Ran<Vec<Finding>> {
        // One snapshot for both statements.
        let snapshot = self.connection.unchecked_transaction()?;
        let recorded = counters::load(&snapshot)?;
        let mut counted = ByQueue::new();
        let mut faults: HashMap<String, Found> = HashMap::new();
        let mut jobs = 0_u64;
        let mut statement = snapshot.prepare(include_str!("sql/jobs.sql"))?;
        let lease_end = self.now + limits::LEASE_MS_MAX + limits::OUTAGE_MS;
        let run_at = self.now + limits::RUN_AHEAD_MS_MAX + limits::DAY;
        let mut rows = statement.query((self.now, ACTED_ON_MS, lease_end, run_at))?;
        while let Some(row) = rows.next()? {
            let mut next = Columns::of(row);
            let (queue, task, state) = (next.name()?, next.name()?, next.state()?);
            count(&mut counted, &queue, &task, state);
            jobs += 1;
            let id = next.id()?;
            if let Some(fault) = next.next::<Option<String>>()? {
                faults.entry(fault).or_default().add(id);
            }
        }
        let mut findings = vec![self.counters(&recorded, &counted)];
        let before = findings.len();
        for (word, fault) in FAULTS {
            if let Some(found) = faults.get(word) {
                findings.push(fault.finding(found, self.served));
            }
        }
        if findings.len() == before {
            findings.push(Finding::ok("jobs", format!("{jobs} jobs, each as it should be")));
        }
        Ok(findings)
    }

    fn counters(&self, recorded: &ByQueue, counted: &ByQueue) -> Finding {
        let differences = differences(recorded, counted);
        if differences.is_empty() {
            return Finding::ok("counters", "the counters equal the jobs");
        }
        let more = if differences.len() > COUNTERS_NAMED_MAX { ", …" } else { "" };
        let named: Vec<String> = differences.into_iter().take(COUNTERS_NAMED_MAX).collect();
        Finding::error(
            "counters",
            format!("counters are not what the jobs are: {}{more}", named.join(", ")),
            "claims pass by what the counters do not show: stop the server, and run `halyard \
             doctor --data-dir … --repair`",
        )
    }

    fn orphans(&self) -> Ran<Vec<Finding>> {
        let mut findings = Vec::new();
        let mut statement = self.connection.prepare(include_str!("sql/orphans.sql"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, count): (String, i64) = (row.get(0)?, row.get(1)?);
            if count > 0 {
                findings.push(Finding::warn(
                    "orphans",
                    format!("rows of `{table}` belong to no job: {count}"),
                    "they take room and do no harm; somebody removed jobs with other means than \
                     Halyard's",
                ));
            }
        }
        let bodiless = self.found(include_str!("sql/bodiless.sql"))?;
        if bodiless.count > 0 {
            findings.push(Finding::error(
                "orphans",
                format!("{} without a payload", bodiless.shown()),
                "they can neither be shown nor run: restore a backup, or delete them from the \
                 table `jobs` while the server is stopped, and repair the counters",
            ));
        }
        if findings.is_empty() {
            findings
                .push(Finding::ok("orphans", "every row belongs to a job, every job has its own"));
        }
        Ok(findings)
    }

    fn checkpoints(&self) -> Ran<Vec<Finding>> {
        let found = self.found(include_str!("sql/miscounted.sql"))?;
        Ok(vec![match found.count {
            0 => Finding::ok("checkpoints", "every job has the checkpoints that it counts"),
            _ => Finding::error(
                "checkpoints",
                format!("{} with other checkpoints than counted", found.shown()),
                "progress was lost or made up: compare with a backup before they run again",
            ),
        }])
    }

    fn keys(&self) -> Ran<Vec<Finding>> {
        let found = self.found(include_str!("sql/keys_astray.sql"))?;
        Ok(vec![match found.count {
            0 => Finding::ok("keys", "every idempotency key and its job agree"),
            _ => Finding::error(
                "keys",
                format!("{} that disagree with the key they hold", found.shown()),
                "a create with such a key may make a second job: look at the jobs with `halyard \
                 jobs get`, and delete the wrong one",
            ),
        }])
    }

    fn queues(&self) -> Ran<Vec<Finding>> {
        let mut findings = Vec::new();
        let mut statement = self.connection.prepare(include_str!("sql/paused_with_work.sql"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (queue, jobs): (String, i64) = (row.get(0)?, row.get(1)?);
            findings.push(Finding::warn(
                "queues",
                format!("the queue {queue:?} is paused, with waiting jobs: {jobs}"),
                "let workers take them again with `halyard queues resume`",
            ));
        }
        if findings.is_empty() {
            findings.push(Finding::ok("queues", "no queue with waiting jobs is paused"));
        }
        Ok(findings)
    }

    /// The jobs that a statement finds.
    fn found(&self, sql: &str) -> Ran<Found> {
        let mut found = Found::default();
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            found.add(Columns::of(row).id()?);
        }
        Ok(found)
    }
}

fn count(counted: &mut ByQueue, queue: &Name, task: &Name, state: State) {
    let known = counted.get_mut(queue).and_then(|tasks| tasks.get_mut(task));
    let pair = match known {
        Some(pair) => pair,
        None => {
            counted.entry(Name::clone(queue)).or_default().entry(Name::clone(task)).or_default()
        }
    };
    if let Some(count) = pair.get_mut(usize::from(state.number())) {
        *count += 1;
    }
}

/// Every counter that is not what was counted, such as `"default" / "mail" queued: 3 and not 2`.
fn differences(recorded: &ByQueue, counted: &ByQueue) -> Vec<String> {
    let mut pairs: BTreeMap<(&Name, &Name), (Counts, Counts)> = BTreeMap::new();
    for (queue, tasks) in recorded {
        for (task, counts) in tasks {
            pairs.entry((queue, task)).or_default().0 = *counts;
        }
    }
    for (queue, tasks) in counted {
        for (task, counts) in tasks {
            pairs.entry((queue, task)).or_default().1 = *counts;
        }
    }
    let mut differences = Vec::new();
    for ((queue, task), (recorded, counted)) in pairs {
        for ((state, recorded), counted) in State::ALL.into_iter().zip(recorded).zip(counted) {
            if recorded != counted {
                let state = state.as_str();
                differences
                    .push(format!("{queue:?} / {task:?} {state}: {recorded} and not {counted}"));
            }
        }
    }
    differences
}
