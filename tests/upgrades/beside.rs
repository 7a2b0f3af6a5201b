//! A real older program beside this one, on a schema that this one makes newer.

use halyard_tests::postgres::{Database, tables_are_sound, value};
use halyard_tests::server::binary;

use crate::newer::{refusal, while_working};
use crate::on;

const OLDER: &str = "HALYARD_OLDER_BIN";

/// Needs a program of the schema before. As `HALYARD_BIN` it is started by tests; here it is the
/// other one, so it is named by a variable of its own.
#[test]
#[ignore = "needs HALYARD_OLDER_BIN, a program of the schema before this one's"]
fn an_older_server_works_on_beside_a_newer_one_and_does_not_start_again() {
    let older = std::env::var(OLDER).unwrap_or_else(|_| panic!("{OLDER} is not set"));
    let database = Database::new();
    let url = database.url();
    let number = || value(&url, "SELECT max(number) FROM halyard.migrations");
    // The name of the other binary, which comes first, is the shell's own.
    let command = ["sh".to_owned(), "-c".to_owned(), format!("exec '{older}' \"$@\"")];
    let mut old = on(&url).started_by(&command).start();
    let before = number();
    let mut new = None;
    while_working(&[&old], || new = Some(on(&url).start()));
    let mut new = new.unwrap();
    assert_ne!(number(), before, "{} is no newer program", binary().display());
    while_working(&[&old, &new], || {});
    let process = old.process().log();
    assert!(!process.contains("ERROR") && !process.contains("WARN"), "{process}");
    assert!(old.stop().success());
    let told = refusal(&on(&url).started_by(&command));
    assert!(told.contains("was written by a newer Halyard"), "{told}");
    while_working(&[&new], || {});
    assert!(new.stop().success());
    tables_are_sound(&url);
}
