//! Worker processes: this test program, started again in the role of a worker.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use halyard::{HandlerError, HandlerResult, Job};
use halyard_tests::PATIENCE;
use halyard_tests::server::Server;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::work::{client, url};
use crate::{LEASE, poison, steps, until};

const ROLE: &str = "WORKER_ROLE";
const URL: &str = "WORKER_URL";
/// The folder that a worker shares with its test.
const FOLDER: &str = "WORKER_FOLDER";
/// What the words of a role begin with, among those of the test harness.
const SAYS: &str = "says: ";

/// A worker process, which ends with the test.
pub(crate) struct Process {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Process {
    /// Starts a worker in this role, see [`play`].
    pub(crate) fn start(server: &Server, role: &str, folder: &TempDir) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["process::worker_process", "--exact", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(URL, url(server))
            .env(FOLDER, folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (lines, shared) = (child.stdout.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                if let Some((_, words)) = line.split_once(SAYS) {
                    shared.lock().unwrap().push(words.to_owned());
                }
            }
        });
        Self { child, said }
    }

    /// Waits until it has said this, `times` times.
    pub(crate) async fn says(&self, words: &str, times: usize) {
        until(words, async || {
            let said = self.said.lock().unwrap();
            (said.iter().filter(|said| *said == words).count() >= times).then_some(())
        })
        .await;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let give_up = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < give_up, "the worker process does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says something to the test.
pub(crate) fn say(words: &str) {
    println!("{SAYS}{words}");
}

/// Adds a line to a file of the folder that worker and test share: it is there at once, and stays
/// when the process is killed.
pub(crate) fn note(file: &str, line: &str) {
    let path = PathBuf::from(std::env::var_os(FOLDER).unwrap()).join(file);
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// The lines of such a file.
pub(crate) fn notes(folder: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Plays the role of a worker in a process of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it is a worker process that the tests start"]
async fn worker_process() {
    let role = std::env::var(ROLE).unwrap();
    let played = role.clone();
    let worker = client(&std::env::var(URL).unwrap())
        .worker()
        .queues(["q"])
        .task("t", move |job: Job| play(played.clone(), job))
        .concurrency(30)
        .lease(LEASE)
        .shutdown_timeout(Duration::from_secs(15))
        .build()
        .unwrap();
    worker.run().await.unwrap();
}

async fn play(role: String, job: Job) -> HandlerResult<String> {
    match role.as_str() {
        "poison" => poison::play(job).await,
        "charger" => steps::charge(job).await,
        "parallel" => steps::parallel(job).await,
        "sleeper" => {
            say("running");
            tokio::time::sleep(Duration::from_secs(job.payload()?)).await;
            Ok("slept".to_owned())
        }
        other => Err(HandlerError::from(format!("no such role: {other}"))),
    }
}
