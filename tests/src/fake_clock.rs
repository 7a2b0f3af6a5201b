//! A wall clock that a test moves under a running server.
//!
//! libfaketime (Debian: `libfaketime`; `scripts/setup faketime` installs it) is loaded before the
//! server and tells it wall time with an offset, which it reads from a file. The monotonic clock
//! stays as it is, as on a machine whose clock is set.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::server::Setup;

const LIBRARY: &str = "faketime/libfaketime.so.1";

/// One of them.
#[derive(Debug)]
pub struct FakeClock {
    directory: TempDir,
}

impl FakeClock {
    /// One that is right.
    ///
    /// # Panics
    ///
    /// When its file cannot be written.
    #[must_use]
    pub fn new() -> Self {
        let clock = Self { directory: TempDir::new().expect("a temporary directory") };
        clock.set(0);
        clock
    }

    /// From now on the clock is so many seconds ahead of the machine's, or behind it.
    ///
    /// # Panics
    ///
    /// When its file cannot be written.
    pub fn set(&self, seconds: i64) {
        let new = self.directory.path().join("new");
        std::fs::write(&new, format!("{seconds:+}")).expect("a file");
        // In one step: the server reads it at any time.
        std::fs::rename(new, self.file()).expect("a file");
    }

    /// A server that goes by this clock.
    ///
    /// # Panics
    ///
    /// When libfaketime is not installed.
    #[must_use]
    pub fn show_to(&self, setup: Setup) -> Setup {
        let file = self.file();
        setup
            .env("LD_PRELOAD", &library().to_string_lossy())
            .env("FAKETIME_TIMESTAMP_FILE", &file.to_string_lossy())
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }

    fn file(&self) -> PathBuf {
        self.directory.path().join("offset")
    }
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

/// Debian has it in a folder for the machine's architecture, others beside their libraries.
fn library() -> PathBuf {
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let architectures = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut places = folders.into_iter().chain(architectures.map(|entry| entry.path()));
    let found = places.find(|place| place.join(LIBRARY).exists());
    found.expect("libfaketime: run `scripts/setup faketime`").join(LIBRARY)
}
