//! One job, for people: what it is, what it saved, and what became of each start.

use std::io;

use halyard::api::job::{Checkpoint, ErrorReport};
use halyard::api::state::AttemptState;
use halyard::{JobDetail, State, Timestamp};

use super::super::screen::{Cell, Colour, Screen, Style, Table, clean, clean_lines, counted};
use super::super::span::rough;
use super::unreported;

/// Characters of a payload or a result that are shown; `--json` shows all.
const VALUE_CHARS: usize = 2_000;
/// Characters of a checkpoint's value in its table.
const CELL_CHARS: usize = 60;

/// Prints a job.
pub(super) fn print(job: &JobDetail, screen: &Screen) -> io::Result<()> {
    if screen.is_json() {
        screen.json(job)
    } else {
        screen.lines(&page(job, screen.now, screen.style))
    }
}

/// A job as people see it. `now` in milliseconds since 1970.
fn page(job: &JobDetail, now: i64, style: Style) -> String {
    let mut page = Page { style, now, text: String::new() };
    page.head(job);
    page.field("task", &job.task);
    page.field("queue", &job.queue);
    page.numbers(job);
    page.times(job);
    page.key(job);
    if !job.tags.is_empty() {
        page.field("tags", &job.tags.join(", "));
    }
    for (name, value) in [
        ("traceparent", &job.traceparent),
        ("rerun of", &job.rerun_of),
        ("replaced by", &job.replaced_by),
    ] {
        if let Some(value) = value {
            page.field(name, value);
        }
    }
    for (name, value) in [("payload", &job.payload), ("result", &job.result)] {
        if let Some(value) = value {
            page.field(name, &cut(value.get(), VALUE_CHARS));
        }
    }
    if let Some(error) = &job.error {
        page.error(error);
    }
    page.checkpoints(&job.checkpoints);
    page.attempts(job);
    for attempt in &job.attempts {
        page.text.extend(
            unreported::note(attempt, &job.checkpoints)
                .map(|note| format!("{} {note}\n", style.paint(Colour::Yellow, "note:"))),
        );
    }
    page.text
}

struct Page {
    style: Style,
    now: i64,
    text: String,
}

impl Page {
    fn head(&mut self, job: &JobDetail) {
        let state = self.style.paint(Colour::of(job.state), job.state);
        let id = self.style.paint(Colour::Bold, clean(&job.id));
        let asked = if job.cancel_requested { ", asked to stop" } else { "" };
        self.text.push_str(&format!("{id}  {state}{asked}\n"));
    }

    /// A name and somebody's text, which may have several lines.
    fn field(&mut self, name: &str, value: &str) {
        let lines = clean_lines(value);
        for (line, place) in lines.lines().zip(0..) {
            let name = if place == 0 { name } else { "" };
            let name = self.style.paint(Colour::Faint, format_args!("{name:<12}"));
            self.text.push_str(&format!("{name} {line}\n"));
        }
    }

    fn numbers(&mut self, job: &JobDetail) {
        let mut attempts = format!("{} of {}", job.attempt, job.max_attempts);
        if job.life > 1 || job.starts != job.attempt {
            attempts.push_str(&format!(
                "; life {}, {} in all",
                job.life,
                counted(job.starts, "start")
            ));
        }
        if job.crashes > 0 {
            attempts
                .push_str(&format!("; {} of {} crashes in a row", job.crashes, job.max_crashes));
        }
        self.field("attempts", &attempts);
        if job.priority != 0 {
            self.field("priority", &job.priority.to_string());
        }
        if job.replays > 0 {
            let text =
                format!("answered to {} instead of a new job", counted(job.replays, "create"));
            self.field("replays", &text);
        }
        if job.rejected > 0 {
            let text = format!("{} with a stale token turned away", counted(job.rejected, "call"));
            self.field("rejected", &text);
        }
    }

    fn times(&mut self, job: &JobDetail) {
        self.field("created", &self.when(job.created_at));
        if matches!(job.state, State::Scheduled | State::Retrying) {
            self.field("due", &self.when(job.run_at));
        }
        if let Some(at) = job.started_at {
            self.field("started", &self.when(at));
        }
        if let Some(at) = job.finished_at {
            self.field("finished", &self.when(at));
        }
    }

    fn key(&mut self, job: &JobDetail) {
        let Some(key) = &job.idempotency_key else { return };
        match job.idempotency_expires_at {
            Some(at) => self.field("key", &format!("{key}  (until {})", self.when(at))),
            None => self.field("key", key),
        }
    }

    fn error(&mut self, error: &ErrorReport) {
        let what = format!("{}: {} ({})", error.r#type, error.message, error.kind);
        self.field("error", &what);
        if let Some(stack) = &error.stack {
            self.field("stack", &cut(stack, VALUE_CHARS));
        }
    }

    fn checkpoints(&mut self, checkpoints: &[Checkpoint]) {
        if checkpoints.is_empty() {
            return;
        }
        let mut table = Table::new(&["CHECKPOINT", "VALUE", "START>", "SAVED!"], self.style);
        for checkpoint in checkpoints {
            let value = checkpoint.value.as_ref().map_or("", |value| value.get());
            table.row([
                Cell::new(&checkpoint.name),
                Cell::new(cut(value, CELL_CHARS)),
                Cell::new(checkpoint.start.to_string()),
                Cell::new(self.ago(checkpoint.created_at)),
            ]);
        }
        self.text.push_str(&format!("\n{}", table.show()));
    }

    fn attempts(&mut self, job: &JobDetail) {
        if job.attempts.is_empty() {
            return;
        }
        let headings = ["START>", "LIFE>", "STATE!", "STARTED!", "TOOK>", "WORKER", "ERROR"];
        let mut table = Table::new(&headings, self.style);
        for attempt in &job.attempts {
            let took = attempt.finished_at.map(|end| end.as_ms() - attempt.started_at.as_ms());
            let error = attempt.error.as_ref().map(|error| &*error.message);
            table.row([
                Cell::new(attempt.start.to_string()),
                Cell::new(attempt.life.to_string()),
                Cell::new(attempt.state.as_str()).paint(colour(attempt.state)),
                Cell::new(self.ago(attempt.started_at)),
                Cell::new(took.map_or_else(String::new, rough)),
                Cell::new(&attempt.worker),
                Cell::new(error.unwrap_or_default()),
            ]);
        }
        self.text.push_str(&format!("\n{}", table.show()));
        let shown = job.attempts.len() as u64;
        if job.attempts_total > shown {
            let more = format!("{shown} of {} starts\n", job.attempts_total);
            self.text.push_str(&self.style.paint(Colour::Faint, more));
        }
    }

    /// A time with its distance from now.
    fn when(&self, at: Timestamp) -> String {
        format!("{at}  ({})", self.ago(at))
    }

    fn ago(&self, at: Timestamp) -> String {
        ago(at, self.now)
    }
}

/// How far a time is from now: `3m ago`, `in 2h`.
pub(super) fn ago(at: Timestamp, now: i64) -> String {
    match now.saturating_sub(at.as_ms()) {
        -999..=999 => "now".to_owned(),
        past @ 1.. => format!("{} ago", rough(past)),
        future => format!("in {}", rough(future)),
    }
}

fn colour(state: AttemptState) -> Option<Colour> {
    match state {
        AttemptState::Running => Some(Colour::Cyan),
        AttemptState::Completed => Some(Colour::Green),
        AttemptState::Failed | AttemptState::TimedOut | AttemptState::Lost => Some(Colour::Red),
        AttemptState::Released | AttemptState::Snoozed | AttemptState::Cancelled => {
            Some(Colour::Faint)
        }
    }
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-11-29T08:20:00.000Z";

    fn now() -> i64 {
        Timestamp::parse(NOW).unwrap().as_ms()
    }

    fn attempt(start: u64, state: &str) -> Value {
        json!({
            "id": "att_1", "life": 1, "attempt": start, "start": start, "state": state,
            "worker": "wrk_1", "queued_at": null, "started_at": "2026-11-29T08:16:00.000Z",
            "finished_at": "2026-11-29T08:17:05.000Z", "error": null, "retry_delay_ms": null,
            "retry_reason": null,
        })
    }

    fn checkpoint(name: &str, start: u64) -> Value {
        json!({
            "name": name, "value": {"id": "ch_1"}, "life": 1, "attempt": start, "start": start,
            "created_at": "2026-11-29T08:16:30.000Z",
        })
    }

    fn job() -> Value {
        json!({
            "id": "job_01jdvw3k8pf5tvn2c7m9a0r4xq", "task": "charge", "queue": "billing",
            "state": "retrying", "priority": 5, "tags": ["a", "b"], "traceparent": null,
            "idempotency_key": "charge:sub_1", "idempotency_expires_at": null, "replays": 3,
            "rejected": 1, "life": 1, "attempt": 2, "starts": 2, "max_attempts": 20, "crashes": 1,
            "max_crashes": 5, "timeout_ms": 900000, "cancel_requested": false,
            "error": {"type": "Lost", "message": "no report", "stack": null, "kind": "lost"},
            "replaced_by": null, "rerun_of": null, "created_at": "2026-11-29T08:15:00.000Z",
            "run_at": "2026-11-29T08:21:30.000Z", "started_at": "2026-11-29T08:16:00.000Z",
            "finished_at": null, "payload": {"n": 1.0}, "result": null,
            "backoff": {"initial_ms": 1, "factor": 2.0, "max_ms": 3, "jitter": 0.2},
            "checkpoints": [checkpoint("charged", 1)],
            "attempts": [attempt(2, "lost"), attempt(1, "failed")], "attempts_total": 7,
        })
    }

    fn shown(job: Value, style: Style) -> String {
        page(&serde_json::from_str(&job.to_string()).unwrap(), now(), style)
    }

    #[test]
    fn a_page() {
        assert_eq!(
            shown(job(), Style::default()),
            "job_01jdvw3k8pf5tvn2c7m9a0r4xq  retrying
task         charge
queue        billing
attempts     2 of 20; 1 of 5 crashes in a row
priority     5
replays      answered to 3 creates instead of a new job
rejected     1 call with a stale token turned away
created      2026-11-29T08:15:00.000Z  (5m ago)
due          2026-11-29T08:21:30.000Z  (in 1m)
started      2026-11-29T08:16:00.000Z  (4m ago)
key          charge:sub_1
tags         a, b
payload      {\"n\":1.0}
error        Lost: no report (lost)

CHECKPOINT  VALUE          START  SAVED
charged     {\"id\":\"ch_1\"}      1  3m ago

START  LIFE  STATE   STARTED  TOOK  WORKER  ERROR
    2     1  lost    4m ago     1m  wrk_1
    1     1  failed  4m ago     1m  wrk_1
2 of 7 starts
note: start 2 ended without a report: its effects after the checkpoint `charged` may have happened
"
        );
    }

    /// Every text of a job is set to what would do harm; none of it comes through.
    #[test]
    fn nothing_of_a_job_reaches_the_terminal_unescaped() {
        fn poison(value: &mut Value) {
            match value {
                Value::String(text) if Timestamp::parse(text).is_err() => {
                    text.push_str("\u{1b}[2J\r\u{9b}\u{202e}\u{7}");
                }
                Value::Array(items) => items.iter_mut().for_each(poison),
                Value::Object(members) => members
                    .iter_mut()
                    .filter(|(name, _)| !["state", "kind"].contains(&name.as_str()))
                    .for_each(|(_, value)| poison(value)),
                _ => {}
            }
        }
        let mut poisoned = job();
        for name in ["traceparent", "rerun_of", "replaced_by"] {
            poisoned[name] = json!("x");
        }
        poisoned["error"]["stack"] = json!("at a\n\tat b");
        poisoned["attempts"][0]["error"] = poisoned["error"].clone();
        poison(&mut poisoned);
        let text = shown(poisoned.clone(), Style::default());
        let harmful = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(harmful), "{text:?}");
        assert!(text.matches("\\u{1b}[2J").count() > 15, "{text}");
        // With colours there are escapes, all of them ours.
        let coloured = shown(poisoned, Style { colours: true });
        let ours = coloured.replace("\u{1b}[", "").matches("\u{1b}").count();
        assert_eq!(ours, 0, "{coloured:?}");
        assert!(!coloured.contains("\u{1b}[2J") && coloured.contains("\u{1b}[33m"), "{coloured:?}");
    }

    #[test]
    fn distances() {
        for (at, shown) in [(-90_000, "1m ago"), (-999, "now"), (999, "now"), (90_000, "in 1m")] {
            assert_eq!(ago(Timestamp::from_ms(now() + at), now()), shown);
        }
    }
}
