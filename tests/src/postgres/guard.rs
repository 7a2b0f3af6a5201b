//! What removes a server when the test that owns it is gone, whichever way that went.
//!
//! A shell is told the process of the server at each start. It waits for the end of its input,
//! which is the end of the test's process at the latest, and then kills the server and removes its
//! folder. The server's own child processes need that:
//! a frozen one outlives its parent.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

const SCRIPT: &str = r#"
trap '' INT TERM HUP
cd /
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ] && grep -qsF "$1" "/proc/$pid/cmdline"; then
    children=$(cat "/proc/$pid/task/"*/children)
    kill -KILL "$pid" $children
fi
for try in 1 2 3 4 5 6 7 8 9; do
    rm -rf "$0" && exit
    sleep 0.2
done
"#;

#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    leash: Option<ChildStdin>,
}

impl Guard {
    /// Removes `folder` at the end, and the server that was started with this `data`.
    pub(super) fn over(folder: &Path, data: &Path) -> Self {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT])
            .args([folder, data])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let leash = shell.stdin.take();
        Self { shell, leash }
    }

    /// The server was started as this process.
    pub(super) fn watch(&mut self, process: &Child) {
        let leash = self.leash.as_mut().expect("it has one until it is dropped");
        leash.write_all(format!("{}\n", process.id()).as_bytes()).expect("the guard listens");
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leash = None;
        let _ = self.shell.wait();
    }
}
