//! Commands that speak to a running server, as anybody could: through the Rust SDK.

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use halyard::Halyard;

use super::failure::Failure;
use super::screen::Screen;

/// A person waits: what cannot be reached for so long is said to be away.
const RETRY_FOR: Duration = Duration::from_secs(2);

/// Where these stand in the help.
const SERVER: &str = "The server and its answer";

/// Where the server is, and how it answers.
#[derive(Clone, Debug, clap::Args)]
pub struct Remote {
    /// Where the server is [default: http://127.0.0.1:7373].
    #[arg(
        long,
        global = true,
        env = "HALYARD_URL",
        value_name = "URL",
        hide_env_values = true,
        help_heading = SERVER
    )]
    pub url: Option<String>,
    /// The server's key, if it wants one. Better set by its variable: flags can be seen by others.
    #[arg(
        long,
        global = true,
        env = "HALYARD_API_KEY",
        value_name = "KEY",
        hide_env_values = true
    )]
    pub api_key: Option<String>,
    /// Print the server's answer as JSON, which is what a pipe gets anyway.
    #[arg(long, global = true, help_heading = SERVER)]
    pub json: bool,
}

impl Remote {
    /// A client of that server.
    ///
    /// # Errors
    /// The address or the key cannot be used.
    pub fn client(&self) -> Result<Halyard, Failure> {
        let mut builder = Halyard::builder().retry_for(RETRY_FOR);
        if let Some(url) = self.url.as_deref().filter(|url| !url.is_empty()) {
            builder = builder.url(url);
        }
        if let Some(key) = self.api_key.as_deref().filter(|key| !key.is_empty()) {
            builder = builder.api_key(key.trim());
        }
        Ok(builder.build()?)
    }

    /// Runs a command with a client and a screen.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run<F>(&self, command: impl FnOnce(Halyard, Screen) -> F) -> anyhow::Result<ExitCode>
    where
        F: Future<Output = anyhow::Result<ExitCode>>,
    {
        let (client, screen) = (self.client()?, Screen::new(self.json));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(command(client, screen))
    }
}
