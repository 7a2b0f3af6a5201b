//! `halyard doctor`: is all well, in a data directory and at a running server?
//!
//! | file | what |
//! |---|---|
//! | `server` | asks a running server, as anybody could |
//! | `report` | findings for people, and as JSON |
//!
//! What a data directory is asked stands in [`halyard_store::sqlite::doctor`].

mod report;
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use halyard_store::sqlite::doctor::{self, Depth, Finding, Level};

use self::report::Subject;
use super::failure::Failure;
use super::remote::Remote;
use super::screen::{Screen, clean};

const DATA_DIR: &str = "./halyard-data";

/// Look whether all is well: in a data directory, and at a running server.
///
/// Without --data-dir and --url it looks at ./halyard-data and at http://127.0.0.1:7373, as far as
/// they are there. With --data-dir it looks at a server only if --url is given too: HALYARD_URL
/// does not count then. A data directory is only read, and may be served meanwhile. The exit code
/// is 1 if anything is broken, and 0 if somebody should merely look.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard doctor
  halyard doctor --data-dir /var/lib/halyard --full
  halyard doctor --url https://halyard.example --json | jq '.findings[] | select(.level != \"ok\")'")]
pub struct Args {
    /// Directory of a SQLite store [env: HALYARD_DATA_DIR].
    #[arg(long, value_name = "PATH")]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    remote: Remote,
    /// Also compare every index with its table.
    #[arg(long)]
    full: bool,
    /// Count the counters of the data directory anew before looking. Nothing else is ever
    /// repaired, and no job is touched; the server must be stopped.
    #[arg(long)]
    repair: bool,
}

/// Looks.
///
/// # Errors
/// There is nothing to look at, or the repair was refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(args.remote.json);
    let variable = std::env::var_os("HALYARD_DATA_DIR").filter(|path| !path.is_empty());
    // A directory that a flag names is looked at alone, whatever server a variable names.
    let named = match args.data_dir {
        Some(_) => args.remote.is_named_by_flag(),
        None => args.remote.url().is_some(),
    };
    let given = args.data_dir.or_else(|| variable.map(PathBuf::from));
    let only_server = given.is_none() && named;
    let directory = match &given {
        Some(directory) => Some(directory.as_path()),
        None => Some(Path::new(DATA_DIR)).filter(|path| !only_server && path.exists()),
    };
    let mut subjects = Vec::new();
    if args.repair {
        let Some(directory) = directory else {
            return Err(Failure::usage("name the data directory to repair with --data-dir").into());
        };
        subjects.push(repaired(directory)?);
    }
    if let Some(directory) = directory {
        let depth = if args.full { Depth::Full } else { Depth::Quick };
        let findings = doctor::examine(directory, depth, screen.now);
        subjects.push(Subject { name: directory.display().to_string(), findings });
    }
    // A data directory alone does not ask for a server that happens to run here.
    if given.is_none() || named {
        subjects.extend(at_server(&args.remote, named)?);
    }
    if subjects.is_empty() {
        let message = format!(
            "nothing to look at: there is no {DATA_DIR} here, and no server at {}; name them with \
             --data-dir and --url",
            halyard::DEFAULT_URL
        );
        return Err(Failure::refused(message).into());
    }
    report::print(&subjects, &screen)?;
    let worst =
        subjects.iter().flat_map(|subject| &subject.findings).map(|found| found.level).max();
    Ok(if worst == Some(Level::Error) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn repaired(directory: &Path) -> anyhow::Result<Subject> {
    let name = directory.display().to_string();
    let counters = doctor::recount(directory)
        .map_err(|error| Failure::refused(clean(&format!("nothing was repaired: {error}"))))?;
    let findings = vec![Finding::ok("repair", format!("{counters} counters were counted anew"))];
    Ok(Subject { name, findings })
}

/// `None` when no server was named and none is there.
fn at_server(remote: &Remote, named: bool) -> anyhow::Result<Option<Subject>> {
    let client = remote.client()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let findings = runtime.block_on(server::examine(&client));
    let is_away = findings.iter().any(|finding| finding.check == server::REACH);
    if is_away && !named {
        return Ok(None);
    }
    Ok(Some(Subject { name: client.url().to_owned(), findings }))
}
