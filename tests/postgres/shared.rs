//! The servers of `scripts/services`: their versions, TLS, and pgbouncer.

use std::path::Path;
use std::process::{Command, Output};

use halyard_tests::postgres::{Database, Proxy, Url, query, shared, value};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::{connect, runtime};

fn psql(url: &Url, parameters: &str, statement: &str) -> Output {
    let address = format!("{url}?{parameters}");
    Command::new("psql").args(["-XAtc", statement, &address]).output().unwrap()
}

fn authority() -> String {
    std::env::var("HALYARD_TEST_POSTGRES_CA").expect("run this under `scripts/services run`")
}

#[test]
fn each_server_is_of_its_version() {
    let servers = shared();
    assert!(!servers.is_empty(), "run this under `scripts/services run --postgres`");
    for (major, url) in servers {
        let number: u32 = value(&url, "SHOW server_version_num").parse().unwrap();
        assert!((14..=18).contains(&(number / 10_000)), "{number}");
        assert!(major.is_none_or(|major| major == number / 10_000), "{major:?}: {number}");
        let database = Database::on(&url);
        query(&database.url(), "CREATE TABLE t (n int)").unwrap();
    }
}

#[test]
fn tls_is_checked_against_the_authority() {
    let other = Path::new("/etc/ssl/certs/ca-certificates.crt");
    for (_, url) in shared() {
        let trusted = format!("sslmode=verify-full&sslrootcert={}", authority());
        let used = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let output = psql(&url, &trusted, used);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "t", "{output:?}");
        let output =
            psql(&url, &format!("sslmode=verify-full&sslrootcert={}", other.display()), used);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "another authority is none");
        assert!(error.contains("certificate verify failed") || !other.exists(), "{error}");
    }
}

/// A proxy passes what it cannot read, and cuts it as well.
#[test]
fn tls_passes_through_a_proxy() {
    let database = Database::new();
    let proxy = Proxy::to(database.url().address);
    let url = database.url().address(proxy.address());
    let trusted = format!("sslmode=verify-full&sslrootcert={}", authority());
    let output = psql(&url, &trusted, "SELECT 'x'");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "x", "{output:?}");
    proxy.cut_at(halyard_tests::postgres::Moment::ToServer(100));
    assert!(!psql(&url, &trusted, "SELECT 'x'").status.success());
    assert_eq!(proxy.cuts(), 1);
}

/// What a session keeps is gone after a transaction: a program that relies on it is found out.
#[test]
fn pgbouncer_keeps_no_session() {
    let database = Database::new();
    runtime().block_on(async {
        let client = connect(&database.pgbouncer()).await.unwrap();
        client.batch_execute("CREATE TABLE t (n int4)").await.unwrap();
        let insert = "INSERT INTO t VALUES ($1)";
        client.execute_typed(insert, &[(&1_i32, Type::INT4)]).await.unwrap();
        let named = client.prepare(insert).await.unwrap();
        let refused = client.execute(&named, &[&2_i32]).await.unwrap_err();
        assert_eq!(refused.code(), Some(&SqlState::INVALID_SQL_STATEMENT_NAME), "{refused:?}");
        client.batch_execute("SET statement_timeout = '77s'").await.unwrap();
        let row = client.query_typed("SHOW statement_timeout", &[]).await.unwrap();
        assert_eq!(row[0].get::<_, &str>(0), "0");
    });
    assert_eq!(value(&database.url(), "SELECT sum(n) FROM t"), "1");
}
