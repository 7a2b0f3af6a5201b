//! `halyard serve` as a child process: this program's own executable on a directory of the test, or
//! on a schema of a database.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use halyard_api::stats::Stats;
use rustix::process::{Pid, Signal, kill_process};

use super::connection::Connection;
use super::machine::{self, Memory};
use super::postgres::Schema;
use super::requests;

/// Longer than retention and keys last by default: nothing is pruned under a test, and the big
/// file can be used again next year.
const KEPT_MS: &str = "31536000000";
const KEPT_JOBS: &str = "1000000000";

/// A server takes so long to stop at most.
const STOP_MAX: Duration = Duration::from_secs(60);

/// A running server.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// Kept open: a server must not fail on a word that nobody reads.
    _output: BufReader<ChildStdout>,
    /// The database's first process, when it runs on this machine.
    database: Option<u32>,
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// From its start until it said where it listens.
    pub(super) came_up_in: Duration,
}

impl Server {
    /// Starts a server for `directory`, which need not exist: its data lies in a directory of its
    /// own there, beside what it logs.
    pub(super) fn start(directory: &Path) -> anyhow::Result<Self> {
        Self::spawn(directory, &[], None)
    }

    /// Starts a server whose jobs lie in `schema`; what it logs lies in `directory`.
    pub(super) fn on_postgres(directory: &Path, schema: &Schema) -> anyhow::Result<Self> {
        let place =
            [("HALYARD_DATABASE_URL", &*schema.url), ("HALYARD_DATABASE_SCHEMA", &*schema.name)];
        Self::spawn(directory, &place, schema.database_pid)
    }

    fn spawn(
        directory: &Path,
        place: &[(&str, &str)],
        database: Option<u32>,
    ) -> anyhow::Result<Self> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let log = directory.join("server.log");
        let mut command = Command::new(std::env::current_exe()?);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HALYARD_") {
                command.env_remove(name);
            }
        }
        let begun = Instant::now();
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data(directory))
            .env("HALYARD_RETENTION_COMPLETED_MS", KEPT_MS)
            .env("HALYARD_RETENTION_MAX_JOBS", KEPT_JOBS)
            .envs(place.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .context("cannot start the server")?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on http://");
        let Some(address) = address.and_then(|address| address.parse().ok()) else {
            // It has ended, or is of no use: either way what it logged says more.
            drop(child.kill());
            drop(child.wait());
            let log = fs::read_to_string(&log).unwrap_or_default();
            bail!("the server did not come up; it said: {line}{log}");
        };
        Ok(Self { child, _output: output, database, address, came_up_in: begun.elapsed() })
    }

    /// Its counters.
    pub(super) async fn stats(&self) -> anyhow::Result<Stats> {
        let mut connection = Connection::open(self.address).await?;
        let request = requests::get(self.address, "/v1/stats");
        let answer = connection.call(&request).await?;
        serde_json::from_slice(answer.of(200)?).context("/v1/stats cannot be read")
    }

    /// Processor time that it used so far.
    pub(super) fn cpu(&self) -> Option<Duration> {
        machine::cpu_of(self.child.id())
    }

    /// Processor time that its database used so far, for whomever.
    pub(super) fn database_cpu(&self) -> Option<Duration> {
        machine::cpu_of_family(self.database?)
    }

    /// Memory that it holds, and held at most.
    pub(super) fn memory(&self) -> Option<Memory> {
        Memory::of(self.child.id())
    }

    /// Stops it as an operator would, and waits until it has closed its file.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("the server has no process id")?, Signal::TERM)?;
        let until = Instant::now() + STOP_MAX;
        while self.child.try_wait()?.is_none() {
            if Instant::now() > until {
                bail!("the server did not stop within {STOP_MAX:?}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    /// A test that failed leaves no server behind.
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Where a server for `directory` keeps its data.
pub(super) fn data(directory: &Path) -> PathBuf {
    directory.join("data")
}

/// A directory of a test, removed with everything in it before and after.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// `halyard-bench-small` in `parent`: a name that nobody else has there.
    pub(super) fn new(parent: &Path) -> anyhow::Result<Self> {
        let path = parent.join("halyard-bench-small");
        remove(&path)?;
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.0) {
            anstream::eprintln!("bench: {error:#}");
        }
    }
}

/// Removes a directory that may be absent.
pub(super) fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
