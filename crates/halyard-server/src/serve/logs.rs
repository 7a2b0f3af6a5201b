//! Where the log goes: standard error, as text on a terminal and as JSON otherwise.

use std::io::IsTerminal;

use anyhow::Context;
use tracing_subscriber::EnvFilter;

/// How a line of the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one object a line.
    Json,
}

/// Characters of a panic's message that are logged.
const PANIC_CHARS_MAX: usize = 1_000;

/// Starts logging. `filter` is a level, or levels by module.
///
/// # Errors
/// The filter cannot be read, or logging was started before.
pub fn start(filter: &str, format: Option<LogFormat>) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("HALYARD_LOG is {filter:?}, which is no log filter"))?;
    let terminal = std::io::stderr().is_terminal();
    let format = format.unwrap_or(if terminal { LogFormat::Text } else { LogFormat::Json });
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.with_ansi(terminal).with_target(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    }
    .map_err(|error| anyhow::anyhow!("logging cannot be started: {error}"))?;
    std::panic::set_hook(Box::new(|panic| {
        // The message may hold what a client sent, so it is cut like everything else that does.
        let panic: String = panic.to_string().chars().take(PANIC_CHARS_MAX).collect();
        tracing::error!(panic, "panicked");
    }));
    Ok(())
}
