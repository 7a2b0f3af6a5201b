//! One run of `halyard demo`.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use halyard_tests::server::binary;
use halyard_tests::until;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A demo that was started. Dropped, it is killed, and its processes end with it.
pub(crate) struct Play {
    child: Child,
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    folder: TempDir,
}

impl Play {
    /// Starts one with these arguments and an environment that is nobody's.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new(binary());
        command.arg("demo").args(arguments).env("TMPDIR", folder.path());
        // Whatever somebody has set for a server of theirs must not concern the demo's.
        command.env("HALYARD_LISTEN", "203.0.113.1:1").env("HALYARD_API_KEY", "of another server");
        command.env("HALYARD_URL", "http://127.0.0.1:1").env("HTTP_PROXY", "http://127.0.0.1:1");
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let text = Arc::new(Mutex::new(String::new()));
        let reader = std::thread::spawn({
            let text = Arc::clone(&text);
            move || {
                for line in stdout.lines().map_while(Result::ok) {
                    let mut text = text.lock().unwrap();
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        });
        Self { child, text, reader: Some(reader), folder }
    }

    /// What it has printed so far.
    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    pub(crate) fn until_it_says(&self, words: &str) {
        until(words, || self.text().contains(words).then_some(()));
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end; its exit code, none when a signal ended it, and all that it printed.
    pub(crate) fn end(&mut self) -> (Option<i32>, String) {
        let status = until("the end of the demo", || self.child.try_wait().unwrap());
        assert!(status.code().is_some() || status.signal().is_some());
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        (status.code(), self.text())
    }

    /// The command lines of the processes that are at work in its folder, and its own.
    pub(crate) fn processes(&self) -> Vec<String> {
        let folder = self.folder.path().to_str().unwrap();
        let own = self.child.id().to_string();
        let mut found = Vec::new();
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let is_own = process.file_name().to_str() == Some(&own) && !line.is_empty();
            if is_own || line.contains(folder) {
                found.push(line);
            }
        }
        found
    }

    pub(crate) fn until_its_processes_are_gone(&self) {
        until("the end of the demo's processes", || self.processes().is_empty().then_some(()));
    }

    /// What lies in its folder.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        std::fs::read_dir(self.folder.path()).unwrap().flatten().map(|entry| entry.path())
    }

    /// Asserts that neither a process nor a file of it is left.
    pub(crate) fn left_nothing_behind(&self) {
        assert_eq!(self.processes(), Vec::<String>::new());
        assert_eq!(self.files().collect::<Vec<_>>(), Vec::<PathBuf>::new());
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
