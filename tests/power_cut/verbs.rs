//! Every verb of Halyard's store, with the power cut at each of its writes and syncs.
//!
//! The contract's random commands, compared with the model. Each command meets a cut, on what is
//! left of that another one a few steps later, and so on until it gets through. After every cut the
//! directory is examined and opened again: either nothing of the call happened, or all of it.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use halyard_store::Store;
use halyard_store::contract::random::trouble::{self, Place};
use halyard_store::sqlite::doctor::{self, Depth, Level};
use halyard_store::sqlite::{DATABASE_FILE, Options, Sqlite};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rusqlite::types::Value;
use tempfile::TempDir;

use crate::seed;
use crate::vfs::PowerCut;

/// What the doctor says of rows and files, and not of the machine that they lie on.
const CHECKS: [&str; 6] = ["checkpoints", "counters", "integrity", "jobs", "keys", "orphans"];

/// A directory on a disk whose power is cut.
struct Dying(RefCell<Life>);

struct Life {
    directory: TempDir,
    power: PowerCut,
    chance: StdRng,
    /// Steps before the first cut of a command, and between that and the others.
    offset: u64,
    stride: u64,
}

impl Dying {
    fn place(seed: u64) -> Rc<dyn Place> {
        let mut chance = StdRng::seed_from_u64(seed);
        let (directory, power) =
            (tempfile::tempdir().unwrap(), PowerCut::register(chance.random()));
        Rc::new(Self(RefCell::new(Life { directory, power, chance, stride: 1, offset: 0 })))
    }
}

impl Place for Dying {
    fn open(&self, store: halyard_store::options::Options) -> Arc<dyn Store> {
        let life = self.0.borrow();
        let options = Options {
            store,
            readers: 1,
            on_fatal: Arc::new(|_| ()),
            vfs: Some(life.power.name().to_owned()),
            ..Options::default()
        };
        Arc::new(Sqlite::open(life.directory.path(), options).unwrap())
    }

    fn fail_after(&self, writes: Option<u64>) {
        let mut life = self.0.borrow_mut();
        let life = &mut *life;
        if writes == Some(0) {
            // The least that a call writes is a page, before it the place of the page, and a sync.
            life.offset = life.chance.random_range(0..3);
            // Now and then each step of a command is its last, mostly some of them.
            life.stride = [1, 4, 12][life.chance.random_range(0..3)];
        }
        let steps = writes.map_or(u64::MAX, |writes| life.offset + writes * life.stride);
        life.power.disk().cut_after(steps);
    }

    fn dump(&self) -> String {
        let life = self.0.borrow();
        let database =
            rusqlite::Connection::open(life.directory.path().join(DATABASE_FILE)).unwrap();
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut tables = database.prepare(tables).unwrap();
        let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let mut text = String::new();
        for name in names.map(Result::unwrap) {
            let mut statement = database.prepare(&format!("SELECT * FROM {name}")).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let values: Vec<Value> =
                    (0..columns).map(|column| row.get(column).unwrap()).collect();
                writeln!(text, "{name} {values:?}").unwrap();
            }
        }
        text
    }

    fn examine(&self) {
        let mut life = self.0.borrow_mut();
        let life = &mut *life;
        assert_eq!(life.power.open_files(), 0, "the store closes its files when it is dropped");
        if life.power.disk().dark() {
            let next = tempfile::tempdir().unwrap();
            life.power.disk().recover_into(next.path());
            life.directory = next;
            life.power = PowerCut::register(life.chance.random());
        }
        is_sound(life.directory.path());
    }

    fn has_ended(&self) -> bool {
        self.0.borrow().power.disk().dark()
    }
}

fn is_sound(directory: &Path) {
    let findings = doctor::examine(directory, Depth::Full, 0);
    let looked = findings.iter().filter(|finding| CHECKS.contains(&finding.check));
    let bad: Vec<_> = looked.clone().filter(|finding| finding.level == Level::Error).collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert!(looked.count() >= CHECKS.len() - 1, "{findings:?}");
}

#[test]
fn a_verb_happens_wholly_or_not_at_all() {
    let seed = seed();
    // Those sequences in which no count is in memory alone when a command begins.
    let cuts = trouble::run(|| Dying::place(seed), (0..24).map(|number| 8 * number));
    println!("{cuts:?}");
    let cut: Vec<_> = cuts.keys().collect();
    assert_eq!(cut, trouble::VERBS, "{cuts:?}");
}
