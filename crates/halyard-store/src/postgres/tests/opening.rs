//! What a start says of a database that it cannot use.

use super::url;
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

    let plain = error(&format!("{url}?sslmode=require")).await;
    assert!(matches!(plain, OpenError::Unreachable { .. }), "{plain}");
    assert!(plain.to_string().contains("TLS"), "{plain}");
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
