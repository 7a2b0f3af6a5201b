//! `halyard doctor`: is all well, in a data directory and at a running server?
//!
//! | file | what |
//! |---|---|
//! | `server` | asks a running server, as anybody could |
//! | `report` | findings for people, and as JSON |
//!
//! What a data directory is asked stands in [`halyard_store::sqlite::doctor`], and what a database
//! is asked in [`halyard_store::postgres::doctor`].

mod report;
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use halyard_store::finding::{Finding, Level};
use halyard_store::postgres;
use halyard_store::sqlite::doctor::{self, Depth};

use self::report::Subject;
use super::failure::Failure;
use super::remote::Remote;
use super::screen::{Screen, clean};

const DATA_DIR: &str = "./halyard-data";

/// Look whether all is well: in a data directory or database, and at a running server.
///
/// Without --data-dir, --database-url and --url it looks at ./halyard-data and at
/// http://127.0.0.1:7373, as far as they are there. With --data-dir or --database-url it looks at a
/// server only if --url is given too: HALYARD_URL does not count then. A data directory or database
/// is only read, and may be served meanwhile. The exit code is 1 if anything is broken, and 0 if
/// somebody should merely look.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard doctor
  halyard doctor --data-dir /var/lib/halyard --full
  halyard doctor --database-url postgres://halyard@db.example/jobs
  halyard doctor --url https://halyard.example --json | jq '.findings[] | select(.level != \"ok\")'")]
pub struct Args {
    /// Directory of a SQLite store [env: HALYARD_DATA_DIR].
    #[arg(long, value_name = "PATH")]
    data_dir: Option<PathBuf>,
    /// A PostgreSQL database that holds jobs [env: HALYARD_DATABASE_URL]. Better set by its
    /// variable if it holds a password: flags can be seen by others.
    #[arg(long, value_name = "URL", conflicts_with = "data_dir")]
    database_url: Option<String>,
    /// The schema of the database that holds the jobs.
    #[arg(long, env = "HALYARD_DATABASE_SCHEMA", default_value = postgres::SCHEMA_DEFAULT,
        value_name = "NAME")]
    database_schema: String,
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
    // What a flag names is looked at alone, whatever else a variable names.
    let by_flag = args.data_dir.is_some() || args.database_url.is_some();
    let named = if by_flag { args.remote.is_named_by_flag() } else { args.remote.url().is_some() };
    let database = args.database_url.or_else(|| {
        std::env::var("HALYARD_DATABASE_URL").ok().filter(|url| !by_flag && !url.is_empty())
    });
    let variable = variable.filter(|_| database.is_none());
    let given = args.data_dir.or_else(|| variable.map(PathBuf::from));
    let only_server = given.is_none() && (named || database.is_some());
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
    if let Some(url) = &database {
        subjects.push(in_database(url, args.database_schema)?);
    }
    // A data directory or database alone does not ask for a server that happens to run here.
    if named || (given.is_none() && !by_flag) {
        subjects.extend(at_server(&args.remote, named)?);
    }
    if subjects.is_empty() {
        let message = format!(
            "nothing to look at: there is no {DATA_DIR} here, and no server at {}; name them with \
             --data-dir, --database-url and --url",
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

fn in_database(url: &str, schema: String) -> anyhow::Result<Subject> {
    let options = postgres::Options { schema, ..postgres::Options::of(url) };
    let name = postgres::doctor::place(&options).map_err(Failure::usage)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let findings = runtime.block_on(postgres::doctor::examine(&options));
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
