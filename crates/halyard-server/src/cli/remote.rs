//! Commands that speak to a running server, as anybody could: through the Rust SDK.

use std::future::Future;
use std::process::ExitCode;
use std::time::Duration;

use halyard::{Error, Halyard};

use super::failure::Failure;
use super::screen::{Screen, clean};

/// A person waits: what cannot be reached for so long is said to be away.
const RETRY_FOR: Duration = Duration::from_secs(2);

/// Where these stand in the help.
const SERVER: &str = "The server and its answer";

/// Where the server is, and how it answers.
#[derive(Clone, Debug, clap::Args)]
pub struct Remote {
    /// Where the server is [default: http://127.0.0.1:7373] [env: HALYARD_URL].
    // The variables are read here and not by the parser, which would show what is set as if it
    // had to be given, and could not tell a flag from a variable.
    #[arg(long, global = true, value_name = "URL", help_heading = SERVER)]
    url: Option<String>,
    /// The server's key, if it wants one [env: HALYARD_API_KEY]. Better set by its variable: flags
    /// can be seen by others.
    #[arg(long, global = true, value_name = "KEY")]
    api_key: Option<String>,
    /// Print the server's answer as JSON, which is what a pipe gets anyway.
    #[arg(long, global = true, help_heading = SERVER)]
    pub json: bool,
}

impl Remote {
    /// Whether a flag says where the server is.
    #[must_use]
    pub fn is_named_by_flag(&self) -> bool {
        self.url.as_deref().is_some_and(|url| !url.is_empty())
    }

    /// Where the server was said to be, by the flag or the variable.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        flag_or(self.url.as_deref(), "HALYARD_URL")
    }

    fn api_key(&self) -> Option<String> {
        flag_or(self.api_key.as_deref(), "HALYARD_API_KEY")
    }

    /// A client of that server.
    ///
    /// # Errors
    /// The address or the key cannot be used.
    pub fn client(&self) -> Result<Halyard, Failure> {
        let mut builder = Halyard::builder().retry_for(RETRY_FOR);
        if let Some(url) = self.url() {
            if !url.contains("://") {
                let url = clean(&url);
                return Err(Failure::usage(format!(
                    "the server's address `{url}` lacks its beginning: http://{url}"
                )));
            }
            builder = builder.url(url);
        }
        if let Some(key) = self.api_key() {
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
        let done = runtime.block_on(command(client, screen));
        done.map_err(|error| match error.downcast_ref::<Error>() {
            Some(refusal) if refusal.code() == Some("unauthenticated") && self.has_key() => {
                Failure::wrong_key().into()
            }
            _ => error,
        })
    }

    fn has_key(&self) -> bool {
        self.api_key().is_some()
    }
}

fn flag_or(flag: Option<&str>, variable: &str) -> Option<String> {
    let given = flag.map(str::to_owned).filter(|value| !value.is_empty());
    given.or_else(|| std::env::var(variable).ok().filter(|value| !value.is_empty()))
}
