//! `halyard backup`: a copy of a data directory, also while a server serves it.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use halyard::Timestamp;
use halyard_store::sqlite::backup;

use super::screen::{Screen, clean};

/// Copy a data directory, also while a server serves it.
///
/// The copy is the store at one moment. It is checked and safe on the disk before it gets its
/// name, and it never overwrites anything. `halyard serve` can be started on it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard backup --data-dir /var/lib/halyard --to /backup/halyard-$(date +%F)/
  halyard serve --data-dir /backup/halyard-2026-11-29 --listen 127.0.0.1:7474")]
pub struct Args {
    /// Directory of the SQLite store.
    #[arg(long, env = "HALYARD_DATA_DIR", default_value = "./halyard-data", value_name = "PATH")]
    data_dir: PathBuf,
    /// The file to write; or a directory to make a data directory of, when it is there or ends
    /// with a slash.
    #[arg(long, value_name = "PATH")]
    to: PathBuf,
    /// Print what was done as JSON, which is what a pipe gets anyway.
    #[arg(long)]
    json: bool,
}

/// What is printed as JSON.
#[derive(serde::Serialize)]
struct Done {
    file: String,
    bytes: u64,
    as_of: Timestamp,
}

/// Makes the copy.
///
/// # Errors
/// It could not be made; nothing is left of it then.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(args.json);
    let shows_progress = std::io::stderr().is_terminal();
    let copied = backup::backup(&args.data_dir, &args.to, |done, all| {
        if shows_progress {
            let percent = done.saturating_mul(100).checked_div(all).unwrap_or(100);
            let end = if done == all { ", checking it\n" } else { "" };
            let _ = write!(std::io::stderr(), "\rcopied {percent} %{end}");
        }
    })?;
    let as_of = Timestamp::from_ms(copied.stamp);
    let file = copied.file.display().to_string();
    if screen.is_json() {
        screen.json(&Done { file, bytes: copied.bytes, as_of })?;
    } else {
        let size = copied.bytes;
        screen.lines(&format!("{}: {size} bytes, as of {as_of}", clean(&file)))?;
    }
    Ok(ExitCode::SUCCESS)
}
