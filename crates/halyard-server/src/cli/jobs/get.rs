//! `halyard jobs get`.

use std::process::ExitCode;
use std::time::Duration;

use halyard::Halyard;

use super::super::screen::Screen;
use super::super::span;
use super::{show, wait};

/// Show a job: what it is, its checkpoints, and its newest 100 attempts.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The job.
    #[arg(value_name = "ID")]
    id: String,
    /// Wait until the job has ended, or for so long, such as --wait=5m; with exit code 0 if it
    /// completed, 1 if it failed or was cancelled, and 5 if the time was up.
    #[arg(long, value_name = "TIME", value_parser = span::parse, num_args = 0..=1,
        require_equals = true, default_missing_value = "500d")]
    wait: Option<Duration>,
}

pub(super) async fn run(args: Args, client: Halyard, screen: Screen) -> anyhow::Result<ExitCode> {
    if let Some(wait) = args.wait {
        // A job that nobody finds is not waited for.
        client.jobs().get(&args.id).await?;
        return wait::until_ended(&client, &args.id, wait, &screen).await;
    }
    let job = client.jobs().get(&args.id).await?;
    show::print(&job, &screen)?;
    Ok(ExitCode::SUCCESS)
}
