//! Worker processes: this test program, started again in the role of a worker.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use halyard::{HandlerError, HandlerResult, Job};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::server::Server;
use crate::{PATIENCE, until};

const ROLE: &str = "SCENARIO_ROLE";
const URL: &str = "SCENARIO_URL";
/// The file whose appearance a handler waits for.
const GO: &str = "SCENARIO_GO";
/// What the words of a role begin with, among those of the test harness.
const SAYS: &str = "says: ";

/// A worker process, which ends with the test.
pub(crate) struct Process {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Process {
    /// Starts a worker in this role, see [`play`].
    pub(crate) fn start(server: &Server, role: &str, go: &Path) -> Self {
        let test = std::env::current_exe().expect("the test knows where it is");
        let mut child = Command::new(test)
            .args(["process::worker_process", "--exact", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(URL, server.url())
            .env(GO, go)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test can be started again");
        let said = Arc::new(Mutex::new(Vec::new()));
        let (lines, shared) = (child.stdout.take().expect("stdout is piped"), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                if let Some((_, words)) = line.split_once(SAYS) {
                    shared.lock().expect("words").push(words.to_owned());
                }
            }
        });
        Self { child, said }
    }

    /// What it has said so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().expect("words").clone()
    }

    /// Waits until it has said this, `times` times.
    pub(crate) async fn says(&self, words: &str, times: usize) {
        until(words, async || {
            let count = self.said().iter().filter(|said| *said == words).count();
            (count >= times).then_some(())
        })
        .await;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the process is there");
    }

    /// Stops it where it stands, until it is sent `CONT`. On a busy machine its threads go on for a
    /// while after the signal, and could still take a job.
    pub(crate) async fn freeze(&self) {
        self.signal(Signal::STOP);
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        until("all its threads stand still", async || {
            let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options);
            status.expect("a child").filter(|status| status.stopped()).map(|_| ())
        })
        .await;
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let give_up = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
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

/// Plays the role of a worker in a process of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it is a worker process that the scenarios start"]
async fn worker_process() {
    let role = std::env::var(ROLE).expect("the role of a worker");
    let played = role.clone();
    let brief = role == "brief";
    let halyard = crate::server::client(&std::env::var(URL).expect("a server"));
    let worker = halyard
        .worker()
        .queues(["q"])
        .task("t", move |job: Job| play(played.clone(), job))
        .concurrency(if brief || role == "late" { 1 } else { 10 })
        .lease(Duration::from_secs(5))
        .shutdown_timeout(Duration::from_secs(if role == "patient" { 60 } else { 2 }))
        .build()
        .expect("a worker");
    if brief {
        say("beginning");
    }
    worker.run().await.expect("a regular end");
}

fn say(words: &str) {
    println!("{SAYS}{words}");
}

async fn play(role: String, job: Job) -> HandlerResult<String> {
    match role.as_str() {
        "brief" => Ok("done".to_owned()),
        "month" => close_month(job).await,
        // The second one in a worker that waits for its handlers for a minute.
        "sleeper" | "patient" => {
            say("running");
            tokio::time::sleep(Duration::from_secs(job.payload()?)).await;
            Ok("slept".to_owned())
        }
        "idle" => {
            say(&format!("start {}", job.start()));
            Ok("done".to_owned())
        }
        "late" => come_late(job).await,
        "poison" => poison(job).await,
        other => Err(HandlerError::from(format!("no such role: {other}"))),
    }
}

/// Three parts; its first start does not come to the end of the third one.
async fn close_month(job: Job) -> HandlerResult<String> {
    say(&format!("saw {}", job.checkpoints().join(" ")));
    if !job.has_checkpoint("a") {
        say("work a");
        job.checkpoint("a").await?;
    }
    let value: u64 = job
        .step("b", async || {
            say("work b");
            HandlerResult::Ok(u64::from(std::process::id()))
        })
        .await?;
    say("work c");
    if job.start() == 1 {
        std::future::pending::<()>().await;
    }
    job.checkpoint("c").await?;
    Ok(value.to_string())
}

/// Ends the process when its payload says so; a neighbour waits for that, once.
async fn poison(job: Job) -> HandlerResult<String> {
    say("running");
    if job.payload()? {
        let go = std::env::var(GO).unwrap_or_default();
        while !Path::new(&go).exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::process::abort();
    }
    if job.start() == 1 {
        std::future::pending::<()>().await;
    }
    Ok("unharmed".to_owned())
}

/// Writes a checkpoint when it is told to go on, which is after its lease.
async fn come_late(job: Job) -> HandlerResult<String> {
    say("running");
    let go = std::env::var(GO).unwrap_or_default();
    while !Path::new(&go).exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    match job.checkpoint("late").await {
        Ok(()) => say("the checkpoint was taken"),
        Err(error) => say(&error.to_string()),
    }
    say(&format!("told that {}", job.signal().aborted().await));
    Ok("first".to_owned())
}
