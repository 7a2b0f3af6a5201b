//! A PostgreSQL server of a test's own.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rand::RngExt;
use rustix::process::{Pid, Signal, kill_process};

use super::guard::Guard;
use super::programs::Programs;
use super::{Url, query, value};
use crate::small_disk::SmallDisk;
use crate::until;

/// Below the ports that the kernel gives to outgoing connections, so that a server finds its own
/// free again when it is restarted.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
const PORT_TRIES: usize = 20;

/// What every server has unless a test says otherwise. A test that kills processes needs no
/// `fsync`, as the machine goes on; `wal_keep_size` lets a standby begin from a copy.
const SETTINGS: &[(&str, &str)] = &[
    ("fsync", "off"),
    ("listen_addresses", "127.0.0.1"),
    ("logging_collector", "off"),
    ("shared_buffers", "32MB"),
    ("unix_socket_directories", ""),
    ("wal_keep_size", "256MB"),
];

/// How a server is set up.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    version: Option<u32>,
    settings: Vec<(String, String)>,
    disk: Option<Arc<SmallDisk>>,
}

impl Setup {
    /// The plain one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes this major version, 14 to 18.
    #[must_use]
    pub fn version(mut self, major: u32) -> Self {
        self.version = Some(major);
        self
    }

    /// Changes a setting of `postgresql.conf`, for instance `max_connections`.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Keeps its data on this file system, which a test can fill. It has to be larger than 64 MiB,
    /// and one that [`SmallDisk::keeps_users`].
    #[must_use]
    pub fn on(mut self, disk: &Arc<SmallDisk>) -> Self {
        self.disk = Some(Arc::clone(disk));
        self
    }

    /// Makes the server and starts it.
    ///
    /// # Panics
    ///
    /// When it does not come up; the message holds its log.
    pub fn start(self) -> Postgres {
        let home = Home::new(self.version, self.disk);
        let password = format!("{:032x}", rand::random::<u128>());
        let file = home.folder.join("password");
        home.write(&file, &password);
        let mut initdb = home.programs.command("initdb");
        initdb.args(["-U", "halyard", "--auth", "scram-sha-256", "--encoding", "UTF8"]);
        initdb.args(["--locale", "C", "--no-sync", "--wal-segsize", "1", "--pwfile"]).arg(&file);
        let made = initdb.arg("-D").arg(&home.data).output().expect("initdb can be started");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let own = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        home.configure(SETTINGS.iter().copied().chain(own));
        Postgres::start_in(home, &password)
    }
}

/// How a server is told to stop: what `pg_ctl stop -m` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Waits until every client has left.
    Smart,
    /// Rolls back what is under way, and ends in order.
    Fast,
    /// Ends at once; the next start recovers from the log.
    Immediate,
}

/// A folder with the data of a server, and its programs.
#[derive(Debug)]
pub(super) struct Home {
    folder: PathBuf,
    /// Where the data lies, as the server says it, and as this test reaches it.
    pub(super) data: PathBuf,
    pub(super) seen: PathBuf,
    pub(super) programs: Programs,
    guard: Guard,
    _disk: Option<Arc<SmallDisk>>,
}

impl Home {
    /// A new one, without data.
    pub(super) fn new(version: Option<u32>, disk: Option<Arc<SmallDisk>>) -> Self {
        let folder = tempfile::Builder::new().prefix("halyard-postgres-").tempdir();
        // From here on the guard removes it.
        let folder = folder.expect("a temporary directory").keep();
        let (seen, data) = match &disk {
            Some(disk) => disk.folder("data"),
            None => (folder.join("data"), folder.join("data")),
        };
        let guard = Guard::over(&folder, &data);
        let enter = disk.as_ref().map(|disk| disk.enter()).unwrap_or_default();
        let programs = Programs::find(version, &folder, enter);
        programs.give(&folder);
        if disk.is_some() {
            programs.give(&seen);
        }
        Self { folder, data, seen, programs, guard, _disk: disk }
    }

    /// Adds settings behind those that are there; the last one of a name counts.
    pub(super) fn configure<'a>(&self, settings: impl Iterator<Item = (&'a str, &'a str)>) {
        let file = self.seen.join("postgresql.auto.conf");
        let mut text = fs::read_to_string(&file).expect("the settings");
        for (name, value) in settings {
            text.push_str(&format!("{name} = '{}'\n", value.replace('\'', "''")));
        }
        fs::write(&file, text).expect("the settings");
    }

    /// Writes a file that is the server's.
    pub(super) fn write(&self, file: &Path, text: &str) {
        fs::write(file, text).expect("a file");
        self.programs.give(file);
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

/// A running or stopped server; it ends with its owner.
#[derive(Debug)]
pub struct Postgres {
    process: Option<Child>,
    url: Url,
    home: Home,
}

impl Postgres {
    /// A plain one.
    pub fn start() -> Self {
        Setup::new().start()
    }

    /// Starts what lies in `home`, on a port that is free.
    pub(super) fn start_in(home: Home, password: &str) -> Self {
        let url = Url {
            user: "halyard".to_owned(),
            password: password.to_owned(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            database: "postgres".to_owned(),
            parameters: String::new(),
        };
        let mut server = Self { process: None, url, home };
        for _ in 0..PORT_TRIES {
            server.url.address.set_port(free_port());
            if server.comes_up() {
                return server;
            }
            if !server.log().contains("Address already in use") {
                break;
            }
        }
        panic!("PostgreSQL did not start:\n{}", server.log());
    }

    /// Its address, as a superuser, in the database `postgres`.
    pub fn url(&self) -> Url {
        self.url.clone()
    }

    /// Its major version.
    pub fn version(&self) -> u32 {
        self.home.programs.major
    }

    /// Where its files lie.
    pub fn data(&self) -> PathBuf {
        self.home.seen.clone()
    }

    /// What it wrote to its log so far, over all its starts.
    pub fn log(&self) -> String {
        let bytes = fs::read(self.home.log()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The first value that a statement gives.
    ///
    /// # Panics
    ///
    /// When it fails or gives none.
    pub fn value(&self, statement: &str) -> String {
        value(&self.url, statement)
    }

    /// Runs statements.
    ///
    /// # Panics
    ///
    /// When one fails.
    pub fn run(&self, statements: &str) {
        query(&self.url, statements).unwrap_or_else(|error| panic!("{statements}: {error:?}"));
    }

    /// Changes a setting of the running server that needs no restart, such as
    /// `synchronous_standby_names` or `default_transaction_read_only`.
    ///
    /// # Panics
    ///
    /// When the server refuses it, or does not take it on.
    pub fn set(&self, name: &str, value: &str) {
        let quoted = value.replace('\'', "''");
        let loaded = || self.value("SELECT pg_conf_load_time()");
        let before = loaded();
        // Not within a transaction, so in a call of its own.
        self.run(&format!("ALTER SYSTEM SET {name} = '{quoted}'"));
        self.run("SELECT pg_reload_conf()");
        until("the new settings", || (loaded() != before).then_some(()));
    }

    /// Whether its process is there.
    pub fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)))
    }

    /// Stops it, and waits until it is gone.
    ///
    /// # Panics
    ///
    /// When it does not end.
    pub fn stop(&mut self, how: Stop) {
        let signal = match how {
            Stop::Smart => Signal::TERM,
            Stop::Fast => Signal::INT,
            Stop::Immediate => Signal::QUIT,
        };
        if let Some(mut process) = self.process.take() {
            let _ = kill_process(Pid::from_child(&process), signal);
            until("the end of PostgreSQL", || process.try_wait().ok().flatten());
        }
    }

    /// Ends all its processes with SIGKILL, also frozen ones, and waits until they are gone.
    pub fn kill(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let children = children(&process);
        let _ = process.kill();
        let _ = process.wait();
        for child in children {
            let _ = kill_process(child, Signal::KILL);
            until("the end of a process of PostgreSQL", || is_gone(child).then_some(()));
        }
    }

    /// Ends one of the processes that serve a client, with SIGKILL, as the kernel does it when
    /// memory runs out: the server ends the others, recovers from its log and goes on by itself.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn crash(&self) {
        let one = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
            AND pid <> pg_backend_pid() LIMIT 1";
        let pid = self.value(one).parse().ok().and_then(Pid::from_raw).expect("a process");
        let _ = kill_process(pid, Signal::KILL);
    }

    /// Starts it again on the same port and data. One that runs is stopped as by
    /// [`Stop::Immediate`] before.
    ///
    /// # Panics
    ///
    /// When it does not come up; the message holds its log.
    pub fn restart(&mut self) {
        self.stop(Stop::Immediate);
        assert!(self.comes_up(), "PostgreSQL did not start again:\n{}", self.log());
    }

    /// Stops all its processes where they stand, until [`Postgres::thaw`]: connections stay open
    /// and nothing comes.
    pub fn freeze(&self) {
        let Some(process) = &self.process else { return };
        // The parent first, so that there are no new ones.
        let _ = kill_process(Pid::from_child(process), Signal::STOP);
        until("the stop of PostgreSQL", || is_stopped(Pid::from_child(process)).then_some(()));
        for child in children(process) {
            let _ = kill_process(child, Signal::STOP);
            until("the stop of a process", || (is_stopped(child) || is_gone(child)).then_some(()));
        }
    }

    /// Lets a frozen server go on.
    pub fn thaw(&self) {
        let Some(process) = &self.process else { return };
        for one in children(process).into_iter().chain([Pid::from_child(process)]) {
            let _ = kill_process(one, Signal::CONT);
        }
    }

    pub(super) fn home(&self) -> &Home {
        &self.home
    }

    /// Starts the process and waits until it answers; `false` when it ends instead.
    fn comes_up(&mut self) -> bool {
        let log = File::options().create(true).append(true).open(self.home.log());
        let log = log.expect("a log file");
        let mut command: Command = self.home.programs.command("postgres");
        command.arg("-D").arg(&self.home.data).arg("-p").arg(self.url.address.port().to_string());
        command.stdout(log.try_clone().expect("a second handle")).stderr(log).stdin(Stdio::null());
        let process = command.spawn().expect("postgres can be started");
        self.home.guard.watch(&process);
        self.process = Some(process);
        until("PostgreSQL to come up", || {
            let up = query(&self.url, "SELECT 1").is_ok();
            // Asked afterwards: another server on this port may have answered.
            if !self.is_running() { Some(false) } else { up.then_some(true) }
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            let log = self.log();
            let from = log.char_indices().rev().nth(4000).map_or(0, |(at, _)| at);
            eprintln!("PostgreSQL's last words:\n{}", &log[from..]);
        }
    }
}

fn free_port() -> u16 {
    let mut ports = std::iter::repeat_with(|| rand::rng().random_range(PORTS));
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.find(is_free).expect("an endless row")
}

fn children(process: &Child) -> Vec<Pid> {
    let path = format!("/proc/{0}/task/{0}/children", process.id());
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// The letter that the kernel has for what a process does; nothing when it is gone.
fn state(pid: Pid) -> Option<char> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let text = fs::read_to_string(Path::new(&path)).ok()?;
    text.rsplit_once(") ")?.1.chars().next()
}

fn is_stopped(pid: Pid) -> bool {
    state(pid) == Some('T')
}

/// A zombie counts as gone: where nobody reaps, as in a container without an init, it stays one.
fn is_gone(pid: Pid) -> bool {
    matches!(state(pid), None | Some('Z' | 'X'))
}
