//! SIGTERM and SIGINT: the first one stops the worker, the second one ends the process.

use tokio::sync::mpsc::UnboundedSender;

use super::board::Event;

/// What a shell reports for a process that a signal ended: 128 and the signal's number.
const SIGINT_CODE: i32 = 130;
#[cfg(unix)]
const SIGTERM_CODE: i32 = 143;

/// Follows the signals for as long as the worker runs.
pub(super) async fn follow(events: UnboundedSender<Event>) {
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => {
            tracing::error!("cannot listen for signals: {error}");
            return;
        }
    };
    signals.next().await;
    tracing::info!("stopping; a second signal ends at once");
    if events.send(Event::Stop).is_err() {
        return;
    }
    let code = signals.next().await;
    std::process::exit(code);
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for a signal and says with which code a process that it ends exits.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => SIGTERM_CODE,
            _ = self.interrupt.recv() => SIGINT_CODE,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> i32 {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        SIGINT_CODE
    }
}
