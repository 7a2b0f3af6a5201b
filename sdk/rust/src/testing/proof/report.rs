//! What a proof has found.

use std::fmt;

use serde_json::Value;

use super::point::Point;
use super::running::End;
use super::ways::{Course, Way};
use super::{advice, difference};

/// What a proof has found. As text it is for people.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether every way left the world as the clean run did.
    pub ok: bool,
    /// In how many ways the handler was run.
    pub ways: usize,
    /// The points of the clean run, in order.
    pub points: Vec<String>,
    /// What is wrong, one for each effect, those with the shortest sequence first.
    pub findings: Vec<Finding>,
    /// What the proof could not try, and why.
    pub notes: Vec<String>,
}

/// One effect that is not as it should be, and the shortest way to see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind of way, such as `twice`, `killed` or `overlapping`; `clean` when the run without
    /// any fault did not end as it should, and nothing was proved.
    pub way: String,
    /// What was done, such as "run, killed at `charged`, run again".
    pub sequence: String,
    /// The member of the world that differs; `None` when it is the end that is wrong.
    pub effect: Option<String>,
    /// What the clean run left there.
    pub expected: Value,
    /// What this way left there.
    pub got: Value,
    /// What is wrong, in a sentence.
    pub message: String,
    /// How to mend it, when the runs show that.
    pub advice: Option<String>,
    /// How many other ways show it too.
    pub more: usize,
}

impl Report {
    /// Panics with the report, unless all is well.
    ///
    /// # Panics
    ///
    /// When there is a finding.
    #[track_caller]
    pub fn assert_idempotent(&self) {
        assert!(self.ok, "{self}");
    }

    fn write_notes(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.iter().try_for_each(|note| write!(formatter, "\nnote: {note}"))
    }
}

/// Collects what the ways show.
pub(super) struct Findings {
    clean: End,
    world: Value,
    ways: usize,
    points: Vec<String>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

impl Findings {
    /// With the clean run. One that ends otherwise than expected is a finding, and then nothing
    /// else is tried.
    pub(super) fn begin(clean: &Course, world: Value, expect_failure: bool) -> Self {
        let points = clean.first.iter().map(|point: &Point| point.to_string()).collect();
        let (clean_end, findings, notes) = (clean.end.clone(), Vec::new(), Vec::new());
        let mut findings = Self { clean: clean_end, world, ways: 1, points, findings, notes };
        match &clean.end {
            End::Completed if !expect_failure => {}
            End::Completed => findings.add_end(
                &Way::Clean,
                "the clean run completes, but was expected to fail, so nothing was proved".into(),
                Some(advice::ON_COMPLETED.into()),
            ),
            End::Failed(said) if expect_failure => {
                findings.notes.push(format!("the clean run failed, as expected: {said}"));
            }
            // A payload that does not fit, say: then nothing was done that could be done twice.
            End::Failed(said) => findings.add_end(
                &Way::Clean,
                format!("the clean run fails for good, so nothing was proved: {said}"),
                Some(advice::ON_FAILED.into()),
            ),
            End::Never(_) => findings.note_end(&Way::Clean, &clean.end),
        }
        findings
    }

    pub(super) fn nothing_proved(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Takes down what a way came to.
    pub(super) fn note(&mut self, way: &Way, course: &Course, world: &Value) {
        self.ways += 1;
        let as_clean = matches!(
            (&self.clean, &course.end),
            (End::Completed, End::Completed) | (End::Failed(_), End::Failed(_) | End::Completed)
        );
        if !as_clean {
            self.note_end(way, &course.end);
            // What such a run left undone says nothing more.
            return;
        }
        for differs in difference::all(&self.world, world) {
            let difference::Difference { effect, expected, got } = differs;
            let named = effect.as_ref().map(|effect| format!("`{effect}`"));
            let named = named.as_deref().unwrap_or("the world");
            let told = difference::told(named, &expected, &got);
            self.add(Finding {
                way: way.name().to_owned(),
                sequence: way.to_string(),
                effect: Some(effect.unwrap_or_else(|| "world".to_owned())),
                message: format!("{told}, after: {way}"),
                advice: advice::on_effect(way, course, &expected, &got),
                expected,
                got,
                more: 0,
            });
        }
    }

    fn note_end(&mut self, way: &Way, end: &End) {
        let said = match end {
            End::Completed => "completes, and the clean run fails",
            End::Failed(said) | End::Never(said) => said,
        };
        let never = if matches!(end, End::Never(_)) { "never completes" } else { "fails for good" };
        self.add_end(way, format!("{never}: {way}: {said}"), advice::on_never(way));
    }

    fn add_end(&mut self, way: &Way, message: String, advice: Option<String>) {
        self.add(Finding {
            way: way.name().to_owned(),
            sequence: way.to_string(),
            effect: None,
            expected: Value::Null,
            got: Value::Null,
            message,
            advice,
            more: 0,
        });
    }

    /// One finding for each effect: the first stands, the others are counted.
    fn add(&mut self, finding: Finding) {
        match self.findings.iter_mut().find(|first| first.effect == finding.effect) {
            Some(first) => first.more += 1,
            None => self.findings.push(finding),
        }
    }

    pub(super) fn report(self) -> Report {
        Report {
            ok: self.findings.is_empty(),
            ways: self.ways,
            points: self.points,
            findings: self.findings,
            notes: self.notes,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = match self.points.as_slice() {
            [] => "no points".to_owned(),
            [point] => format!("one point: {point}"),
            points => format!("{} points: {}", points.len(), points.join(", ")),
        };
        if self.ok {
            write!(formatter, "idempotent: run in {} ways, with {points}", self.ways)?;
            return self.write_notes(formatter);
        }
        if self.findings.first().is_some_and(|finding| finding.way == Way::Clean.name()) {
            write!(
                formatter,
                "nothing proved: one clean run, without any fault, did not end as it should, so \
                 no other way was tried; it passed {points}"
            )?;
        } else {
            let effects = if self.findings.len() == 1 { "effect" } else { "effects" };
            write!(
                formatter,
                "not idempotent: {} {effects} wrong, in {} ways to run it, with {points}",
                self.findings.len(),
                self.ways
            )?;
        }
        for (finding, number) in self.findings.iter().zip(1..) {
            write!(formatter, "\n\n{number}. {}", finding.message)?;
            match finding.more {
                0 => {}
                1 => write!(formatter, " (and 1 more way)")?,
                more => write!(formatter, " (and {more} more ways)")?,
            }
            if finding.effect.is_some() {
                write!(formatter, "\n   expected: {}", finding.expected)?;
                write!(formatter, "\n   got:      {}", finding.got)?;
            }
            if let Some(advice) = &finding.advice {
                write!(formatter, "\n   advice:   {advice}")?;
            }
        }
        self.write_notes(formatter)
    }
}
