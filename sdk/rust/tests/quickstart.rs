//! The quickstart works as it is written: its programs are run.

#![expect(clippy::expect_used, reason = "a test that panics has failed")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A file that cargo builds beside this test.
fn built(path: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test knows where it is");
    test.ancestors().nth(2).expect("the folder of the build").join(path)
}

fn server() -> PathBuf {
    let beside = built("halyard");
    match std::env::var_os("HALYARD_BIN") {
        Some(path) => path.into(),
        None if beside.exists() => beside,
        None => panic!(
            "no server to run against: `cargo build -p halyard-server`, or \
             `make build` and HALYARD_BIN=target/release/halyard"
        ),
    }
}

/// Starts a program and reads its first line.
fn start(mut command: Command) -> (Running, BufReader<std::process::ChildStdout>, String) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = Running(command.spawn().expect("the program can be started"));
    let mut lines = BufReader::new(child.0.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a first line");
    (child, lines, line)
}

#[test]
fn the_programs_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serve = Command::new(server());
    serve.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(directory.path());
    let (_server, _, line) = start(serve);
    let url = line.trim().strip_prefix("listening on ").expect("where it listens").to_owned();
    let example = |name: &str| {
        let program = built("examples").join(name);
        assert!(program.exists(), "build the examples: cargo build -p halyard --examples");
        let mut command = Command::new(program);
        command.env("HALYARD_URL", &url).env_remove("HALYARD_API_KEY");
        command
    };
    let (mut worker, said, line) = start(example("billing_worker"));
    assert_eq!(line.trim(), "waiting for jobs; stop with Ctrl-C");
    let runs = [(); 2].map(|()| {
        let output = example("renewals").output().expect("the producer runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    });
    for (run, replayed) in runs.iter().zip([false, true]) {
        let lines: Vec<&str> = run.lines().collect();
        let [first, charged, second, _, closed] = lines.as_slice() else { panic!("{run}") };
        assert!(first.ends_with(&format!("replayed={replayed}")), "{run}");
        assert!(second.ends_with(&format!("replayed={replayed}")), "{run}");
        assert!(charged.starts_with(r#"sub_1: completed {"charge":"ch_job_"#), "{run}");
        assert_eq!(*closed, "close-month: completed invoices ledger");
    }
    kill_process(Pid::from_child(&worker.0), Signal::TERM).expect("the worker is there");
    let said: Vec<String> = said.lines().map(|line| line.expect("text")).collect();
    assert_eq!(
        said,
        [
            "charging sub_1 for 2026-11",
            "charging sub_2 for 2026-11",
            "finalizing the invoices of 2026-11",
            "posting 2026-11 to the ledger",
            "3 entries are in the ledger",
        ]
    );
    assert!(worker.0.wait().expect("the worker ends").success());
}
