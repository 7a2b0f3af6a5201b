//! `halyard serve` as a process: what it refuses to start with, and what it says.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The binary without the tester's own settings, on a directory of its own.
fn serve(directory: &TempDir, environment: &[(&str, &str)], arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halyard"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HALYARD_") {
            command.env_remove(name);
        }
    }
    command.arg("serve").args(arguments).envs(environment.iter().copied());
    command.env("HALYARD_DATA_DIR", directory.path().join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn check(environment: &[(&str, &str)], arguments: &[&str], words: &[&str]) {
    let directory = TempDir::new().unwrap();
    let Output { status, stdout, stderr } =
        serve(&directory, environment, arguments).output().expect("the binary runs");
    let said = String::from_utf8_lossy(&stderr);
    assert!(!status.success(), "it started: {said}");
    assert!(stdout.is_empty());
    for word in words {
        assert!(said.contains(word), "{word:?} is not in: {said}");
    }
    assert!(!directory.path().join("data").exists(), "a refused start makes no directory");
}

#[test]
fn starts_that_are_refused() {
    let open = ["--listen", "0.0.0.0:7373"];
    let mend =
        ["halyard serve --listen 127.0.0.1:7373", "halyard keys create --name admin --role admin"];
    check(
        &[],
        &open,
        &[&["refusing to listen on 0.0.0.0:7373", "without an API key"], &mend[..]].concat(),
    );
    check(&[("HALYARD_LISTEN", "[::]:1")], &[], &["refusing to listen on [::]:1"]);
    check(&[("HALYARD_DATABASE_URL", "mysql://db")], &[], &["begin with postgres://"]);
    check(&[("HALYARD_DATABASE_URL", "")], &[], &["begin with postgres://"]);
    let closed = [("HALYARD_DATABASE_URL", "postgres://user:secret@127.0.0.1:1/jobs")];
    check(&closed, &[], &["cannot reach database \"jobs\" on 127.0.0.1:1", "refused"]);
    check(&closed, &["--database-schema", "a-b"], &["\"a-b\" cannot name the schema"]);
    check(&closed, &["--database-connections", "1"], &["--database-connections", "2..=1000"]);
    check(&[("HALYARD_API_KEY", "")], &[], &["API key must be visible ASCII"]);
    check(&[("HALYARD_API_KEY", "two words")], &[], &["API key must be visible ASCII"]);
    // Whoever keeps a worker's key in their environment would make it an admin's.
    let stored = format!("hyd_01jdvw3k8pf5tvn2c7m9a0r4xq_{}", "0".repeat(64));
    check(&[("HALYARD_API_KEY", &stored)], &[], &["holds a key of a store", "unset it"]);
    check(&[("HALYARD_API_KEY_FILE", "/none/key")], &[], &["/none/key"]);
    let both = [("HALYARD_API_KEY", "a"), ("HALYARD_API_KEY_FILE", "b")];
    check(&both, &[], &["cannot be used with"]);
    check(&[("HALYARD_LOG", "a=b=c")], &[], &["HALYARD_LOG", "a=b=c"]);
    check(&[("HALYARD_RETENTION_COMPLETED_MS", "999")], &[], &["999", "1000.."]);
    check(&[], &["--idempotency-ttl-ms", "0"], &["--idempotency-ttl-ms"]);
    check(&[], &["--listen", "localhost"], &["--listen"]);
    check(&[("HALYARD_READ_ONLY", "maybe")], &[], &["maybe"]);
}

#[test]
fn a_secret_is_not_repeated() {
    let directory = TempDir::new().unwrap();
    for url in ["postgres://user:hunter2@127.0.0.1:1/jobs", "postgres://user:hunter2#@h/jobs"] {
        let secret = [("HALYARD_DATABASE_URL", url)];
        let refused = serve(&directory, &secret, &["--log", "trace"]).output().unwrap();
        assert!(!refused.status.success());
        assert!(!String::from_utf8_lossy(&refused.stderr).contains("hunter2"));
    }
    let help = serve(&directory, &[("HALYARD_API_KEY", "hunter2")], &["--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout);
    assert!(help.contains("HALYARD_API_KEY") && !help.contains("hunter2"), "{help}");
}

#[test]
fn a_flag_wins_over_its_variable_and_the_first_line_names_the_address() {
    let directory = TempDir::new().unwrap();
    let environment = [("HALYARD_LISTEN", "192.0.2.1:1"), ("HALYARD_LOG", "debug")];
    let mut server = serve(&directory, &environment, &["--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut out = BufReader::new(server.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    let address = first.trim().strip_prefix("listening on http://127.0.0.1:");
    assert!(address.is_some_and(|port| port.parse::<u16>().is_ok()), "{first:?}");

    let second = serve(&directory, &environment, &["--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(!second.status.success(), "two servers on one directory");
    server.kill().unwrap();
    server.wait().unwrap();
    let mut log = String::new();
    server.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    for line in log.lines() {
        assert!(line.starts_with('{') && line.ends_with('}'), "no JSON: {line}");
    }
}

/// Runs one command of the binary against a server and gives what it printed.
fn said(url: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_halyard"));
    let output = command.args(arguments).args(["--json", "--url", url]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A server of a test's own, which ends with it.
struct Server(std::process::Child, String);

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let url = first.trim().strip_prefix("listening on ").expect("it did not start");
        Self(child, url.to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that a test has ended cannot be killed.
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }
}

#[test]
fn two_servers_share_a_schema_in_postgresql() {
    let database = std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!("HALYARD_TEST_POSTGRES_URL names no server; run this by: scripts/services run …")
    });
    let directory = TempDir::new().unwrap();
    let schema = format!("serve_{}", std::process::id());
    let environment = [
        ("HALYARD_DATABASE_URL", database.as_str()),
        ("HALYARD_DATABASE_SCHEMA", schema.as_str()),
        ("HALYARD_LOG", "warn"),
        // Longer than any test waits.
        ("HALYARD_DRAIN_MS", "3600000"),
    ];
    let start = || Server::start(serve(&directory, &environment, &["--listen", "127.0.0.1:0"]));
    let (one, other) = (start(), start());
    let made = said(&one.1, &["jobs", "create", "--task", "mail.send", "--payload", r#"{"to":7}"#]);
    let id = made.split('"').find(|word| word.starts_with("job_")).unwrap();
    let there = said(&other.1, &["jobs", "get", id]);
    assert!(there.contains("mail.send") && there.contains("queued"), "{there}");
    assert!(said(&other.1, &["jobs", "list", "--task", "mail.send"]).contains(id));
    assert!(!directory.path().join("data").exists(), "a database needs no directory");

    let claim = r#"{"worker":{"id":"w"},"queues":["default"],"max":1,"lease_ms":600000}"#;
    assert!(post(&one.1, "/v1/jobs/claim", claim).contains(id));
    // The worker reports to the one that it claimed from; the other need not wait for it.
    let mut other = other;
    let pid = rustix::process::Pid::from_child(&other.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(other.0.wait().unwrap().success());
    let mut one = one;
    assert!(one.0.try_wait().unwrap().is_none());
}

/// Sends one request and gives what comes back.
fn post(url: &str, path: &str, body: &str) -> String {
    let host = url.strip_prefix("http://").unwrap();
    let mut connection = std::net::TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        connection,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}
