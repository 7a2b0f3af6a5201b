//! `halyard reference`: pages of the documentation that are made from the code, as they are
//! committed.
//!
//! | file | page |
//! |---|---|
//! | `commands` | every command and flag: `docs/reference/cli.md` |
//! | `api` | every call and shape: `docs/reference/api.md` |
//! | `limits` | every limit: `docs/reference/limits.md` |

mod api;
mod commands;
mod limits;

use std::io::Write;
use std::process::ExitCode;

use clap::ValueEnum;

/// Print a page of the reference, as it is committed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which page.
    #[arg(value_enum, default_value_t = Page::Commands)]
    page: Page,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Page {
    /// The command line.
    Commands,
    /// Every call and shape of the HTTP API.
    Api,
    /// Every limit.
    Limits,
}

/// Prints it.
///
/// # Errors
/// Standard output is closed.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text = match args.page {
        Page::Commands => commands::text(),
        Page::Api => api::text(),
        Page::Limits => limits::text(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
