//! The commands that name a job and little else.

use std::process::ExitCode;

use halyard::{Halyard, State};

use super::super::screen::{Screen, clean};
use super::create;

/// Call a job off: one that waits at once, a running one by asking its worker to stop.
#[derive(Debug, clap::Args)]
pub(super) struct Cancel {
    /// The job.
    #[arg(value_name = "ID")]
    id: String,
}

/// Make a job that waits for its time claimable at once.
#[derive(Debug, clap::Args)]
pub(super) struct RunNow {
    /// The job.
    #[arg(value_name = "ID")]
    id: String,
}

/// Create the same work again as a new job, with a new id and no key.
///
/// Outside effects that are keyed by the old id will happen again. It is the way on after a
/// payment provider recorded a refusal under the old id: no charge succeeded there, and a new id
/// is judged anew.
#[derive(Debug, clap::Args)]
pub(super) struct RunAsNew {
    /// The job to run again.
    #[arg(value_name = "ID")]
    id: String,
    /// Another payload than the old job's: JSON, @FILE, or - for standard input.
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
}

/// Delete a job and all that is known of it. A running one has to be cancelled first.
///
/// Its idempotency key stays taken until it expires, unless the job never started. Prints nothing
/// into a pipe, as the server answers nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Delete {
    /// The job.
    #[arg(value_name = "ID")]
    id: String,
    /// Free its idempotency key too: the next create with that key makes a new job.
    #[arg(long)]
    forget_key: bool,
}

pub(super) async fn cancel(
    args: Cancel,
    client: Halyard,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let job = client.jobs().cancel(&args.id).await?;
    if screen.is_json() {
        screen.json(&job)?;
    } else if job.state == State::Cancelled {
        screen.lines(&format!("{} is cancelled", clean(&job.id)))?;
    } else {
        screen.lines(&format!(
            "{} is {}: its worker is asked to stop, with its next heartbeat",
            clean(&job.id),
            job.state
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn run_now(
    args: RunNow,
    client: Halyard,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let job = client.jobs().run_now(&args.id).await?;
    if screen.is_json() {
        screen.json(&job)?;
    } else {
        screen.lines(&format!("{} is {}", clean(&job.id), job.state))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn run_as_new(
    args: RunAsNew,
    client: Halyard,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let job = match args.payload {
        Some(payload) => {
            client.jobs().run_as_new_with(&args.id, &create::read_payload(&payload)?).await?
        }
        None => client.jobs().run_as_new(&args.id).await?,
    };
    if screen.is_json() {
        screen.json(&job)?;
    } else {
        screen.lines(&format!("created {} ({})", clean(&job.id), job.state))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn delete(
    args: Delete,
    client: Halyard,
    screen: Screen,
) -> anyhow::Result<ExitCode> {
    let id = clean(&args.id);
    if args.forget_key {
        client.jobs().delete_with_key(&args.id).await?;
    } else {
        client.jobs().delete(&args.id).await?;
    }
    if !screen.is_json() {
        screen.lines(&format!("deleted {id}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
