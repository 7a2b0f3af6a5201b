//! Keys made in the store itself, and a server that then asks for them.

use std::path::Path;

use halyard_tests::server::Setup;
use halyard_tests::wire::Client;
use tempfile::TempDir;

use crate::command::{Done, command, run};

fn keys(data: &Path, arguments: &[&str]) -> Done {
    let data = data.to_str().expect("a path");
    run(command(&[&["keys"], arguments, &["--data-dir", data]].concat()))
}

/// Every byte that the store has written.
fn bytes_of(directory: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(directory).expect("a directory");
    files.flat_map(|file| std::fs::read(file.expect("a file").path()).unwrap_or_default()).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn the_first_key_comes_from_the_command_line() {
    let directory = TempDir::new().expect("a directory");
    let data = directory.path().join("data");
    keys(&data, &["list"]).failed(1, &["there is no store in"]);
    keys(&data, &["create", "--name", " x", "--role", "admin"]).failed(2, &["white space"]);
    keys(&data, &["create", "--name", "x", "--role", "owner"]).failed(2, &["producer", "admin"]);
    assert!(!data.exists(), "what was refused made nothing");

    let admin = keys(&data, &["create", "--name", "admin", "--role", "admin"]).json();
    let worker = keys(&data, &["create", "--name", "w", "--role", "worker"]).json();
    let listed = keys(&data, &["list"]).json();
    let names: Vec<_> = listed["data"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["admin", "w"]);
    assert!(listed["data"][0].get("key").is_none());

    let server = Setup::new().spawn_on(&data);
    let address = server.address().unwrap_or_else(|| panic!("{}", server.log()));
    let key = |of: &serde_json::Value| of["key"].as_str().unwrap().to_owned();
    let with =
        |key: &str| Client::new(address).with_header("Authorization", &format!("Bearer {key}"));
    Client::new(address).get("/v1/stats").refused(401, "unauthenticated");
    with(&key(&worker)).get("/v1/stats").expect(200);
    with(&key(&worker))
        .post("/v1/queues/q/pause", &serde_json::json!({}))
        .refused(403, "forbidden");
    with(&key(&admin)).post("/v1/queues/q/pause", &serde_json::json!({})).expect(200);
    keys(&data, &["list"]).failed(1, &["POST /v1/api-keys", "Access"]);
    let audit = with(&key(&admin)).get("/v1/audit").expect(200);
    let actors: Vec<_> = audit["data"].as_array().unwrap().iter().map(|it| &it["actor"]).collect();
    assert_eq!(actors, ["admin", "halyard keys", "halyard keys"]);
    server.signal(rustix::process::Signal::TERM);
    assert!(server.wait().success());

    let written = bytes_of(&data);
    assert!(holds(&written, "halyard keys"), "the log is in the file");
    for secret in [key(&admin), key(&worker)] {
        assert!(!holds(&written, &secret) && !holds(&written, &secret[31..]), "a key is in it");
        assert!(!server.log().contains(&secret[31..]));
    }
    let id = worker["id"].as_str().unwrap();
    assert_eq!(keys(&data, &["revoke", id]).json()["name"], "w");
    keys(&data, &["revoke", id]).failed(1, &["there is no key", "halyard keys list"]);
    keys(&data, &["revoke", "w"]).failed(1, &["there is no key w"]);

    // The last key of an admin is what keeps a server from being open to all.
    let id = admin["id"].as_str().unwrap();
    keys(&data, &["revoke", id]).failed(1, &["the last admin's key", "--last"]);
    let second = keys(&data, &["create", "--name", "b", "--role", "admin"]).json();
    assert_eq!(keys(&data, &["revoke", id]).json()["name"], "admin");
    let id = second["id"].as_str().unwrap();
    keys(&data, &["revoke", id]).failed(1, &["the last admin's key"]);
    assert_eq!(keys(&data, &["revoke", id, "--last"]).json()["name"], "b");
}
