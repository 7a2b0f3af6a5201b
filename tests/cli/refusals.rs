//! What goes wrong says what to do, with an exit code of its own.

use std::net::TcpListener;

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
        (&["jobs", "list", "--url", "localhost:1"], 2, &["http://"]),
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
    wrong.failed(4, &["unauthenticated"]);
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
