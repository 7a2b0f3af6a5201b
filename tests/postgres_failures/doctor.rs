//! `halyard doctor` on a database, as it is and after something has gone wrong with it.

use std::process::Command;

use halyard_tests::postgres::{Setup, Url};
use halyard_tests::server::binary;
use halyard_tests::until;
use serde_json::{Value, json};
use tokio::runtime;
use tokio_postgres::NoTls;

use crate::trial::server_on;

/// What was not well, as `level check`, and the whole report.
fn examine(url: &Url, more: &[&str]) -> (Vec<String>, String) {
    let mut command = Command::new(binary());
    command.args(["doctor", "--json"]).args(more).env_remove("HALYARD_URL");
    let output = command.env("HALYARD_DATABASE_URL", url.to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains(&url.password), "{text}");
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text} {}", String::from_utf8_lossy(&output.stderr))
    });
    let findings = report["findings"].as_array().unwrap().iter();
    let own = findings.filter(|finding| !finding["subject"].as_str().unwrap().contains("http"));
    let bad = own.filter(|finding| finding["level"] != "ok").map(|finding| {
        let word = |name: &str| finding[name].as_str().unwrap();
        format!("{} {}", word("level"), word("check"))
    });
    (bad.collect(), text)
}

#[test]
fn the_doctor_sees_what_may_go_wrong() {
    let postgres = Setup::new().set("autovacuum", "off").start();
    let url = postgres.url();
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, ["error schema"], "{told}");
    let mut server = server_on(&url);
    server.client().post("/v1/jobs", &json!({"task": "t"})).expect(201);
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, [""; 0], "{told}");
    server.stop();

    let standby = postgres.standby("second");
    let (bad, told) = examine(&standby.url(), &[]);
    assert_eq!(bad, ["error writes"], "{told}");
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, ["warn replicas"], "{told}");
    postgres.require("second");
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, [""; 0], "{told}");
    drop(standby);
    postgres.require("");
    until("the end of the standby", || examine(&url, &[]).0.is_empty().then_some(()));

    postgres.run("ALTER ROLE halyard SET synchronous_commit = off");
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, ["error commits"], "{told}");
    postgres.run("ALTER ROLE halyard RESET synchronous_commit");

    postgres.run(
        "INSERT INTO halyard.queues SELECT 'q' || n, false FROM generate_series(1, 30000) AS n;
         DELETE FROM halyard.queues",
    );
    until("its statistics", || (examine(&url, &[]).0 == ["warn dead rows"]).then_some(()));

    let (bad, told) = examine(&url, &["--database-schema", "elsewhere"]);
    assert_eq!(bad, ["error schema"], "{told}");
    let nowhere = Url { database: "nowhere".to_owned(), ..url.clone() };
    let (bad, told) = examine(&nowhere, &[]);
    assert_eq!(bad, ["error database"], "{told}");
}

/// What a server would refuse at its start, the doctor says before.
#[test]
fn the_doctor_says_what_no_server_starts_on() {
    let postgres = Setup::new().start();
    let url = postgres.url();
    server_on(&url).stop();
    postgres.run("CREATE ROLE app LOGIN PASSWORD 'app_pw'");
    let app = Url { user: "app".to_owned(), password: "app_pw".to_owned(), ..url.clone() };
    postgres.run(
        "GRANT USAGE ON SCHEMA halyard TO app;
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA halyard TO app",
    );
    let (bad, told) = examine(&app, &[]);
    assert_eq!(bad, ["error rights"], "{told}");
    assert!(told.contains("lacks USAGE ON SEQUENCE halyard.jobs_seq"), "{told}");
    postgres.run("GRANT USAGE ON ALL SEQUENCES IN SCHEMA halyard TO app");
    let (bad, told) = examine(&app, &[]);
    assert_eq!(bad, [""; 0], "{told}");
    postgres.run("REVOKE USAGE ON SCHEMA halyard FROM app");
    let (bad, told) = examine(&app, &[]);
    assert_eq!(bad, ["error rights"], "{told}");

    postgres.run("INSERT INTO halyard.migrations VALUES (1000, 'later', '\\x00')");
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, ["error migrations"], "{told}");
    postgres.run("DELETE FROM halyard.migrations WHERE number >= 2");
    let (bad, told) = examine(&url, &[]);
    assert_eq!(bad, ["warn migrations"], "{told}");

    postgres.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    let (bad, told) = examine(&url.database("latin"), &[]);
    assert_eq!(bad, ["error encoding", "error schema"], "{told}");
    postgres.run("ALTER DATABASE latin SET default_transaction_read_only = on");
    let (bad, told) = examine(&url.database("latin"), &[]);
    assert_eq!(bad, ["error encoding", "error writes", "error schema"], "{told}");
}

/// A role that may not look at others' sessions is told so.
#[test]
fn the_doctor_says_what_it_may_not_see() {
    let postgres = Setup::new().start();
    postgres.run("CREATE ROLE app LOGIN PASSWORD 'app_pw'");
    postgres.run("CREATE DATABASE app OWNER app");
    let own = postgres.url().database("app");
    let app = Url { user: "app".to_owned(), password: "app_pw".to_owned(), ..own };
    let _server = server_on(&app);
    let runtime = runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&app.to_string(), NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute("BEGIN; LOCK TABLE halyard.queues IN SHARE MODE").await.unwrap();
        let (bad, told) = examine(&app, &[]);
        assert_eq!(bad, [""; 0], "{told}");
        assert!(told.contains("pg_read_all_stats"), "{told}");
    });
}
