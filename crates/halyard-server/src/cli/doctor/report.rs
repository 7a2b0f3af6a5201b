//! Findings for people, and as JSON.

use halyard_store::finding::{Finding, Level};
use serde::Serialize;

use super::super::screen::{Colour, Screen, Style, clean};

/// What was looked at, and what was found there.
pub(super) struct Subject {
    /// A directory or an address.
    pub(super) name: String,
    pub(super) findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Report<'s> {
    findings: Vec<Line<'s>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct Line<'s> {
    subject: &'s str,
    check: &'s str,
    level: &'s str,
    message: &'s str,
    advice: Option<&'s str>,
}

/// Prints what was found.
pub(super) fn print(subjects: &[Subject], screen: &Screen) -> std::io::Result<()> {
    if screen.is_json() {
        return screen.json(&document(subjects));
    }
    screen.lines(&page(subjects, screen.style))
}

fn document(subjects: &[Subject]) -> Report<'_> {
    let findings = subjects
        .iter()
        .flat_map(|subject| subject.findings.iter().map(|finding| (&*subject.name, finding)))
        .map(|(subject, finding)| Line {
            subject,
            check: finding.check,
            level: finding.level.as_str(),
            message: &finding.message,
            advice: finding.advice.as_deref(),
        })
        .collect();
    Report {
        findings,
        errors: count(subjects, Level::Error),
        warnings: count(subjects, Level::Warn),
    }
}

fn page(subjects: &[Subject], style: Style) -> String {
    let mut page = String::new();
    for subject in subjects {
        page.push_str(&style.paint(Colour::Bold, clean(&subject.name)));
        page.push('\n');
        for finding in &subject.findings {
            let level =
                style.paint(colour(finding.level), format_args!("{:<5}", finding.level.as_str()));
            let message = clean(&finding.message);
            page.push_str(&format!("  {level}  {:<11}  {message}\n", finding.check));
            if let Some(advice) = &finding.advice {
                page.push_str(&format!("                      → {}\n", clean(advice)));
            }
        }
    }
    let (errors, warnings) = (count(subjects, Level::Error), count(subjects, Level::Warn));
    let verdict = match (errors, warnings) {
        (0, 0) => style.paint(Colour::Green, "all is well"),
        (0, _) => style.paint(Colour::Yellow, format_args!("{warnings} to look at")),
        _ => style.paint(Colour::Red, format_args!("{errors} broken, {warnings} to look at")),
    };
    page.push_str(&verdict);
    page.push('\n');
    page
}

fn colour(level: Level) -> Colour {
    match level {
        Level::Ok => Colour::Green,
        Level::Warn => Colour::Yellow,
        Level::Error => Colour::Red,
    }
}

fn count(subjects: &[Subject], level: Level) -> usize {
    let findings = subjects.iter().flat_map(|subject| &subject.findings);
    findings.filter(|finding| finding.level == level).count()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    fn subjects() -> Vec<Subject> {
        vec![Subject {
            name: "./halyard-data\u{1b}[2J".to_owned(),
            findings: vec![
                Finding::ok("lock", "no server holds the directory"),
                Finding::warn("disk", "97.0 MiB free", "make room"),
                Finding::error("jobs", "1 job (job_1\u{202e}) broken", "restore a\nbackup"),
            ],
        }]
    }

    #[test]
    fn for_people() {
        assert_eq!(
            page(&subjects(), Style::default()),
            "./halyard-data\\u{1b}[2J
  ok     lock         no server holds the directory
  warn   disk         97.0 MiB free
                      → make room
  error  jobs         1 job (job_1\\u{202e}) broken
                      → restore a\\nbackup
1 broken, 1 to look at
"
        );
    }

    #[test]
    fn as_json() {
        let json = serde_json::to_value(document(&subjects())).unwrap();
        assert_eq!(json["errors"], 1);
        assert_eq!(json["warnings"], 1);
        let found = serde_json::json!({
            "subject": "./halyard-data\u{1b}[2J", "check": "disk", "level": "warn",
            "message": "97.0 MiB free", "advice": "make room",
        });
        assert_eq!(json["findings"][1], found);
    }
}
