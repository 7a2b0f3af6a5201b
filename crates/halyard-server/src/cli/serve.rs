//! `halyard serve`: every setting of a server is a flag and an environment variable. The flag wins
//! over the variable, the variable over the default.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::builder::{BoolishValueParser, RangedU64ValueParser};
use halyard_core::limits;
use halyard_core::retention::Retention;
use halyard_store::postgres;
use tokio::signal::unix::{SignalKind, signal};

use super::failure::Failure;
use super::place::{Place, Shared};
use crate::access::keyring::is_loopback;
use crate::access::secret::{KeyHash, key_id};
use crate::engine::Hints;
use crate::http::patience::Patience;
use crate::serve::logs::{self, LogFormat};
use crate::serve::{self, OpenToAll, Settings};

const MS_MIN: i64 = 1_000;

/// Run the server.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address and port to listen on; port 0 takes a free one.
    #[arg(long, env = "HALYARD_LISTEN", default_value = "127.0.0.1:7373", value_name = "ADDRESS")]
    listen: SocketAddr,
    #[command(flatten)]
    place: Place,
    /// Connections to the database at most, 2 to 1,000; one more listens.
    #[arg(long, env = "HALYARD_DATABASE_CONNECTIONS", value_name = "COUNT",
        default_value_t = postgres::CONNECTIONS_DEFAULT,
        value_parser = RangedU64ValueParser::<usize>::new().range(2..=1_000))]
    database_connections: usize,
    /// The key that every call must carry. Better set by its variable: flags can be seen by others.
    #[arg(
        long,
        env = "HALYARD_API_KEY",
        value_name = "KEY",
        hide_env_values = true,
        conflicts_with = "api_key_file"
    )]
    api_key: Option<String>,
    /// A file that holds the key.
    #[arg(long, env = "HALYARD_API_KEY_FILE", value_name = "PATH")]
    api_key_file: Option<PathBuf>,
    /// Further host names to answer to, joined by commas.
    #[arg(long, env = "HALYARD_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOSTS")]
    allowed_hosts: Vec<String>,
    /// Refuse every call that changes something.
    #[arg(long, env = "HALYARD_READ_ONLY", value_parser = BoolishValueParser::new())]
    read_only: bool,
    /// How long completed jobs are kept.
    #[arg(long, env = "HALYARD_RETENTION_COMPLETED_MS", value_name = "MS",
        default_value_t = limits::RETENTION_MS_DEFAULT,
        value_parser = clap::value_parser!(i64).range(MS_MIN..))]
    retention_completed_ms: i64,
    /// How long failed jobs are kept.
    #[arg(long, env = "HALYARD_RETENTION_FAILED_MS", value_name = "MS",
        default_value_t = limits::RETENTION_FAILED_MS_DEFAULT,
        value_parser = clap::value_parser!(i64).range(MS_MIN..))]
    retention_failed_ms: i64,
    /// How long cancelled jobs are kept.
    #[arg(long, env = "HALYARD_RETENTION_CANCELLED_MS", value_name = "MS",
        default_value_t = limits::RETENTION_MS_DEFAULT,
        value_parser = clap::value_parser!(i64).range(MS_MIN..))]
    retention_cancelled_ms: i64,
    /// How many ended jobs are kept; beyond that the oldest go first. No limit when left out.
    #[arg(long, env = "HALYARD_RETENTION_MAX_JOBS", value_name = "COUNT",
        value_parser = clap::value_parser!(u64).range(1..))]
    retention_max_jobs: Option<u64>,
    /// How long an idempotency key outlives its job's end, when a create does not say.
    #[arg(long, env = "HALYARD_IDEMPOTENCY_TTL_MS", value_name = "MS",
        default_value_t = limits::KEY_TTL_MS_DEFAULT,
        value_parser = clap::value_parser!(i64).range(MS_MIN..=limits::KEY_TTL_MS_MAX))]
    idempotency_ttl_ms: i64,
    /// How long a shutdown waits for running jobs.
    #[arg(long, env = "HALYARD_DRAIN_MS", value_name = "MS", default_value_t = 25_000)]
    drain_ms: u64,
    /// End at once when standard input ends: a parent that starts it so leaves no server behind,
    /// however it dies itself.
    #[arg(long, env = "HALYARD_END_WITH_STDIN", value_parser = BoolishValueParser::new())]
    end_with_stdin: bool,
    /// What to log: error, warn, info, debug or trace, or a filter: info,halyard_server=debug.
    #[arg(long, env = "HALYARD_LOG", default_value = "info", value_name = "FILTER")]
    log: String,
    /// How to log; text on a terminal and JSON otherwise when left out.
    #[arg(long, env = "HALYARD_LOG_FORMAT", value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

/// Serves until a signal says otherwise.
///
/// # Errors
/// The server could not start.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    logs::start(&args.log, args.log_format)?;
    let settings = settings(&args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve_until_told(args, settings))
}

async fn serve_until_told(args: Args, settings: Settings) -> anyhow::Result<ExitCode> {
    // Before anything can be waited for: a signal during the start counts too.
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    if args.end_with_stdin {
        end_with_stdin();
    }
    let may_be_open = settings.key.is_none() && !is_loopback(settings.listen.ip());
    if may_be_open && args.place.is_bare() {
        return Err(Failure::refused(open_to_all(&args)).into());
    }
    let hints = Hints::default();
    let options = halyard_store::options::Options {
        on_change: hints.listener(),
        on_claimable: hints.waker(),
        ..halyard_store::options::Options::default()
    };
    let shared =
        Shared { connections: args.database_connections, on_claimable_elsewhere: hints.poker() };
    let store = args.place.open(options, shared).await?;
    let running = serve::start(settings, store, hints)
        .await
        .map_err(|error| with_listen_hint(error, &args))?;
    {
        use io::Write;
        let mut out = io::stdout();
        writeln!(out, "listening on http://{}", running.address())?;
        out.flush()?;
    }
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    tracing::info!("told to stop: no new work is handed out, running jobs may end");
    tokio::select! {
        biased;
        _ = term.recv() => tracing::warn!("told to stop again: leaving at once"),
        _ = int.recv() => tracing::warn!("told to stop again: leaving at once"),
        () = running.drain(Duration::from_millis(args.drain_ms)) => tracing::info!("stopped"),
    }
    Ok(ExitCode::SUCCESS)
}

/// What was answered is on disk, and nobody is left to be waited for.
fn end_with_stdin() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
}

fn settings(args: &Args) -> anyhow::Result<Settings> {
    Ok(Settings {
        listen: args.listen,
        key: api_key(args)?.map(|key| KeyHash::of(key.as_bytes())),
        allowed_hosts: args
            .allowed_hosts
            .iter()
            .map(|host| host.trim().to_lowercase())
            .filter(|host| !host.is_empty())
            .collect(),
        read_only: args.read_only,
        key_ttl_ms: args.idempotency_ttl_ms,
        retention: Retention {
            completed_ms: args.retention_completed_ms,
            failed_ms: args.retention_failed_ms,
            cancelled_ms: args.retention_cancelled_ms,
            max_jobs: args.retention_max_jobs,
        },
        patience: Patience::default(),
    })
}

fn api_key(args: &Args) -> anyhow::Result<Option<String>> {
    let key = match (&args.api_key, &args.api_key_file) {
        (Some(key), _) => key.clone(),
        (None, Some(path)) => {
            warn_if_open(path);
            std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the key from {}", path.display()))?
        }
        (None, None) => return Ok(None),
    };
    let key = key.trim();
    ensure!(
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()),
        "the API key must be visible ASCII characters without spaces; it was empty or held others"
    );
    ensure!(
        key_id(key.as_bytes()).is_none(),
        "HALYARD_API_KEY or its file holds a key of a store, which would be an admin's here \
         whatever its role is, and after it was revoked; the store's keys count without that: \
         unset it, or make one of 32 random bytes"
    );
    Ok(Some(key.to_owned()))
}

/// A key that every user of the machine can read guards little.
fn warn_if_open(path: &Path) {
    let Ok(about) = std::fs::metadata(path) else { return };
    if about.is_file() && about.permissions().mode() & 0o004 != 0 {
        tracing::warn!(
            "every user of this machine can read the key in {path}; keep it with: chmod 600 {path}",
            path = path.display()
        );
    }
}

/// Says what to do about an address that another program has, or that everybody would reach.
fn with_listen_hint(error: anyhow::Error, args: &Args) -> anyhow::Error {
    let listen = args.listen;
    if error.downcast_ref::<OpenToAll>().is_some() {
        return Failure::refused(open_to_all(args)).into();
    }
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    if !causes.any(|cause| cause.kind() == io::ErrorKind::AddrInUse) {
        return error;
    }
    let port = listen.port();
    Failure::refused(format!(
        "cannot listen on {listen}: another program listens there\n  take another address with \
         --listen; `ss -ltnp 'sport = :{port}'` shows who has this one, and `halyard doctor --url \
         http://{listen}` says whether it is a Halyard server"
    ))
    .into()
}

fn open_to_all(args: &Args) -> String {
    let listen = args.listen;
    format!(
        "refusing to listen on {listen} without an API key: whoever reaches this port could read \
         and change every job\n\n\
         Either stay on this machine:\n\n    \
         halyard serve --listen 127.0.0.1:{port}\n\n\
         or make a key that every call must carry, and start again (--api-key-file brings one \
         that is not in the store):\n\n    \
         halyard keys create --name admin --role admin{place}\n",
        port = listen.port(),
        place = args.place.flags()
    )
}
