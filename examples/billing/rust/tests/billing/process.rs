//! Programs that are started, stopped and killed. They end with the test.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two looks at something that is waited for.
const PAUSE: Duration = Duration::from_millis(20);

/// The server's binary, which is the provider's too.
pub(crate) fn halyard() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows where it is");
    let beside = test.ancestors().nth(2).expect("the folder of the build").join("halyard");
    let binary = std::env::var_os("HALYARD_BIN").map_or(beside, Into::into);
    assert!(binary.exists(), "no {binary:?}: make build, and HALYARD_BIN=target/release/halyard");
    binary
}

/// A running program.
pub(crate) struct Process(Child);

impl Process {
    /// Starts it, and gives it with the first line that it says.
    pub(crate) fn start(command: &mut Command) -> (Self, String) {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = Self(command.spawn().expect("the program can be started"));
        let stdout = process.0.stdout.take().expect("it is piped");
        let (say, said) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).lines();
            let _ = say.send(lines.next());
            // Somebody has to read what it says, or it waits for that.
            lines.for_each(drop);
        });
        let line = said.recv_timeout(PATIENCE).expect("a first line in time");
        (process, line.expect("a first line").expect("text"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        send(self.0.id(), signal);
    }

    /// Ends it with SIGKILL. When this returns, nothing of it runs any more.
    pub(crate) fn kill(mut self) {
        self.0.kill().expect("it is there");
        self.0.wait().expect("it has ended");
    }

    /// Waits for its own end.
    pub(crate) async fn end(mut self) -> ExitStatus {
        let mut status = None;
        let ended = async || {
            status = self.0.try_wait().expect("it is our child");
            status.is_some()
        };
        until("the program has ended", ended).await;
        status.expect("it has ended")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn send(process: u32, signal: Signal) {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("it is there");
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE, "waited too long: {what}");
        tokio::time::sleep(PAUSE).await;
    }
}
