//! A `halyard serve` process on a directory of its own.
//!
//! The binary is named by `HALYARD_BIN`; without it, it is the one that cargo built beside the
//! test. A server that a test started ends with the test, whichever way that ends.
//!
//! `HALYARD_TEST_STORE` says what a new server keeps its jobs in: a file in its directory, or with
//! `postgres` a database of its own, with `pgbouncer` one behind that.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tempfile::TempDir;

use crate::postgres::Database;
use crate::wire::Client;
use crate::{PATIENCE, until};

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Setup {
    listen: String,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
    /// The command that starts the binary, when it is not the test itself.
    starter: Vec<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}

impl Setup {
    /// The plain one: loopback, no key, all defaults.
    pub fn new() -> Self {
        let listen = "127.0.0.1:0".to_owned();
        Self { listen, environment: Vec::new(), arguments: Vec::new(), starter: Vec::new() }
    }

    /// Listens at another address.
    #[must_use]
    pub fn listen(mut self, address: &str) -> Self {
        self.listen = address.to_owned();
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a command-line argument to `serve`.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Lets another command start the binary, which must become it (`exec`): the process is the
    /// server's then.
    #[must_use]
    pub fn started_by(mut self, command: &[String]) -> Self {
        self.starter = command.to_vec();
        self
    }

    /// Starts a server with these settings on a new directory.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    pub fn start(self) -> Server {
        let directory = Arc::new(TempDir::new().expect("a temporary directory"));
        match Store::chosen() {
            Some(store) => {
                let server = self.on(&store).start_on(directory);
                Server { store: Some(store), ..server }
            }
            None => self.start_on(directory),
        }
    }

    fn on(self, store: &Store) -> Self {
        self.env("HALYARD_DATABASE_URL", &store.url)
    }

    /// Starts a server with these settings on this directory.
    ///
    /// # Panics
    ///
    /// When it does not come up; the message holds what it wrote.
    pub fn start_on(self, directory: Arc<TempDir>) -> Server {
        let process = Process::spawn(&self, directory.path());
        let address = process.address().unwrap_or_else(|| {
            panic!("the server did not say where it listens; it wrote:\n{}", process.log());
        });
        Server { setup: self, directory, address, process, store: None }
    }

    /// Starts `serve` on this directory without waiting for it to come up, for starts that are
    /// meant to fail or to be disturbed.
    pub fn spawn_on(&self, directory: &Path) -> Process {
        Process::spawn(self, directory)
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    setup: Setup,
    directory: Arc<TempDir>,
    address: SocketAddr,
    process: Process,
    // Goes after the process.
    store: Option<Store>,
}

/// Where else than in its directory a server keeps its jobs.
#[derive(Debug)]
struct Store {
    url: String,
    _database: Database,
}

impl Store {
    /// A new one, if the environment chooses any.
    fn chosen() -> Option<Self> {
        let choice = std::env::var("HALYARD_TEST_STORE").ok()?;
        let database = Database::new();
        let url = match choice.as_str() {
            "postgres" => database.url(),
            "pgbouncer" => database.pgbouncer(),
            _ => panic!("HALYARD_TEST_STORE is `postgres` or `pgbouncer`, not {choice:?}"),
        };
        Some(Self { url: url.to_string(), _database: database })
    }
}

impl Server {
    /// A plain server on a new directory.
    pub fn start() -> Self {
        Setup::new().start()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Its data directory.
    pub fn directory(&self) -> Arc<TempDir> {
        Arc::clone(&self.directory)
    }

    /// The address of the database that holds its jobs, when its directory does not.
    pub fn database(&self) -> Option<String> {
        self.store.as_ref().map(|store| store.url.clone())
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Ends the process with SIGKILL and waits until it is gone.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again, with the same settings on the same directory. A process that still runs is
    /// killed first.
    pub fn restart(&mut self) {
        let setup = self.setup.clone();
        self.restart_with(setup);
    }

    /// Starts it again with other settings on the same store.
    pub fn restart_with(&mut self, mut setup: Setup) {
        self.process.kill();
        let store = self.store.take();
        if let Some(store) = &store {
            setup = setup.on(store);
        }
        *self = Self { store, ..setup.start_on(Arc::clone(&self.directory)) };
    }

    /// Starts a further process on the same store, without waiting for it to come up.
    pub fn spawn_again(&self) -> Process {
        self.setup.spawn_on(self.directory.path())
    }

    /// Sends SIGTERM and waits for the end.
    ///
    /// # Panics
    ///
    /// When it is still there after [`PATIENCE`].
    pub fn stop(&mut self) -> ExitStatus {
        self.process.signal(Signal::TERM);
        self.process.wait()
    }
}

/// A `halyard serve` process, up or not.
#[derive(Debug)]
pub struct Process {
    child: Mutex<Child>,
    pid: Pid,
    first_line: Mutex<mpsc::Receiver<String>>,
    log: Arc<Mutex<String>>,
}

impl Process {
    fn spawn(setup: &Setup, directory: &Path) -> Self {
        let mut command = match setup.starter.split_first() {
            Some((program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(binary());
                command
            }
            None => Command::new(binary()),
        };
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HALYARD_") {
                command.env_remove(name);
            }
        }
        command.args(["serve", "--listen", &setup.listen, "--data-dir"]).arg(directory);
        command.args(&setup.arguments).envs(setup.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let pid = Pid::from_child(&child);
        let (says, first_line) = mpsc::channel();
        let log = Arc::new(Mutex::new(String::new()));
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        follow(stdout, Arc::clone(&log), Some(says));
        follow(stderr, Arc::clone(&log), None);
        Self { child: Mutex::new(child), pid, first_line: Mutex::new(first_line), log }
    }

    /// Waits for the line that names the address; `None` when the process ended without it.
    pub fn address(&self) -> Option<SocketAddr> {
        let line = self.first_line.lock().unwrap().recv_timeout(PATIENCE).ok()?;
        line.trim().strip_prefix("listening on http://")?.parse().ok()
    }

    /// What it wrote to standard output and standard error so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Sends a signal; a process that is gone does not mind.
    pub fn signal(&self, signal: Signal) {
        let mut child = self.child.lock().unwrap();
        if matches!(child.try_wait(), Ok(None)) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Stops the process where it stands, until [`Process::thaw`].
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        let options = WaitIdOptions::STOPPED | WaitIdOptions::EXITED;
        let options = options | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        until("all its threads stand still", || {
            waitid(WaitId::Pid(self.pid), options).ok().flatten()
        });
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends the process with SIGKILL and waits until it is gone. Says how it had ended by itself
    /// before, if it had.
    pub fn kill(&self) -> Option<ExitStatus> {
        let mut child = self.child.lock().unwrap();
        let ended = child.try_wait().ok().flatten();
        let _ = child.kill();
        let _ = child.wait();
        ended
    }

    /// Waits for the process to end by itself.
    ///
    /// # Panics
    ///
    /// When it is still there after [`PATIENCE`].
    pub fn wait(&self) -> ExitStatus {
        until("the end of the server", || self.child.lock().unwrap().try_wait().ok().flatten())
    }

    /// Like [`Process::wait`], and `None` when it still runs after `patience`.
    pub fn wait_up_to(&self, patience: Duration) -> Option<ExitStatus> {
        let give_up = Instant::now() + patience;
        while Instant::now() < give_up {
            if let Some(status) = self.child.lock().unwrap().try_wait().ok().flatten() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Its memory in bytes, as the kernel counts it (resident set).
    pub fn memory(&self) -> u64 {
        let path = format!("/proc/{}/statm", self.pid.as_raw_nonzero());
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        pages.unwrap_or_default() * 4096
    }

    /// How many file handles it holds.
    pub fn handles(&self) -> usize {
        let path = format!("/proc/{}/fd", self.pid.as_raw_nonzero());
        std::fs::read_dir(path).map_or(0, Iterator::count)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let by_itself = self.kill();
        if std::thread::panicking() {
            if let Some(status) = by_itself {
                eprintln!("the server had ended by itself: {status}");
            }
            let log = self.log();
            let from = log.char_indices().rev().nth(4000).map_or(0, |(at, _)| at);
            eprintln!("the server's last words:\n{}", &log[from..]);
        }
    }
}

/// Reads lines into the log until the stream ends; the first one also goes to `says`.
fn follow(
    mut stream: impl BufRead + Send + 'static,
    log: Arc<Mutex<String>>,
    mut says: Option<mpsc::Sender<String>>,
) {
    std::thread::spawn(move || {
        let mut line = Vec::new();
        while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            log.lock().unwrap().push_str(&text);
            if let Some(says) = says.take() {
                let _ = says.send(text);
            }
            line.clear();
        }
    });
}

/// The binary under test.
///
/// # Panics
///
/// When there is none, with the command that makes it.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("HALYARD_BIN") {
        return PathBuf::from(path);
    }
    let test = std::env::current_exe().expect("the test knows where it is");
    let beside = test.parent().and_then(Path::parent).map(|folder| folder.join("halyard"));
    match beside {
        Some(path) if path.exists() => path,
        _ => panic!("no binary to test: run `cargo build -p halyard-server` or set HALYARD_BIN"),
    }
}
