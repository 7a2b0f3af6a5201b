//! `halyard jobs create`.

use std::io::{self, Read};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use halyard::{CreatedJob, Halyard, IfFailed, NewJob, Timestamp};
use serde_json::value::RawValue;

use super::super::failure::Failure;
use super::super::screen::{Screen, clean};
use super::super::span;
use super::wait;

/// What is larger is not read to its end; the server takes a payload of 1 MiB.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// Create a job, or find the one that its key already has.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard jobs create --task send-receipt --payload '{\"order\":17}'
  halyard jobs create --task charge --queue billing --key charge:sub_1:2026-11 --payload @sub_1.json
  halyard jobs create --task close-month --run-at 2026-12-01T00:00:00Z
  halyard jobs create --task resize --payload @- --wait=30s < image.json

With --wait the exit code is 0 if the job completed, 1 if it failed or was cancelled, and 5 if the
time was up.")]
pub(super) struct Args {
    /// What kind of work it is.
    #[arg(long, value_name = "NAME")]
    task: String,
    /// The queue it waits in [default: default].
    #[arg(long, value_name = "NAME")]
    queue: Option<String>,
    /// What its handler works on: JSON, @FILE, or - for standard input [default: null].
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// The idempotency key: one task and key is one job, however often this is called.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// What to do when the key's job has failed: return it, retry it, or replace it by a new one.
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(IfFailed::WORDS))]
    if_failed: Option<String>,
    /// In how long it is due, such as 90s, 5m or 2d.
    #[arg(long, value_name = "TIME", value_parser = span::parse, conflicts_with = "run_at",
        allow_hyphen_values = true)]
    delay: Option<Duration>,
    /// When it is due, such as 2026-12-01T08:00:00+01:00.
    #[arg(long, value_name = "WHEN", value_parser = timestamp)]
    run_at: Option<Timestamp>,
    /// -100 to 100, higher first [default: 0].
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    priority: Option<i64>,
    /// Attempts it may use, 1 to 100 [default: 20].
    #[arg(long, value_name = "NUMBER")]
    max_attempts: Option<u32>,
    /// How long one attempt may take [default: 15m].
    #[arg(long, value_name = "TIME", value_parser = span::parse, allow_hyphen_values = true)]
    timeout: Option<Duration>,
    /// A name to find it by; may be given several times.
    #[arg(long, value_name = "NAME")]
    tag: Vec<String>,
    /// Wait until the job has ended, or for so long, such as --wait=5m.
    #[arg(long, value_name = "TIME", value_parser = span::parse, num_args = 0..=1,
        require_equals = true, default_missing_value = "500d")]
    wait: Option<Duration>,
}

pub(super) async fn run(args: Args, client: Halyard, screen: Screen) -> anyhow::Result<ExitCode> {
    let wait = args.wait;
    let job = client.jobs().create(new_job(args)?).await?;
    let Some(wait) = wait else {
        if screen.is_json() {
            screen.json(&job)?;
        } else {
            screen.lines(&said(&job))?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    // Whatever becomes of the wait, the job is there: who calls this again would make a second.
    anstream::eprintln!("{}", said(&job));
    wait::until_ended(&client, &job.id, wait, &screen).await
}

/// What became of the create, in a line.
fn said(job: &CreatedJob) -> String {
    let id = clean(&job.id);
    let state = job.state;
    if job.purged {
        format!("{id} had this key, and is {state}; its record is gone, its key is not free yet")
    } else if job.revived {
        format!("{id} had this key and had failed: its life {} begins ({state})", job.life)
    } else if job.replayed {
        format!("{id} has this key already ({state}); nothing new was created")
    } else {
        format!("created {id} ({state})")
    }
}

fn new_job(args: Args) -> anyhow::Result<NewJob> {
    let mut job = NewJob::new(args.task);
    if let Some(queue) = args.queue {
        job = job.queue(queue);
    }
    if let Some(payload) = args.payload {
        job = job.payload(&read_payload(&payload)?);
    }
    if let Some(key) = args.key {
        job = job.idempotency_key(key);
    }
    if let Some(what) = args.if_failed.as_deref().and_then(IfFailed::from_word) {
        job = job.if_failed(what);
    }
    if let Some(delay) = args.delay {
        job = job.delay(delay);
    }
    if let Some(at) = args.run_at {
        job = job.run_at(at);
    }
    if let Some(priority) = args.priority {
        job = job.priority(priority);
    }
    if let Some(attempts) = args.max_attempts {
        job = job.max_attempts(attempts);
    }
    if let Some(timeout) = args.timeout {
        job = job.timeout(timeout);
    }
    Ok(args.tag.into_iter().fold(job, NewJob::tag))
}

/// Reads JSON, `@` and a file's name (`@-` too), or `-` for standard input. Its bytes stay as they
/// are.
///
/// # Errors
/// It cannot be read, or is no JSON.
pub(super) fn read_payload(given: &str) -> Result<Box<RawValue>, Failure> {
    let (what, text) = match given.strip_prefix('@').unwrap_or(given) {
        "-" => ("standard input".to_owned(), read(io::stdin())),
        path if given.starts_with('@') => (clean(path), std::fs::File::open(path).and_then(read)),
        json => ("--payload".to_owned(), Ok(json.to_owned())),
    };
    let text = text.map_err(|error| Failure::usage(format!("cannot read {what}: {error}")))?;
    RawValue::from_string(text.trim().to_owned()).map_err(|error| {
        let quotes = if given.starts_with(['@', '-']) {
            ""
        } else {
            "; a string needs its own quotes: --payload '\"text\"', a file's name an @"
        };
        Failure::usage(format!("{what} is not JSON: {error}{quotes}"))
    })
}

fn read(stream: impl Read) -> io::Result<String> {
    let mut text = String::new();
    if stream.take(INPUT_BYTES_MAX).read_to_string(&mut text)? as u64 == INPUT_BYTES_MAX {
        return Err(io::Error::other("it is much too large for a payload"));
    }
    Ok(text)
}

fn timestamp(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|fault| fault.to_string())
}
