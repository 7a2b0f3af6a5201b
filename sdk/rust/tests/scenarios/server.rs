//! A `halyard serve` process on a directory of its own.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use halyard::Halyard;
use tempfile::TempDir;

/// A running server, which ends with the test.
pub(crate) struct Server {
    directory: TempDir,
    child: Child,
    /// `127.0.0.1:<port>`.
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let (child, address) = spawn(&directory, "127.0.0.1:0");
        Self { directory, child, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn client(&self) -> Halyard {
        client(&self.url())
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on the same directory and address.
    pub(crate) fn restart(&mut self) {
        self.kill();
        (self.child, self.address) = spawn(&self.directory, &self.address);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client that has patience for a busy machine.
pub(crate) fn client(url: &str) -> Halyard {
    let builder = Halyard::builder().url(url).retry_for(Duration::from_secs(30));
    builder.build().expect("a client")
}

fn spawn(directory: &TempDir, listen: &str) -> (Child, String) {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HALYARD_") {
            command.env_remove(name);
        }
    }
    command.args(["serve", "--listen", listen, "--data-dir"]).arg(directory.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line that says where it listens");
    let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| {
        panic!("the server began with {line:?}, not with where it listens");
    });
    let address = address.to_owned();
    // Somebody has to read what it says, or it waits for that.
    std::thread::spawn(move || lines.lines().for_each(drop));
    (child, address)
}

/// The binary under test: `HALYARD_BIN`, or the one that cargo built beside this test.
fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("HALYARD_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().expect("the test knows where it is");
    let beside = test.ancestors().nth(2).map(|folder| folder.join("halyard"));
    match beside {
        Some(path) if path.exists() => path,
        _ => panic!(
            "no server to run against: `cargo build -p halyard-server`, or \
             `make build` and HALYARD_BIN=target/release/halyard"
        ),
    }
}
