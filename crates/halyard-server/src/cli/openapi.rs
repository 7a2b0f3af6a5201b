//! `halyard openapi`: prints the description of the API, as it is committed and served.

use std::io::Write;
use std::process::ExitCode;

/// Print the API's OpenAPI description.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Prints it.
///
/// # Errors
/// Standard output is closed.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    std::io::stdout().write_all(crate::http::openapi::text().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
