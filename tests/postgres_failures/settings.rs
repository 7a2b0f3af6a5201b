//! What an administrator sets for the role, and for all.

use halyard_tests::postgres::{Postgres, Url};
use halyard_tests::until;

use crate::trial::{Trial, refused};

fn app(postgres: &Postgres) -> Url {
    postgres.run("CREATE ROLE app LOGIN PASSWORD 'app'");
    postgres.run("CREATE DATABASE app OWNER app");
    let own = postgres.url().database("app");
    Url { user: "app".to_owned(), password: "app".to_owned(), ..own }
}

/// New sessions have what was set for their role.
fn renew_sessions(postgres: &Postgres) {
    postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
}

/// Bounds that are far too short for a transaction of jobs do not count for one.
#[test]
fn short_timeouts_of_the_role_do_not_count() {
    let postgres = Postgres::start();
    let url = app(&postgres);
    let history = Trial::run(&url, |trial| {
        for (setting, bound) in [
            ("statement_timeout", "100ms"),
            ("lock_timeout", "1ms"),
            ("idle_in_transaction_session_timeout", "5ms"),
        ] {
            postgres.run(&format!("ALTER ROLE app SET {setting} = '{bound}'"));
            renew_sessions(&postgres);
            trial.until_more(200);
        }
        // Reads are judged by them.
        postgres.run("ALTER ROLE app RESET ALL");
        renew_sessions(&postgres);
    });
    let changes: Vec<_> = refused(&history).into_iter().filter(|it| it.call.mutates()).collect();
    assert!(changes.is_empty(), "{} changes were refused: {}", changes.len(), changes[0]);
}

/// Reads go on, changes are refused, and it heals by itself.
#[test]
fn the_database_may_be_set_to_read_only_and_back() {
    let postgres = Postgres::start();
    let url = app(&postgres);
    let history = Trial::run(&url, |trial| {
        let mut client = trial.client();
        for _ in 0..2 {
            let away = trial.recorder().now();
            postgres.set("default_transaction_read_only", "on");
            until("a change to be refused", || {
                let answer = client.try_call(
                    "POST",
                    "/v1/jobs",
                    Some(br#"{"task":"never","queue":"health"}"#),
                );
                answer.is_ok_and(|answer| answer.status == 503).then_some(())
            });
            client.get("/v1/queues").expect(200);
            client.get("/v1/jobs?limit=1").expect(200);
            postgres.set("default_transaction_read_only", "off");
            trial.outage_since(away);
        }
    });
    assert!(!refused(&history).is_empty(), "no call was refused");
}
