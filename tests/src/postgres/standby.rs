//! A second server that follows the first, and takes its place.

use std::fs;
use std::path::Path;

use tokio_postgres::Client;

use super::server::Home;
use super::session::{in_session, rows};
use super::{Postgres, value};
use crate::until;

impl Postgres {
    /// Makes a copy of the running server that follows it under this name, and waits until it
    /// does. Nobody waits for the copy before [`Postgres::require`].
    ///
    /// # Panics
    ///
    /// When that fails; the message holds what PostgreSQL says.
    pub fn standby(&self, name: &str) -> Postgres {
        let home = Home::new(Some(self.version()), None);
        self.copy_to(&home);
        let url = self.url();
        let connection = format!(
            "host={} port={} user={} password={} application_name={name}",
            url.address.ip(),
            url.address.port(),
            url.user,
            url.password
        );
        let own = [("primary_conninfo", connection.as_str()), ("synchronous_standby_names", "")];
        home.configure(own.into_iter());
        home.write(&home.seen.join("standby.signal"), "");
        let standby = Postgres::start_in(home, &url.password);
        let streaming = format!(
            "SELECT count(*) FROM pg_stat_replication
             WHERE application_name = '{name}' AND state = 'streaming'"
        );
        until("the standby to stream", || (self.value(&streaming) == "1").then_some(()));
        standby
    }

    /// From now on a commit waits for the standby of this name, as `synchronous_commit` says; an
    /// empty name ends that.
    ///
    /// # Panics
    ///
    /// When the standby does not become a synchronous one.
    pub fn require(&self, name: &str) {
        self.set("synchronous_standby_names", name);
        // The process that makes checkpoints tells the others that they have to wait. It takes new
        // settings on before it makes the next one.
        self.run("CHECKPOINT");
        let in_step = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let wanted = if name.is_empty() { "0" } else { "1" };
        until("the standby to be required", || (self.value(in_step) == wanted).then_some(()));
    }

    /// Makes a standby the one that takes writes. The old one is the test's to stop first.
    ///
    /// # Panics
    ///
    /// When it does not become that.
    pub fn promote(&self) {
        assert_eq!(self.value("SELECT pg_promote(true, 60)"), "t", "promoted in time");
        let follows = || value(&self.url(), "SELECT pg_is_in_recovery()");
        until("the end of recovery", || (follows() == "f").then_some(()));
    }

    /// Copies the files of the running server, by PostgreSQL's rules for that: between a start and
    /// an end that it is told, and without what belongs to the running process. (pg_basebackup
    /// does the same, but only Debian's package has it, for its own version.)
    fn copy_to(&self, home: &Home) {
        let (begin, end) = match self.version() {
            14 => ("pg_start_backup('copy', true, false)", "pg_stop_backup(false, false)"),
            _ => ("pg_backup_start('copy', true)", "pg_backup_stop(false)"),
        };
        let (from, to) = (&self.home().data, &home.data);
        let copied = in_session(&self.url(), async |client: &Client| {
            rows(client, &format!("SELECT {begin}")).await?;
            copy(self.home(), from, to);
            rows(client, &format!("SELECT labelfile FROM {end}")).await
        });
        let label = copied.expect("PostgreSQL allows a copy");
        let label = label.first().and_then(|row| row.first()?.as_deref()).expect("a label");
        for gone in ["postmaster.pid", "postmaster.opts", "backup_label"] {
            let _ = fs::remove_file(to.join(gone));
        }
        for segment in fs::read_dir(to.join("pg_wal")).expect("the folder of the log").flatten() {
            // Folders stay; files come over the wire.
            let _ = fs::remove_file(segment.path());
        }
        home.write(&to.join("backup_label"), label);
    }
}

/// Copies a folder while files come and go in it.
fn copy(home: &Home, from: &Path, to: &Path) {
    let mut command = home.programs.as_owner("cp");
    let output = command.arg("-a").args([from, to]).env("LC_ALL", "C").output().expect("cp");
    let errors = String::from_utf8_lossy(&output.stderr);
    let serious = errors.lines().find(|line| !line.contains("No such file or directory"));
    assert_eq!(serious, None, "the copy is whole");
}
