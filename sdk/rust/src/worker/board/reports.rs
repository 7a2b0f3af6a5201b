//! What is still to be reported: everything that has gathered goes with the next request, again
//! and again until there is a final answer.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use halyard_api::jobs::finish::{FailureText, FinishResult, FinishStatus, Report};
use halyard_api::state::{Outcome, State};

use crate::retry;

use super::streak::Streak;
use super::{Slot, Trouble};

/// Reports in one request.
const REPORTS_MAX: usize = 1_000;
/// Bytes of results and errors in one request.
const BYTES_MAX: usize = 8 * 1024 * 1024;
/// The pause after a request that was refused for a reason that is not in the reports.
const PAUSE_REFUSED: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Reports {
    waiting: VecDeque<Pending>,
    under_way: Vec<Pending>,
    streak: Streak,
    not_before: Option<Instant>,
}

#[derive(Debug)]
struct Pending {
    slot: Slot,
    report: Report,
    /// It was in a request that was refused as a whole, so it is sent alone.
    alone: bool,
    /// Its text was taken out, because it was refused alone.
    reduced: bool,
}

/// What a failed request leads to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Refused {
    /// Starts whose report cannot be brought into any form that is taken.
    pub(super) dropped: Vec<Slot>,
    /// Whether to tell of it.
    pub(super) tell: bool,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Ok,
    /// Nobody takes it any more.
    Lost,
    /// The server did not keep the result, and the job has failed of that.
    Refused,
    /// It was of a failure, and the job had been completed.
    Completed,
}

impl Reports {
    pub(super) fn push(&mut self, slot: Slot, report: Report) {
        self.waiting.push_back(Pending { slot, report, alone: false, reduced: false });
    }

    /// The reports to send now.
    pub(super) fn next(&mut self, now: Instant) -> Option<Vec<Report>> {
        if !self.under_way.is_empty() || self.not_before.is_some_and(|at| now < at) {
            return None;
        }
        self.not_before = None;
        let mut bytes = 0;
        while let Some(next) = self.waiting.front() {
            bytes += size(&next.report);
            let fits = self.under_way.len() < REPORTS_MAX && bytes <= BYTES_MAX && !next.alone;
            if !fits && !self.under_way.is_empty() {
                break;
            }
            let alone = next.alone;
            self.under_way.extend(self.waiting.pop_front());
            if alone {
                break;
            }
        }
        let reports: Vec<Report> = self.under_way.iter().map(|p| p.report.clone()).collect();
        (!reports.is_empty()).then_some(reports)
    }

    /// Takes in the results, which are in the order of the request, whatever they say: they are
    /// final. What got no result goes again.
    pub(super) fn answered(
        &mut self,
        now: Instant,
        results: Vec<FinishResult>,
    ) -> Vec<(Slot, Taken)> {
        self.streak.answered();
        let mut reported = std::mem::take(&mut self.under_way).into_iter();
        let taken = |(p, result): (Pending, FinishResult)| (p.slot, p.taken_as(&result));
        let settled = reported.by_ref().zip(results).map(taken).collect();
        for pending in reported.rev() {
            self.waiting.push_front(pending);
            self.not_before = Some(now + PAUSE_REFUSED);
        }
        settled
    }

    /// Takes in a failure of the whole request.
    pub(super) fn failed(&mut self, now: Instant, trouble: &Trouble, chance: f64) -> Refused {
        let tell = self.streak.failed(trouble);
        let mut failed = std::mem::take(&mut self.under_way);
        let in_the_reports = matches!(trouble.error.status(), Some(400 | 413));
        if in_the_reports && !trouble.temporary {
            let mut dropped = Vec::new();
            if let [only] = failed.as_mut_slice() {
                if only.reduced {
                    dropped.push(only.slot);
                    failed.clear();
                } else {
                    only.reduce(&trouble.error.to_string());
                }
            }
            for mut pending in failed.into_iter().rev() {
                pending.alone = true;
                self.waiting.push_front(pending);
            }
            return Refused { dropped, tell };
        }
        for pending in failed.into_iter().rev() {
            self.waiting.push_front(pending);
        }
        let pause = retry::pause(self.streak.failures(), trouble.retry_after, chance);
        let pause = if trouble.temporary { pause } else { pause.max(PAUSE_REFUSED) };
        self.not_before = Some(now + pause);
        Refused { dropped: Vec::new(), tell }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.not_before.filter(|_| !self.waiting.is_empty() && self.under_way.is_empty())
    }
}

impl Pending {
    /// How it was taken. After a repeat the job may have failed of something else by now.
    fn taken_as(&self, result: &FinishResult) -> Taken {
        let completed = self.report.outcome == Outcome::Completed;
        match result.status {
            FinishStatus::Ok => {
                let failed = result.state == Some(State::Failed) && !result.repeated;
                if completed && failed { Taken::Refused } else { Taken::Ok }
            }
            FinishStatus::Conflict
                if self.report.outcome == Outcome::Failed
                    && result.recorded_outcome == Some(Outcome::Completed) =>
            {
                Taken::Completed
            }
            FinishStatus::LeaseLost | FinishStatus::Conflict | FinishStatus::NotFound => {
                Taken::Lost
            }
        }
    }

    /// Takes out what the server may have refused: a result makes the job fail, an error keeps
    /// only its class.
    fn reduce(&mut self, why: &str) {
        self.reduced = true;
        let report = &self.report;
        let (id, token) = (report.id.clone(), report.token.clone());
        let text = |class: &str| FailureText {
            r#type: Some(class.to_owned()),
            message: Some(format!("the server refused the report: {why}")),
            stack: None,
        };
        self.report = match report.outcome {
            Outcome::Completed => Report::failed(id, token, text("InvalidResult"), false, None),
            Outcome::Failed => {
                let retryable = report.retryable.unwrap_or(true);
                Report::failed(id, token, text("Error"), retryable, report.retry_after_ms)
            }
            Outcome::Released | Outcome::Snoozed | Outcome::Cancelled => return,
        };
    }
}

/// About how many bytes a report takes.
fn size(report: &Report) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let error = report.error.as_ref().map_or(0, |error| {
        // A control character takes six bytes in JSON.
        6 * (length(&error.r#type) + length(&error.message) + length(&error.stack))
    });
    256 + report.result.as_ref().map_or(0, |result| result.get().len()) + error
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use halyard_api::jobs::finish::FinishStatus;
    use serde_json::value::RawValue;

    use super::*;
    use crate::problem;

    fn report(slot: Slot, bytes: usize) -> Report {
        let text = RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).expect("JSON");
        Report::completed(format!("job_{slot}"), format!("token_{slot}"), Some(text))
    }

    fn reports(sizes: &[usize]) -> Reports {
        let mut reports = Reports::default();
        for (slot, bytes) in (1..).zip(sizes) {
            reports.push(slot, report(slot, *bytes));
        }
        reports
    }

    fn ids(sent: Option<Vec<Report>>) -> Vec<String> {
        sent.unwrap_or_default().into_iter().map(|report| report.id).collect()
    }

    fn ok(id: &str) -> FinishResult {
        let id = id.to_owned();
        let (status, state, recorded_outcome) = (FinishStatus::Ok, None, None);
        FinishResult { id, status, state, repeated: false, recorded_outcome }
    }

    fn trouble(status: u16) -> Trouble {
        let error = problem::read(status, None, br#"{"code":"x","detail":"no"}"#);
        Trouble { error, temporary: retry::is_temporary(status), retry_after: None }
    }

    #[test]
    fn what_gathers_goes_together() {
        let now = Instant::now();
        let mut reports = reports(&[1, 1]);
        assert_eq!(ids(reports.next(now)), ["job_1", "job_2"]);
        reports.push(3, report(3, 1));
        assert_eq!(ids(reports.next(now)), [""; 0], "one request at a time");
        let settled = reports.answered(now, vec![ok("job_1"), ok("job_2")]);
        assert_eq!(settled.iter().map(|(slot, _)| *slot).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(ids(reports.next(now)), ["job_3"]);
        reports.answered(now, vec![ok("job_3")]);
        assert!(reports.is_empty());
    }

    #[test]
    fn large_reports_are_split() {
        let now = Instant::now();
        let mut reports = reports(&[BYTES_MAX / 2, BYTES_MAX / 2, BYTES_MAX * 2, 1]);
        let mut requests = Vec::new();
        while let Some(sent) = reports.next(now) {
            let results = sent.iter().map(|report| ok(&report.id)).collect();
            requests.push(sent.len());
            reports.answered(now, results);
        }
        assert_eq!(requests, [1, 1, 1, 1]);
    }

    #[test]
    fn trouble_of_the_server_repeats_the_same_reports() {
        let now = Instant::now();
        for (status, pause) in [(503, Duration::from_millis(50)), (401, PAUSE_REFUSED)] {
            let mut reports = reports(&[1, 1]);
            reports.next(now);
            assert!(reports.failed(now, &trouble(status), 0.0).tell);
            reports.push(3, report(3, 1));
            assert_eq!(reports.wake_at(), Some(now + pause), "{status}");
            assert_eq!(ids(reports.next(now)), [""; 0]);
            assert_eq!(ids(reports.next(now + pause)), ["job_1", "job_2", "job_3"]);
            assert!(!reports.failed(now, &trouble(status), 0.0).tell, "told once");
        }
    }

    #[test]
    fn a_report_that_is_refused_goes_alone_and_then_without_its_text() {
        let now = Instant::now();
        let mut reports = reports(&[1, 1]);
        reports.next(now);
        reports.failed(now, &trouble(413), 0.0);
        assert_eq!(ids(reports.next(now)), ["job_1"]);
        assert!(reports.failed(now, &trouble(413), 0.0).dropped.is_empty());
        let again = reports.next(now).unwrap_or_default();
        let [again] = again.as_slice() else { panic!("one report: {again:?}") };
        assert_eq!((again.outcome, again.retryable), (Outcome::Failed, Some(false)));
        assert_eq!(reports.failed(now, &trouble(400), 0.0).dropped, [1]);
        assert_eq!(ids(reports.next(now)), ["job_2"]);
        reports.answered(now, vec![ok("job_2")]);
        assert!(reports.is_empty());
    }

    #[test]
    fn a_short_answer_leaves_the_rest_waiting() {
        let now = Instant::now();
        let mut reports = reports(&[1, 1, 1]);
        reports.next(now);
        assert_eq!(reports.answered(now, vec![ok("job_1")]).len(), 1);
        assert_eq!(ids(reports.next(now + PAUSE_REFUSED)), ["job_2", "job_3"]);
    }
}
