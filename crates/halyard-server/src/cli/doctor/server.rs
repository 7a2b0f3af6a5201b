//! Asks a running server, as anybody could: does it live, take work, and does somebody do it?

use std::time::SystemTime;

use halyard::api::queues::Queue;
use halyard::api::tasks::Task;
use halyard::{Error, Halyard, Health};
use halyard_store::finding::Finding;

use super::super::screen::counted;
use super::super::span::rough;

/// The check of a server that did not answer.
pub(super) const REACH: &str = "reach";

/// HTTP tells the time to the second; what is more than this apart is worth a look, since times of
/// producers and of the server are then compared in vain.
const CLOCK_MS_APART: i64 = 5_000;
/// A job that waits longer than this although somebody takes from its queue waits for long.
const WAITING_MS_LONG: i64 = 15 * 60_000;

/// Everything about a server. One that does not answer is a single finding.
pub(super) async fn examine(client: &Halyard) -> Vec<Finding> {
    let mut findings = Vec::new();
    let health = match client.health().await {
        Ok(health) => health,
        Err(error) => return vec![away(&error)],
    };
    findings.push(ready(&health));
    findings.extend(health.date.map(|date| clock(ms(date), ms(SystemTime::now()))));
    match client.version().await {
        Ok(version) => findings.push(versions(&version.version, env!("CARGO_PKG_VERSION"))),
        Err(error) => findings.push(refused("version", &error)),
    }
    match client.queues().list().await {
        Ok(list) => findings.extend(queues(&list, ms(SystemTime::now()))),
        Err(error) => findings.push(refused("queues", &error)),
    }
    match client.tasks().await {
        Ok(list) => findings.extend(tasks(&list)),
        Err(error) => findings.push(refused("tasks", &error)),
    }
    findings
}

fn away(error: &Error) -> Finding {
    let advice = match error {
        Error::Connection(_) => "start it with `halyard serve`, or say where it is with --url",
        _ => "something else listens there: say where the server is with --url",
    };
    Finding::error(REACH, error.to_string(), advice)
}

fn refused(check: &'static str, error: &Error) -> Finding {
    let advice = match error.status() {
        Some(401 | 403) => "give the server's key with HALYARD_API_KEY, or with --api-key",
        _ => "look at the server's log",
    };
    Finding::error(check, error.to_string(), advice)
}

fn ready(health: &Health) -> Finding {
    match &health.not_ready {
        None => Finding::ok("ready", "it lives and takes work"),
        Some(error) => Finding::error(
            "ready",
            format!("it takes no work: {error}"),
            "if it is not being stopped, look at its log and at its disk",
        ),
    }
}

fn clock(server: i64, here: i64) -> Finding {
    // The server cut its time to the second.
    let apart = match server - here {
        ahead @ 1.. => ahead,
        behind => (behind + 1_000).min(0),
    };
    if apart.abs() <= CLOCK_MS_APART {
        return Finding::ok("clock", "its clock and this one agree");
    }
    let side = if apart > 0 { "ahead of" } else { "behind" };
    Finding::warn(
        "clock",
        format!("its clock is {} {side} this one", rough(apart)),
        "let both machines follow a time server: `run_at` is judged by the server's clock, or its \
         database's",
    )
}

fn versions(server: &str, here: &str) -> Finding {
    if server == here {
        return Finding::ok("version", format!("it is Halyard {server}"));
    }
    Finding::warn(
        "version",
        format!("it is Halyard {server}, and this program {here}"),
        "use the program of the server's version for what this one cannot do",
    )
}

fn queues(queues: &[Queue], now: i64) -> Vec<Finding> {
    let mut findings = Vec::new();
    for queue in queues {
        let name = &queue.name;
        let waiting = counted(queue.counts.queued, "job");
        let oldest = queue.oldest_queued_at.map_or(0, |at| now.saturating_sub(at.as_ms()));
        let finding = match (queue.counts.queued, queue.paused, queue.workers) {
            (0, ..) => continue,
            (_, true, _) => Finding::warn(
                "queues",
                format!("the queue `{name}` is paused, with {waiting} in it"),
                format!("let workers take them with `halyard queues resume {name}`"),
            ),
            (_, false, 0) => Finding::warn(
                "queues",
                format!("no worker takes from the queue `{name}`, with {waiting} in it"),
                format!("start a worker that names the queue `{name}`"),
            ),
            _ if oldest > WAITING_MS_LONG => Finding::warn(
                "queues",
                format!(
                    "the queue `{name}` has {waiting}, the oldest waiting for {}",
                    rough(oldest)
                ),
                "its workers do not keep up: start more of them, or see whether they hang",
            ),
            _ => continue,
        };
        findings.push(finding);
    }
    if findings.is_empty() {
        findings.push(Finding::ok("queues", "no queue waits for somebody who is not there"));
    }
    findings
}

fn tasks(tasks: &[Task]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for task in tasks {
        let counts = task.counts;
        let open = counts.scheduled + counts.queued + counts.retrying;
        if open > 0 && task.workers == 0 {
            let (name, queues) = (&task.name, task.queues.join("`, `"));
            findings.push(Finding::warn(
                "tasks",
                format!("nobody handles the task `{name}`, with {}", counted(open, "open job")),
                format!("start a worker with a handler for `{name}`, for the queue `{queues}`"),
            ));
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("tasks", "somebody handles every task that has jobs to do"));
    }
    findings
}

fn ms(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use halyard::Timestamp;
    use halyard::api::job::Counts;
    use halyard_store::finding::Level;

    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    #[track_caller]
    fn check(findings: &[Finding], expected: &[&str]) {
        let bad: Vec<&str> = findings
            .iter()
            .filter(|finding| finding.level != Level::Ok)
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(bad, expected);
        assert!(!findings.is_empty(), "each check says something");
    }

    #[test]
    fn clocks() {
        for (server, expected) in [
            (NOW, None),
            (NOW + 5_000, None),
            (NOW - 6_000, None),
            (NOW + 61_000, Some("its clock is 1m ahead of this one")),
            (NOW - 3_601_000, Some("its clock is 1h behind this one")),
        ] {
            check(&[clock(server, NOW)], &expected.into_iter().collect::<Vec<_>>());
        }
    }

    fn queue(queued: u64, paused: bool, workers: u64, waiting_ms: i64) -> Queue {
        Queue {
            name: "q".to_owned(),
            paused,
            counts: Counts { queued, completed: 9, ..Counts::default() },
            oldest_queued_at: (queued > 0).then(|| Timestamp::from_ms(NOW - waiting_ms)),
            workers,
        }
    }

    #[test]
    fn queues_that_wait() {
        let long = 20 * 60_000;
        for (queue, expected) in [
            (queue(0, false, 0, 0), None),
            (queue(0, true, 0, 0), None),
            (queue(3, false, 1, 0), None),
            (queue(3, true, 1, 0), Some("the queue `q` is paused, with 3 jobs in it")),
            (queue(1, false, 0, 0), Some("no worker takes from the queue `q`, with 1 job in it")),
            (
                queue(3, false, 1, long),
                Some("the queue `q` has 3 jobs, the oldest waiting for 20m"),
            ),
        ] {
            check(&queues(&[queue], NOW), &expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn tasks_that_nobody_handles() {
        let task = |scheduled, completed, workers| Task {
            name: "t".to_owned(),
            queues: vec!["a".to_owned(), "b".to_owned()],
            counts: Counts { scheduled, completed, ..Counts::default() },
            workers,
        };
        check(&tasks(&[task(0, 5, 0), task(2, 0, 1)]), &[]);
        let found = tasks(&[task(2, 5, 0)]);
        check(&found, &["nobody handles the task `t`, with 2 open jobs"]);
        let advice = found.iter().find_map(|finding| finding.advice.as_deref());
        assert!(advice.is_some_and(|advice| advice.ends_with("the queue `a`, `b`")), "{advice:?}");
    }
}
