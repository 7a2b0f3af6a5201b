//! Runs the binary as a person or a script would.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use halyard_tests::server::{Server, binary};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::Value;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// The one JSON document that it printed, with exit code 0.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Asserts that it ended with this code and said all of these words.
    #[track_caller]
    pub(crate) fn failed(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {}", self.err);
        }
    }
}

/// The binary with these arguments and nothing of Halyard in its environment.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("HALYARD_") || name == "NO_COLOR" {
            command.env_remove(&*name);
        }
    }
    command.args(arguments).env("TERM", "xterm");
    command
}

/// The binary, with this server as the one that it speaks to.
pub(crate) fn command_to(server: &Server, arguments: &[&str]) -> Command {
    let mut command = command(arguments);
    command.env("HALYARD_URL", format!("http://{}", server.address()));
    command
}

/// Runs it into pipes.
pub(crate) fn run(mut command: Command) -> Done {
    let output = command.stdin(Stdio::null()).output().expect("the binary can be started");
    Done {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs `halyard` against this server, into pipes.
pub(crate) fn halyard(server: &Server, arguments: &[&str]) -> Done {
    run(command_to(server, arguments))
}

/// Runs it with this on standard input.
pub(crate) fn run_with_input(mut command: Command, input: &str) -> Done {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary can be started");
    // A child that reads nothing may be gone already.
    let _ = child.stdin.take().expect("stdin is piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    Done {
        code: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs it on a terminal of its own, of 120 columns; what it wrote there, with plain line breaks.
pub(crate) fn run_on_terminal(mut command: Command) -> Done {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&terminal).expect("a pseudo-terminal");
    unlockpt(&terminal).expect("a pseudo-terminal");
    let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal, size).expect("a pseudo-terminal");
    let name = ptsname(&terminal, Vec::new()).expect("its name");
    let side = || {
        let path = name.to_str().expect("a path");
        let file = File::options().read(true).write(true).open(path).expect("the other side");
        Stdio::from(OwnedFd::from(file))
    };
    command.stdin(Stdio::null()).stdout(side()).stderr(side());
    let mut child = command.spawn().expect("the binary can be started");
    // With it go our own handles of the other side; then the end of the child ends the reading.
    drop(command);
    let mut terminal = File::from(terminal);
    let mut written = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = terminal.read(&mut piece) {
        written.extend_from_slice(&piece[..length]);
    }
    let status = child.wait().expect("it ends");
    let out = String::from_utf8(written).expect("UTF-8").replace("\r\n", "\n");
    Done { code: status.code().expect("it ends by itself"), out, err: String::new() }
}

/// Runs `halyard` against this server, on a terminal.
pub(crate) fn on_terminal(server: &Server, arguments: &[&str]) -> Done {
    run_on_terminal(command_to(server, arguments))
}
