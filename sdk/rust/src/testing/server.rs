//! The real server, for tests of whole programs.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::client::Halyard;
use crate::error::Error;

/// How long the server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts `halyard serve` on an empty directory and a free port of the loopback interface: the
/// binary that `HALYARD_BIN` names, or the `halyard` of the search path. Settings in other
/// variables called `HALYARD_…` do not reach it.
///
/// # Errors
///
/// [`Error::Settings`] when there is no binary, or it does not begin to listen.
pub async fn start_server() -> Result<TestServer, Error> {
    start_server_from(std::env::var_os("HALYARD_BIN").unwrap_or_else(|| "halyard".into())).await
}

/// [`start_server`], with this binary.
///
/// # Errors
///
/// Those of [`start_server`].
pub async fn start_server_from(binary: impl AsRef<OsStr>) -> Result<TestServer, Error> {
    let binary = binary.as_ref();
    let directory =
        std::env::temp_dir().join(format!("halyard-test-{:032x}", rand::random::<u128>()));
    let mut command = Command::new(binary);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HALYARD_") {
            command.env_remove(name);
        }
    }
    command.args(["serve", "--end-with-stdin", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(&directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| {
        Error::Settings(format!(
            "cannot start {}: {error}; HALYARD_BIN names the server's binary",
            Path::new(binary).display()
        ))
    })?;
    let stdout = child.stdout.take();
    let mut server = TestServer { child, directory, url: String::new() };
    let (say, said) = oneshot::channel();
    std::thread::spawn(move || {
        let mut lines = stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines);
        let _ = say.send(lines.next().and_then(Result::ok));
        // Somebody has to read what it says, or it waits for that.
        lines.for_each(drop);
    });
    let line = tokio::time::timeout(PATIENCE, said).await;
    let line = line.ok().and_then(Result::ok).flatten();
    match line.as_deref().and_then(|line| line.trim().strip_prefix("listening on ")) {
        Some(url) => url.clone_into(&mut server.url),
        None => {
            let said = format!("the server began with {line:?}, not with where it listens");
            return Err(Error::Settings(said));
        }
    }
    Ok(server)
}

/// A running server. It ends, and its directory goes, when this is dropped.
#[derive(Debug)]
pub struct TestServer {
    child: Child,
    directory: PathBuf,
    url: String,
}

impl TestServer {
    /// Where it listens, such as `http://127.0.0.1:41003`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A client of it.
    ///
    /// # Errors
    ///
    /// Those of [`HalyardBuilder::build`](crate::HalyardBuilder::build).
    pub fn client(&self) -> Result<Halyard, Error> {
        Halyard::builder().url(&self.url).build()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_server() {
        let error = start_server_from("/nowhere/halyard").await.expect_err("no binary");
        assert!(error.to_string().contains("HALYARD_BIN names"), "{error}");
        let error = start_server_from("/bin/false").await.expect_err("no server");
        assert!(error.to_string().contains("began with None"), "{error}");
    }
}
