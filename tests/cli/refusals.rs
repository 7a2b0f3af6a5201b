//! What goes wrong says what to do, with an exit code of its own.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use halyard_tests::server::{Server, Setup};

use crate::command::{command, halyard, run};

#[test]
fn exit_codes() {
    let server = Server::start();
    for (arguments, code, words) in [
        (
            &["jobs", "get", "job_0"] as &[&str],
            1,
            &["job_not_found", "halyard jobs list"] as &[&str],
        ),
        (&["jobs", "create", "--task", "not a name!"], 1, &["task", "not a name!"]),
        (&["jobs", "create", "--task", "t", "--priority", "101"], 1, &["priority"]),
        (&["jobs", "list", "--cursor", "x"], 1, &["cursor_mismatch"]),
        (&["jobs", "create", "--task", "t", "--payload", "{"], 2, &["--payload is not JSON", "@"]),
        (&["jobs", "create", "--task", "t", "--payload", "@/no/file"], 2, &["/no/file"]),
        (&["jobs", "create", "--task", "t", "--delay", "5"], 2, &["1h30m"]),
        (&["jobs", "create"], 2, &["--task"]),
        (&["jobs", "list", "--state", "broken"], 2, &["queued", "retrying"]),
        (&["jobs", "list", "--key", "k"], 2, &["--task"]),
        (&["jobs"], 2, &["create", "list"]),
        (&["nonsense"], 2, &["nonsense"]),
        (&["jobs", "list", "--url", "localhost:1"], 2, &["http://localhost:1"]),
        (&["jobs", "create", "--task", "t", "--delay", "-5s"], 2, &["`-5s`", "0s or longer"]),
        (&["jobs", "get", ""], 2, &["an id or a name is needed"]),
        (&["queues", "pause", ""], 2, &["no queue is called ``", "1 to"]),
        (&["queues", "pause", "a b"], 2, &["no queue is called `a b`", "A-Z a-z 0-9"]),
    ] {
        halyard(&server, arguments).failed(code, words);
    }
}

#[test]
fn a_server_that_is_not_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let words = ["cannot reach", &url, "halyard serve", "--url"];
    run(command(&["jobs", "list", "--url", &url])).failed(3, &words);
    let doctor = run(command(&["doctor", "--url", &url]));
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.out.contains("cannot reach"), "{doctor:?}");
}

#[test]
fn a_server_that_wants_a_key() {
    let server = Setup::new().env("HALYARD_API_KEY", "hyd_secret_key").start();
    halyard(&server, &["jobs", "list"]).failed(4, &["unauthenticated", "HALYARD_API_KEY"]);
    let wrong = halyard(&server, &["jobs", "list", "--api-key", "hyd_other"]);
    wrong.failed(4, &["unauthenticated", "does not know the key that was sent"]);
    assert!(!wrong.err.contains("hyd_other"), "{wrong:?}");
    halyard(&server, &["jobs", "list", "--api-key", "hyd_secret_key"]).json();
    let mut by_variable = crate::command::command_to(&server, &["queues", "list"]);
    by_variable.env("HALYARD_API_KEY", "hyd_secret_key");
    run(by_variable).json();
    // The help names the variable and not what it is set to.
    let mut help = crate::command::command_to(&server, &["jobs", "list", "--help"]);
    help.env("HALYARD_API_KEY", "hyd_secret_key");
    let help = run(help);
    assert!(help.out.contains("HALYARD_API_KEY") && !help.out.contains("hyd_secret"), "{help:?}");
}

/// What is set by a variable is not shown as if it had to be given.
#[test]
fn usage_does_not_ask_for_what_is_set() {
    let server = Server::start();
    let done = halyard(&server, &["jobs", "get"]);
    done.failed(2, &["Usage: halyard jobs get <ID>"]);
    assert!(!done.err.contains("--url"), "{done:?}");
}

#[test]
fn a_server_that_speaks_no_tls() {
    let server = Server::start();
    let url = format!("https://{}", server.address());
    run(command(&["jobs", "list", "--url", &url])).failed(3, &["https://", "speaks http://"]);
}

#[test]
fn an_address_that_another_has() {
    let server = Server::start();
    let (directory, address) = (tempfile::tempdir().unwrap(), server.address().to_string());
    let data = directory.path().to_str().unwrap();
    let done = run(command(&["serve", "--data-dir", data, "--listen", &address]));
    done.failed(1, &["cannot listen on", "--listen", "ss -ltnp", "halyard doctor --url"]);
}

/// A server that is open to others wants a key, and a file for it that only its owner can read.
#[test]
fn key_files() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let key = directory.path().join("key");
    let open = ["serve", "--listen", "0.0.0.0:0", "--data-dir", data.to_str().unwrap()];
    run(command(&open)).failed(1, &["--listen 127.0.0.1:0", "halyard keys create"]);
    // With no key in it the server ends by itself.
    std::fs::write(&key, "").unwrap();
    let with_key = [&open as &[&str], &["--api-key-file", key.to_str().unwrap()]].concat();
    for (mode, warned) in [(0o644, true), (0o640, false), (0o600, false)] {
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
        let done = run(command(&with_key));
        done.failed(1, &["API key"]);
        let said = [done.out.as_str(), &done.err].concat();
        assert_eq!(said.contains("every user of this machine"), warned, "{mode:o}: {said}");
    }
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    let server = Server::start();
    let jobs: Vec<_> = (0..500).map(|_| serde_json::json!({"task": "t"})).collect();
    server.client().post("/v1/jobs/batch", &serde_json::json!({"jobs": jobs})).expect(200);
    let mut command = crate::command::command_to(&server, &["jobs", "list", "--all"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

/// Each shell's script is there, and the one for bash is one that bash understands.
#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(command(&["completions", shell]));
        assert!(script.code == 0 && script.out.contains("run-as-new"), "{shell}: {script:?}");
    }
    let script = run(command(&["completions", "bash"])).out;
    let words = "COMP_WORDS=(halyard jobs re); COMP_CWORD=2; _halyard halyard re jobs; \
                 echo \"${COMPREPLY[@]}\"";
    let bash = std::process::Command::new("bash")
        .args(["-c", &format!("{script}\n{words}")])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&bash.stdout).trim(), "retry", "{bash:?}");
}
