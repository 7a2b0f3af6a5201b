//! What a start says of a database that it cannot use.

use super::{setting, url};
use crate::postgres::connect::{OpenError, Options, Pool};

async fn error(url: &str) -> OpenError {
    match Pool::open(&Options::of(url)).await {
        Ok(_) => panic!("{url} opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_without_the_password() {
    let url = url();
    let (before, place) = url.rsplit_once('@').unwrap();
    let (_, password) = before.rsplit_once(':').unwrap();
    let (address, _) = place.split_once('/').unwrap();

    let wrong = error(&format!("postgres://halyard:wrong-{password}@{place}")).await;
    assert!(matches!(wrong, OpenError::Refused { .. }), "{wrong}");
    assert!(wrong.to_string().contains("password authentication failed"), "{wrong}");
    assert!(!wrong.to_string().contains(password), "{wrong}");

    let nowhere = error(&format!("{before}@{address}/nowhere")).await;
    assert!(matches!(nowhere, OpenError::Refused { .. }), "{nowhere}");
    assert!(nowhere.to_string().contains("\"nowhere\" does not exist"), "{nowhere}");

    let closed = error(&format!("{before}@127.0.0.1:1/postgres")).await;
    assert!(matches!(closed, OpenError::Unreachable { .. }), "{closed}");
    assert!(closed.to_string().contains("Connection refused"), "{closed}");
    assert!(!closed.to_string().contains(password), "{closed}");
}

#[tokio::test]
async fn a_user_whose_commits_may_be_lost_is_refused() {
    for (setting, name) in [
        ("synchronous_commit%3Doff", "synchronous_commit is off"),
        ("default_transaction_read_only%3Don", "default_transaction_read_only is on"),
    ] {
        let refused = error(&format!("{}?options=-c%20{setting}", url())).await;
        assert!(matches!(refused, OpenError::Unfit { .. }), "{refused}");
        assert!(refused.to_string().contains(name), "{refused}");
    }
}

/// Opens, and says whether the connection is encrypted.
async fn is_encrypted(url: &str) -> bool {
    let pool = Pool::open(&Options::of(url)).await.unwrap();
    let client = pool.get().await.unwrap();
    let ssl = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    client.query_typed_one(ssl, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn tls_checks_what_its_mode_says() {
    let url = url();
    let (before, place) = url.rsplit_once('@').unwrap();
    let (address, database) = place.split_once('/').unwrap();
    let (host, port) = address.split_once(':').unwrap();
    let root = format!("sslrootcert={}", setting("HALYARD_TEST_POSTGRES_CA"));
    // The same server by a name that its certificate does not have.
    let other = format!("{before}@db.invalid:{port}/{database}?hostaddr={host}");

    assert!(is_encrypted(&url).await, "it is offered, so it is taken");
    assert!(!is_encrypted(&format!("{url}?sslmode=disable")).await);
    assert!(is_encrypted(&format!("{url}?sslmode=require")).await);
    assert!(is_encrypted(&format!("{url}?sslmode=verify-full&{root}")).await);
    assert!(is_encrypted(&format!("{other}&sslmode=verify-ca&{root}")).await);
    assert!(is_encrypted(&format!("{other}&sslmode=require&{root}")).await);
    assert!(is_encrypted(&format!("{other}&sslmode=require")).await);

    for (url, part) in [
        (format!("{other}&sslmode=verify-full&{root}"), "not valid for name"),
        (format!("{url}?sslmode=verify-full"), "UnknownIssuer"),
        (format!("{url}?sslmode=verify-ca"), "UnknownIssuer"),
        (format!("{url}?sslrootcert=system"), "UnknownIssuer"),
    ] {
        let refused = error(&url).await;
        assert!(matches!(refused, OpenError::Unreachable { .. }), "{refused}");
        assert!(refused.to_string().contains(part), "{refused}");
    }
    let missing = error(&format!("{url}?sslmode=verify-full&sslrootcert=/none.pem")).await;
    assert!(matches!(missing, OpenError::Tls(_)), "{missing}");
    assert!(missing.to_string().contains("/none.pem"), "{missing}");
}
