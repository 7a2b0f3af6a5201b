//! `halyard jobs`: create jobs, look at them, act on them.
//!
//! | file | what |
//! |---|---|
//! | `create`, `list`, `get`, `retry` | the command of that name |
//! | `act` | the commands that only name a job: cancel, run-now, run-as-new, delete |
//! | `show` | one job for people |
//! | `wait` | waits for the end of a job, also over an outage of the server |
//! | `unreported` | what nobody knows of a start that ended without a report |
//!
//! Deliberately absent: actions on many jobs at once; `xargs` does that with the ids of a list.

mod act;
mod create;
mod get;
mod list;
mod retry;
mod show;
mod unreported;
mod wait;

use std::process::ExitCode;

use super::remote::Remote;

/// Create jobs, look at them, act on them.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard jobs create --task send-receipt --payload '{\"order\":17}'
  halyard jobs list --state failed --task send-receipt
  halyard jobs get job_01jdvw3k8pf5tvn2c7m9a0r4xq
  halyard jobs list --state failed --all | jq -r '.data[].id' | xargs -n1 halyard jobs retry")]
pub struct Args {
    #[command(flatten)]
    remote: Remote,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Create(Box<create::Args>),
    Get(get::Args),
    List(Box<list::Args>),
    Retry(retry::Args),
    Cancel(act::Cancel),
    RunNow(act::RunNow),
    RunAsNew(act::RunAsNew),
    Delete(act::Delete),
}

/// Does it.
///
/// # Errors
/// The server refuses or cannot be reached.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let remote = args.remote;
    match args.command {
        Command::Create(args) => remote.run(|client, screen| create::run(*args, client, screen)),
        Command::Get(args) => remote.run(|client, screen| get::run(args, client, screen)),
        Command::List(args) => remote.run(|client, screen| list::run(*args, client, screen)),
        Command::Retry(args) => remote.run(|client, screen| retry::run(args, client, screen)),
        Command::Cancel(args) => remote.run(|client, screen| act::cancel(args, client, screen)),
        Command::RunNow(args) => remote.run(|client, screen| act::run_now(args, client, screen)),
        Command::RunAsNew(args) => {
            remote.run(|client, screen| act::run_as_new(args, client, screen))
        }
        Command::Delete(args) => remote.run(|client, screen| act::delete(args, client, screen)),
    }
}
