//! The story's child processes: the server and the workers, each this same program.
//!
//! They end with the story: dropped, they are killed, and when this process is killed itself, their
//! standard input closes and [`follow_parent`] ends them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

use super::note::Note;

/// How long a process may take to say that it is there.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// A `halyard serve` on a directory of its own.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    url: String,
    /// Read on, so that the server never meets a closed pipe.
    _output: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Starts one on a free port. What it logs goes to the file `log`.
    pub(super) async fn start(directory: &Path, log: &Path) -> anyhow::Result<Self> {
        let mut command = this_program("serve")?;
        command.args(["--end-with-stdin", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(directory);
        command.stderr(std::fs::File::create(log)?);
        let mut child = command.spawn().context("cannot start the server")?;
        let mut lines = lines_of(&mut child)?;
        let first = tokio::time::timeout(START_TIMEOUT, lines.next_line()).await;
        let first = first.context("the server did not come up")??.unwrap_or_default();
        let url = first.strip_prefix("listening on ").map(str::to_owned);
        let url =
            url.ok_or_else(|| anyhow!("the server did not come up; see {}", log.display()))?;
        let rest = async move { while let Ok(Some(_)) = lines.next_line().await {} };
        Ok(Self { child, url, _output: tokio::spawn(rest) })
    }

    /// Where it listens: `http://127.0.0.1:41234`.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Ends it with SIGKILL: what it answered is on disk.
    pub(super) async fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill().await
    }
}

/// A worker process.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    pid: u32,
}

/// What a worker is told when it starts.
#[derive(Debug)]
pub(super) struct Orders {
    pub(super) server_url: String,
    pub(super) provider_url: String,
    pub(super) billing: PathBuf,
    pub(super) concurrency: usize,
    pub(super) die_at: Option<String>,
    pub(super) sabotage: Option<super::Sabotage>,
}

impl Worker {
    /// Starts one. The dialogue ends when it is dead.
    pub(super) fn start(orders: &Orders) -> anyhow::Result<(Self, Dialogue)> {
        let mut command = this_program("demo-worker")?;
        command.args(["--server", &orders.server_url, "--provider", &orders.provider_url]);
        command.arg("--billing").arg(&orders.billing);
        command.args(["--concurrency", &orders.concurrency.to_string()]);
        if let Some(point) = &orders.die_at {
            command.args(["--die-at", point]);
        }
        if let Some(sabotage) = orders.sabotage {
            command.args(["--sabotage", sabotage.name()]);
        }
        let mut child = command.spawn().context("cannot start a worker")?;
        let stdin = child.stdin.take().context("a process without an input")?;
        let dialogue = Dialogue { notes: lines_of(&mut child)?, stdin };
        let pid = child.id().context("a worker ended at once")?;
        Ok((Self { child, pid }, dialogue))
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends it with SIGKILL: nothing of it runs any more when this returns.
    pub(super) async fn kill(mut self) -> std::io::Result<()> {
        self.child.kill().await
    }
}

/// What is said between a worker and us.
#[derive(Debug)]
pub(super) struct Dialogue {
    notes: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
}

impl Dialogue {
    /// What the worker tells next; `None` once it is dead.
    pub(super) async fn next(&mut self) -> Option<Note> {
        let line = self.notes.next_line().await.ok().flatten()?;
        serde_json::from_str(&line).ok()
    }

    /// Lets a handler begin.
    pub(super) async fn go_on(&mut self) {
        // A worker that is dead needs no telling.
        let _ = self.stdin.write_all(b"\n").await;
        let _ = self.stdin.flush().await;
    }
}

/// Retries a job as a person does: `halyard jobs retry <id>`.
pub(super) async fn retry_by_hand(server_url: &str, job_id: &str) -> anyhow::Result<()> {
    let mut command = this_program("jobs")?;
    command.args(["retry", job_id]).env("HALYARD_URL", server_url).stderr(Stdio::piped());
    let done = command.output().await.context("cannot run `halyard jobs retry`")?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "`halyard jobs retry` ended with {}: {said}", done.status);
    Ok(())
}

/// Makes this process, a child of the story, end as soon as its standard input closes. Answers with
/// the other thing that comes from there: each [`Dialogue::go_on`].
pub(super) fn follow_parent() -> mpsc::UnboundedReceiver<()> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for byte in std::io::stdin().lock().bytes() {
            let _ = byte.map(|_| sender.send(()));
        }
        std::process::exit(0);
    });
    receiver
}

/// This program with another command. Settings of the caller's own server are not meant for it,
/// and the terminal's Ctrl-C only for us: a group of its own.
fn this_program(command: &str) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut process = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HALYARD_") {
            process.env_remove(name);
        }
    }
    process.arg(command).stdin(Stdio::piped()).stdout(Stdio::piped());
    process.kill_on_drop(true).process_group(0);
    Ok(process)
}

fn lines_of(child: &mut Child) -> anyhow::Result<Lines<BufReader<ChildStdout>>> {
    let stdout = child.stdout.take().context("a process without an output")?;
    Ok(BufReader::new(stdout).lines())
}
