//! `halyard serve` as a child of another program.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use halyard_tests::server::binary;

#[test]
fn a_server_ends_with_the_input_that_its_parent_holds() {
    let directory = tempfile::tempdir().unwrap();
    let mut server = Command::new(binary())
        .args(["serve", "--end-with-stdin", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on "), "{line}");
    // What it is sent there means nothing; that nobody can send any more does.
    let mut held = server.stdin.take().unwrap();
    std::io::Write::write_all(&mut held, b"anything\n").unwrap();
    assert_eq!(server.try_wait().unwrap(), None);
    drop(held);
    assert!(server.wait().unwrap().success());
}
