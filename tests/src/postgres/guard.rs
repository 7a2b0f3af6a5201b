//! What removes a server when the test that owns it is gone, whichever way that went.
//!
//! A shell waits for the end of its input, which is the end of the test's process at the latest,
//! and then kills the server and removes its folder. The server's own child processes need that:
//! a frozen one outlives its parent.

use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

const SCRIPT: &str = r#"
trap '' INT TERM HUP
cat >/dev/null
cd /
pid=$(head -n1 "$0/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ] && grep -qsF "$0/data" "/proc/$pid/cmdline"; then
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
    /// Guards the server whose data lies in `folder/data`.
    pub(super) fn over(folder: &Path) -> Self {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut leash = shell.stdin.take().expect("stdin is piped");
        leash.write_all(b"\n").expect("the guard listens");
        Self { shell, leash: Some(leash) }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.leash = None;
        let _ = self.shell.wait();
    }
}
