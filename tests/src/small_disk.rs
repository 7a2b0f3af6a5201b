//! A file system of a few MiB that a test can fill to the last page.
//!
//! It is a real one, in memory, mounted where only its own processes see it: in a mount namespace,
//! and for a user who is not root in a user namespace as well. A process without a task holds it;
//! when the test is over, however it ends, the file system goes with that process.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use tempfile::TempDir;

use crate::server::{Server, Setup};

/// What a page holds, in bytes: the unit in which space is taken and given back.
pub const PAGE: u64 = 4096;

/// The file that takes up the space which a test wants gone.
const BALLAST: &str = "ballast";

/// One of them, mounted on a directory of its own.
#[derive(Debug)]
pub struct SmallDisk {
    directory: Arc<TempDir>,
    /// The directory as everyone else reaches it.
    seen: PathBuf,
    holder: Child,
    /// The holder ends when this is closed.
    _leash: ChildStdin,
    enter: Vec<String>,
}

impl SmallDisk {
    /// Makes one of this size; `None`, with a word on standard error, where the machine does not
    /// let this user mount anything, as in most containers.
    ///
    /// # Panics
    ///
    /// When the tools for it are missing or do something else.
    pub fn new(bytes: u64) -> Option<Self> {
        let alone = ["--user", "--map-root-user", "--mount"];
        let as_root = &alone[2..];
        let made = Self::with(as_root, bytes).or_else(|| Self::with(&alone, bytes));
        if made.is_none() {
            eprintln!("NOT TESTED: this user can mount no file system of its own here");
        }
        made
    }

    fn with(namespaces: &[&str], bytes: u64) -> Option<Self> {
        let directory = Arc::new(TempDir::new().expect("a temporary directory"));
        let script = "mount -t tmpfs -o size=$0,mode=0700 halyard-test \"$1\" && echo mounted && \
                      exec cat";
        let mut holder = Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-c", script, &bytes.to_string()])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`unshare` of util-linux");
        let leash = holder.stdin.take().expect("stdin is piped");
        let mut says = BufReader::new(holder.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        says.read_line(&mut line).expect("the holder's words");
        if line.trim() != "mounted" {
            let _ = holder.wait();
            return None;
        }
        let pid = holder.id().to_string();
        let inside = directory.path().strip_prefix("/").expect("an absolute path");
        let seen = PathBuf::from(format!("/proc/{pid}/root")).join(inside);
        let mut enter = vec!["nsenter".to_owned(), "--target".to_owned(), pid];
        enter.push("--mount".to_owned());
        if namespaces.contains(&"--user") {
            enter.extend(["--user", "--preserve-credentials"].map(str::to_owned));
        }
        File::create(seen.join(BALLAST)).expect("a file on the new file system");
        Some(Self { directory, seen, holder, _leash: leash, enter })
    }

    /// Starts a server whose data directory it is. It may be killed and started again.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    pub fn serve(&self, setup: Setup) -> Server {
        setup.started_by(&self.enter).start_on(Arc::clone(&self.directory))
    }

    /// Whether it needed root alone: its processes keep their users then, and may be of any. Where
    /// it took a user namespace, there is but one user, who looks like root.
    pub fn keeps_users(&self) -> bool {
        !self.enter.iter().any(|word| word == "--user")
    }

    /// A new folder on it: as everyone else reaches it, and as its own processes do.
    pub(crate) fn folder(&self, name: &str) -> (PathBuf, PathBuf) {
        let seen = self.seen.join(name);
        fs::create_dir(&seen).expect("a folder on the new file system");
        // Other users may pass through.
        fs::set_permissions(&self.seen, Permissions::from_mode(0o711)).expect("it is ours");
        (seen, self.directory.path().join(name))
    }

    /// The command that starts another one where it is mounted.
    pub(crate) fn enter(&self) -> &[String] {
        &self.enter
    }

    /// The size of a file on it, in bytes; 0 when it is not there.
    pub fn size_of(&self, name: &str) -> u64 {
        fs::metadata(self.seen.join(name)).map_or(0, |found| found.len())
    }

    /// How many pages are free.
    ///
    /// # Panics
    ///
    /// When the system does not say.
    pub fn free(&self) -> u64 {
        rustix::fs::statvfs(&self.seen).expect("the state of the file system").f_bavail
    }

    /// Takes up all space but this many pages.
    ///
    /// # Panics
    ///
    /// When it cannot be taken.
    pub fn fill(&self, but: u64) {
        let mut ballast = self.ballast();
        let page = vec![b'x'; usize::try_from(PAGE).expect("a page fits in memory")];
        while self.free() > but {
            ballast.write_all(&page).expect("there is a free page");
        }
    }

    /// Gives one page back.
    ///
    /// # Panics
    ///
    /// When none was taken.
    pub fn give(&self) {
        let ballast = self.ballast();
        let length = ballast.metadata().expect("its length").len();
        ballast.set_len(length.checked_sub(PAGE).expect("a page was taken")).expect("it shrinks");
    }

    /// Gives everything back.
    ///
    /// # Panics
    ///
    /// When that fails.
    pub fn empty(&self) {
        self.ballast().set_len(0).expect("it shrinks");
    }

    fn ballast(&self) -> File {
        let path = self.seen.join(BALLAST);
        File::options().append(true).open(path).expect("the ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
