//! A standby that commits wait for.

use halyard_tests::postgres::{Postgres, Proxy};
use halyard_tests::until;
use halyard_tests::wire::Answer;
use serde_json::json;

use crate::trial::{Trial, server_on};

const STANDBY: &str = "second";
const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/// How often the primary dies and the standby takes over.
const FAILOVERS: usize = 3;

/// The primary dies under load, the standby takes over; the old one does not come back.
#[test]
fn nothing_is_lost_by_a_failover_to_a_synchronous_standby() {
    let mut primary = Postgres::start();
    let (proxy, url) = Proxy::before(&primary.url());
    let mut standby = primary.standby(STANDBY);
    primary.require(STANDBY);
    Trial::run(&url, |trial| {
        for round in 1..=FAILOVERS {
            trial.until_more(200);
            let away = trial.recorder().now();
            primary.kill();
            standby.promote();
            proxy.redirect(standby.url().address);
            proxy.cut_all();
            trial.outage_since(away);
            if round < FAILOVERS {
                primary = std::mem::replace(&mut standby, Postgres::start());
                standby = primary.standby(STANDBY);
                primary.require(STANDBY);
            }
        }
    });
}

/// A commit whose wait for the standby is cut short is on one machine alone: nobody is told that it
/// is done, however the wait was ended.
#[test]
fn a_commit_that_did_not_wait_for_its_standby_is_not_acknowledged() {
    for end in ["pg_cancel_backend", "pg_terminate_backend"] {
        let primary = Postgres::start();
        let standby = primary.standby(STANDBY);
        primary.require(STANDBY);
        let server = server_on(&primary.url());
        let mut client = server.client();
        let create = |key: &str| json!({"task": "t", "idempotency_key": key});
        client.post("/v1/jobs", &create("first")).expect(201);
        standby.freeze();
        let answer: Answer = std::thread::scope(|scope| {
            let told = scope.spawn(|| client.post("/v1/jobs", &create("second")));
            let mut ended = 0;
            while !told.is_finished() {
                let waiting: usize = primary.value(WAITS).parse().expect("a number");
                if waiting > 0 {
                    primary.run(&format!(
                        "SELECT {end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                    ));
                    ended += waiting;
                }
            }
            assert!(ended > 0, "{end}");
            told.join().expect("an answer")
        });
        // In the primary it is.
        assert_eq!(primary.value("SELECT count(*) FROM halyard.jobs"), "2", "{end}");
        answer.refused(503, "storage_unavailable");
        standby.thaw();
        until("a commit that waited", || {
            let answer = client.try_call("POST", "/v1/jobs", Some(br#"{"task":"third"}"#));
            answer.is_ok_and(|answer| answer.status == 201).then_some(())
        });
        // Asked for again it is found, and now the standby has it.
        client.post("/v1/jobs", &create("second")).expect(200);
        assert_eq!(standby.value("SELECT count(*) FROM halyard.jobs"), "3", "{end}");
        assert_eq!(server.process().kill(), None, "it had ended by itself");
    }
}
