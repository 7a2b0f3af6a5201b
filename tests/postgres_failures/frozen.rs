//! A database that stands still: connections stay open, and nothing comes.

use std::time::Duration;

use halyard_tests::postgres::Postgres;

use crate::trial::Trial;
use halyard_tests::load::LEASE_MS;

fn freeze_for(leases: u64) {
    let postgres = Postgres::start();
    Trial::run(&postgres.url(), |trial| {
        let away = trial.recorder().now();
        postgres.freeze();
        // The time that it stands still, and no wait for something.
        std::thread::sleep(Duration::from_millis(LEASE_MS * leases));
        postgres.thaw();
        trial.outage_since(away);
    });
}

#[test]
fn it_stands_still_for_a_lease() {
    freeze_for(1);
}

#[test]
fn it_stands_still_for_ten_leases() {
    freeze_for(10);
}
