//! `halyard move`: a store from SQLite to PostgreSQL, or back.
//!
//! One command and not two with a file between them: the file would hold every payload and every
//! token, would have to be kept from others, and could be half of a store. Data directory and
//! database have the names that `halyard serve` gives them.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use halyard_store::moving::{self, Contents, Moved};
use halyard_store::postgres;

use super::screen::{Cell, Screen, Table};

/// Move a store from SQLite to PostgreSQL, or back.
///
/// Everything goes along: jobs with their ids, numbers and places, leases and tokens, attempts,
/// checkpoints, results, keys, remembered requests, paused queues and totals. Stop every server
/// first. The target must be empty; the source is only read, and stays. What arrived is read again
/// and compared before it counts. A move that was broken off left nothing, and is started again.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  export HALYARD_DATABASE_URL='postgres://halyard:password@db.example.com/jobs'
  halyard move --data-dir /var/lib/halyard --to postgresql
  halyard move --data-dir /var/lib/halyard-new --to sqlite")]
pub struct Args {
    /// Where to: the other one is the source.
    #[arg(long, value_enum, value_name = "STORE")]
    to: Kind,
    /// Directory of the SQLite store; made when it is the target and not there.
    #[arg(long, env = "HALYARD_DATA_DIR", default_value = "./halyard-data", value_name = "PATH")]
    data_dir: PathBuf,
    /// The PostgreSQL database: postgres://user:password@host/name, with libpq's options behind a
    /// question mark. Better set by its variable: flags can be seen by others.
    #[arg(long, env = "HALYARD_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: String,
    /// The schema of the database; made when it is the target and not there.
    #[arg(long, env = "HALYARD_DATABASE_SCHEMA", default_value = postgres::SCHEMA_DEFAULT,
        value_name = "NAME")]
    database_schema: String,
    /// Print what was done as JSON, which is what a pipe gets anyway.
    #[arg(long)]
    json: bool,
}

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// The schema of the database.
    Postgresql,
    /// The data directory.
    Sqlite,
}

/// What is printed as JSON.
#[derive(serde::Serialize)]
struct Done {
    source: Side,
    target: Side,
}

/// One side, as it was read.
#[derive(serde::Serialize)]
struct Side {
    rows: serde_json::Map<String, serde_json::Value>,
    digest: String,
}

/// Moves.
///
/// # Errors
/// Nothing was moved.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(args.json);
    let shows_progress = std::io::stderr().is_terminal();
    let mut report = |table: &str, rows: u64| {
        if shows_progress {
            let _ = write!(std::io::stderr(), "\r{table}: {rows}\x1b[K");
        }
    };
    let options = postgres::Options {
        schema: args.database_schema.clone(),
        connections: 2,
        ..postgres::Options::of(&args.database_url)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let moved = runtime.block_on(async {
        match args.to {
            Kind::Postgresql => moving::to_postgres(&args.data_dir, &options, &mut report).await,
            Kind::Sqlite => moving::to_sqlite(&options, &args.data_dir, &mut report).await,
        }
    });
    if shows_progress {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    print(&moved?, &screen)?;
    Ok(ExitCode::SUCCESS)
}

fn print(moved: &Moved, screen: &Screen) -> std::io::Result<()> {
    let Moved { source, target } = moved;
    if screen.is_json() {
        return screen.json(&Done { source: side(source), target: side(target) });
    }
    let mut table = Table::new(&["TABLE!", "SOURCE>", "TARGET>"], screen.style);
    for ((name, ours), (_, theirs)) in source.rows.iter().zip(&target.rows) {
        table.row([name.to_string(), ours.to_string(), theirs.to_string()].map(Cell::new));
    }
    screen.lines(&format!(
        "{}\nsource {}\ntarget {}\nboth are the same; start servers on the new one only",
        table.show(),
        hex(source.digest),
        hex(target.digest),
    ))
}

fn side(contents: &Contents) -> Side {
    let rows = contents.rows.iter().map(|(name, rows)| ((*name).to_owned(), (*rows).into()));
    Side { rows: rows.collect(), digest: hex(contents.digest) }
}

fn hex(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
