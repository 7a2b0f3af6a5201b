//! A full disk under the database.

use std::sync::Arc;

use halyard_tests::postgres::Setup;
use halyard_tests::small_disk::SmallDisk;
use halyard_tests::until;

use crate::trial::{Trial, refused};

/// Changes are refused while there is no space, and nothing that was acknowledged is lost. When the
/// log has no space left PostgreSQL ends, and is started again by hand.
#[test]
fn the_disk_may_be_full() {
    let disk = SmallDisk::new(160 * 1024 * 1024).filter(SmallDisk::keeps_users);
    let disk = Arc::new(disk.expect("only root may have a file system for PostgreSQL"));
    let mut postgres = Setup::new().on(&disk).start();
    let history = Trial::run(&postgres.url(), |trial| {
        for _ in 0..2 {
            let away = trial.recorder().now();
            let before = refused(&trial.recorder().history()).len();
            disk.fill(0);
            until("a call to be refused", || {
                (refused(&trial.recorder().history()).len() > before).then_some(())
            });
            disk.empty();
            if !postgres.is_running() {
                postgres.restart();
            }
            trial.outage_since(away);
            trial.until_more(100);
        }
    });
    assert!(!refused(&history).is_empty());
}
