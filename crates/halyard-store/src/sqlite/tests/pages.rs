//! Pages that purged jobs leave empty go back to the file system.

use halyard_core::admission::NewJob;
use halyard_core::chance::Seed;
use halyard_core::retention::Retention;
use halyard_json::Text;
use rusqlite::Connection;

use super::budget::{in_one_group, job};
use crate::sqlite::statements::Statements;
use crate::sqlite::transaction::Tx;
use crate::sqlite::{Options, create, migrations, operate, watch};

const JOBS: u64 = 100;

#[test]
fn a_prune_gives_some_of_the_emptied_pages_back() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").unwrap();
    migrations::migrate(&mut connection).unwrap();
    let sql = Statements::prepare(&connection).unwrap();
    let mut tx = Tx::load(&connection, sql, &Options::default()).unwrap();
    in_one_group(&mut tx, |tx| {
        let payload = Text::parse(&format!("{:?}", "x".repeat(20_000)), 64).unwrap();
        let large = |number| NewJob { payload: payload.clone(), ..job(number, false) };
        let jobs: Vec<NewJob> = (1..=JOBS).map(large).collect();
        create::create(tx, &jobs, None).unwrap();
        for job in &jobs {
            operate::cancel(tx, job.id, Seed([1; 32]), None).unwrap();
        }
    });
    let pages = || connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let before: i64 = pages();
    let retention = Retention { cancelled_ms: 0, ..Retention::default() };
    in_one_group(&mut tx, |tx| {
        assert_eq!(watch::prune(tx, 2 * JOBS as usize, &retention).unwrap(), JOBS as usize);
    });
    assert_eq!(before - pages(), 256);
}
