//! Where PostgreSQL's programs are, and the user that they run as.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian has every major version, and where `scripts/setup services` puts those that it
/// brings.
const SYSTEM: &str = "/usr/lib/postgresql";
const BROUGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/postgres");

/// Programs of one version, run as a user who is not root.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) major: u32,
    folder: PathBuf,
    /// User and group, when this test runs as root, which PostgreSQL refuses.
    owner: Option<(u32, u32)>,
    /// The command that starts the others, where they are to see a file system of their own.
    enter: Vec<String>,
}

impl Programs {
    /// Finds those of a major version; without one, of `HALYARD_TEST_POSTGRES_VERSION` or else the
    /// system's newest. Copies them into `home` when they lie where only root may look.
    pub(super) fn find(major: Option<u32>, home: &Path, enter: &[String]) -> Self {
        let asked = || std::env::var("HALYARD_TEST_POSTGRES_VERSION").ok()?.parse().ok();
        let newest = || versions(Path::new(SYSTEM)).max();
        let major = major.or_else(asked).or_else(newest).unwrap_or(18);
        let places = [SYSTEM, BROUGHT].map(|root| Path::new(root).join(major.to_string()));
        let folder = places.into_iter().find(|place| place.join("bin/postgres").exists());
        let folder = folder.unwrap_or_else(|| {
            let setup = "scripts/setup services";
            panic!("no PostgreSQL {major}: HALYARD_TEST_POSTGRES_VERSIONS={major} {setup}")
        });
        let root = rustix::process::getuid().is_root();
        let enter = enter.to_vec();
        let mut programs = Self { major, folder, owner: root.then(owner), enter };
        if !programs.may_read(&programs.folder.join("bin/postgres")) {
            let copy = home.join("programs");
            let copied = Command::new("cp").arg("-a").args([&programs.folder, &copy]).status();
            assert!(copied.is_ok_and(|status| status.success()), "the programs can be copied");
            programs.folder = copy;
        }
        programs
    }

    /// The command that runs one of them.
    pub(super) fn command(&self, name: &str) -> Command {
        self.as_owner(self.folder.join("bin").join(name))
    }

    /// The command that runs any program as the user of PostgreSQL.
    pub(super) fn as_owner(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = match (self.enter.split_first(), self.owner) {
            (None, owner) => {
                let mut command = Command::new(program);
                if let Some((user, group)) = owner {
                    command.uid(user).gid(group);
                }
                command
            }
            // Only root may enter, so the user changes afterwards.
            (Some((first, others)), owner) => {
                let (user, group) = owner.expect("only root has a file system of its own here");
                let mut command = Command::new(first);
                command.args(others).args(["setpriv", "--clear-groups"]);
                command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
                command.arg(program);
                command
            }
        };
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Gives a file or folder to the user of PostgreSQL.
    pub(super) fn give(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            chown(path, Some(user), Some(group)).expect("root may give a file away");
        }
    }

    fn may_read(&self, path: &Path) -> bool {
        self.as_owner("test").arg("-r").arg(path).status().is_ok_and(|status| status.success())
    }
}

/// The major versions that have a folder there.
fn versions(root: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The user `postgres`, which Debian's package makes, or else `nobody`.
fn owner() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").expect("the users of this machine");
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody")).expect("a user `postgres` or `nobody`")
}
