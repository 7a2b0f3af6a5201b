//! `halyard jobs list`.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use halyard::api::jobs::list::ListAnswer;
use halyard::{Halyard, JobSummary, ListJobs, Order, State, Timestamp};

use super::super::screen::{Cell, Colour, Screen, Table};
use super::super::span;
use super::show::ago;

/// Rows that the server gives at a time.
const PAGE_ROWS_MAX: u64 = 200;

/// List jobs, newest first.
///
/// Into a pipe, or with --json, it is one JSON document: {"data": […], "next_cursor": …,
/// "partial": …}, the server's pages joined. `next_cursor` is null at the end of the list.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard jobs list --state failed,retrying --queue billing
  halyard jobs list --task charge --key charge:sub_1:2026-11
  halyard jobs list --state failed --created-after 2h --all --json | jq -r '.data[].id'")]
pub(super) struct Args {
    /// Only jobs in these states, joined by commas.
    #[arg(long, value_name = "STATES", value_delimiter = ',',
        value_parser = PossibleValuesParser::new(State::WORDS))]
    state: Vec<String>,
    /// Only jobs of this queue.
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,
    /// Only jobs of this task.
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Only jobs with this tag.
    #[arg(long, value_name = "NAME")]
    tag: Option<String>,
    /// Only the job with this idempotency key; needs --task.
    #[arg(long, value_name = "KEY", requires = "task")]
    key: Option<String>,
    /// Only jobs created after this time, or within this span: 2026-11-29T08:00:00Z, or 2h.
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    created_after: Option<When>,
    /// Only jobs created before this time, or longer ago than this span.
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    created_before: Option<When>,
    /// By time of creation: asc for the oldest first.
    #[arg(long, value_name = "ORDER", value_parser = PossibleValuesParser::new(Order::WORDS))]
    order: Option<String>,
    /// How many to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 50,
        value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// List all of them.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Go on behind this place: the next_cursor of an earlier list with the same filters.
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// A time, or how long ago it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    At(Timestamp),
    Ago(i64),
}

impl When {
    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(span) = span::parse(text) {
            return Ok(Self::Ago(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)));
        }
        let wrong = |fault| format!("{fault}; or a span such as 90s, 5m, 2h or 7d");
        Timestamp::parse(text).map(Self::At).map_err(wrong)
    }

    fn on(self, now: i64) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(ms) => Timestamp::from_ms(now.saturating_sub(ms)),
        }
    }
}

pub(super) async fn run(args: Args, client: Halyard, screen: Screen) -> anyhow::Result<ExitCode> {
    let mut left = if args.all { u64::MAX } else { args.limit };
    let mut filter = filter(args, screen.now);
    let mut answer = if screen.is_json() { Answer::json(screen) } else { Answer::table(screen) };
    loop {
        filter.limit = Some(left.min(PAGE_ROWS_MAX));
        let Some(page) = client.jobs().list(filter.clone()).next_page().await? else { break };
        left = left.saturating_sub(page.data.len() as u64);
        answer.rows(&page.data)?;
        if left == 0 || page.next_cursor.is_none() {
            answer.end(&page)?;
            break;
        }
        // A page that ended early is not the last one, however empty.
        filter.cursor = page.next_cursor;
    }
    Ok(ExitCode::SUCCESS)
}

fn filter(args: Args, now: i64) -> ListJobs {
    ListJobs {
        state: args.state.iter().filter_map(|word| State::from_word(word)).collect(),
        queue: args.queue,
        task: args.task,
        tag: args.tag,
        idempotency_key: args.key,
        created_after: args.created_after.map(|when| when.on(now)),
        created_before: args.created_before.map(|when| when.on(now)),
        order: args.order.as_deref().and_then(Order::from_word),
        limit: None,
        cursor: args.cursor,
    }
}

/// A list on its way out: into a pipe as its pages come, onto a terminal at its end.
enum Answer {
    Json { screen: Screen, rows: u64 },
    Table { screen: Screen, rows: u64, table: Box<Table> },
}

impl Answer {
    fn json(screen: Screen) -> Self {
        Self::Json { screen, rows: 0 }
    }

    fn table(screen: Screen) -> Self {
        let headings = ["ID!", "TASK", "QUEUE", "STATE!", "TRY>", "CREATED!", "ERROR"];
        Self::Table { screen, rows: 0, table: Box::new(Table::new(&headings, screen.style)) }
    }

    fn rows(&mut self, jobs: &[JobSummary]) -> anyhow::Result<()> {
        match self {
            Self::Json { screen, rows } => {
                for job in jobs {
                    let before = if *rows == 0 { "{\"data\":[\n" } else { ",\n" };
                    *rows += 1;
                    screen.json_part(before, job)?;
                }
            }
            Self::Table { screen, rows, table } => {
                *rows += jobs.len() as u64;
                jobs.iter().for_each(|job| table.row(row(job, screen.now)));
            }
        }
        Ok(())
    }

    fn end(self, last: &ListAnswer) -> anyhow::Result<()> {
        match self {
            Self::Json { screen, rows } => {
                let before = if rows == 0 { "{\"data\":[" } else { "\n" };
                screen.json_part(&format!("{before}],\"next_cursor\":"), &last.next_cursor)?;
                screen.json_part(",\"partial\":", &last.partial)?;
                screen.lines("}")?;
            }
            Self::Table { screen, rows: 0, .. } => screen.lines("no jobs")?,
            Self::Table { screen, rows, table } => {
                screen.lines(&table.show())?;
                if last.next_cursor.is_some() {
                    let more = format!("{rows} jobs; there are more: --limit NUMBER, or --all");
                    screen.lines(&screen.style.paint(Colour::Faint, more))?;
                }
            }
        }
        Ok(())
    }
}

fn row(job: &JobSummary, now: i64) -> [Cell; 7] {
    let error = job.error.as_ref().map_or("", |error| &error.message);
    [
        Cell::new(&job.id),
        Cell::new(&job.task),
        Cell::new(&job.queue),
        Cell::new(job.state.as_str()).paint(Colour::of(job.state)),
        Cell::new(format!("{}/{}", job.attempt, job.max_attempts)),
        Cell::new(ago(job.created_at, now)),
        Cell::new(error),
    ]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, now, ms) in [
            ("2h", 10_000_000, Some(2_800_000)),
            ("0s", 5, Some(5)),
            ("1970-01-01T00:00:01Z", 9, Some(1_000)),
            ("1970-01-01T01:00:00+01:00", 9, Some(0)),
            ("yesterday", 9, None),
            ("1970-01-01", 9, None),
        ] {
            let found = When::parse(text).ok().map(|when| when.on(now).as_ms());
            assert_eq!(found, ms, "{text}");
        }
        let error = When::parse("1970-01-01T00:00:00").unwrap_err();
        assert!(error.contains("offset") && error.contains("2h"), "{error}");
    }
}
