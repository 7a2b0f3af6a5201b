//! Waits until a job has ended, for the commands with `--wait`.
//!
//! A server that goes away meanwhile, to be restarted for instance, does not end the wait: it is
//! asked again until the time is up.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use halyard::{Error, Halyard, State};

use super::super::failure::Failure;
use super::super::screen::{Screen, clean};
use super::show;

/// Between two attempts to reach a server, each of which tries for a while.
const PAUSE: Duration = Duration::from_millis(500);

/// Waits until the job has ended, and prints it; the exit code says how it ended.
///
/// # Errors
/// The time is up, the job is gone, or the server could not be reached to the end.
pub(super) async fn until_ended(
    client: &Halyard,
    id: &str,
    wait: Duration,
    screen: &Screen,
) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let mut is_away = false;
    loop {
        let left = wait.saturating_sub(begin.elapsed());
        let error = match client.jobs().wait(id, left).await {
            Ok(job) => {
                show::print(&job, screen)?;
                let completed = job.state == State::Completed;
                return Ok(if completed { ExitCode::SUCCESS } else { ExitCode::FAILURE });
            }
            // Not what was left of the time, but all that was given.
            Err(Error::WaitTimeout { id, .. }) => Error::WaitTimeout { id, timeout: wait },
            Err(error) => error,
        };
        let left = wait.saturating_sub(begin.elapsed());
        if !is_outage(&error) || left.is_zero() {
            return Err(Failure::with_hint(&error, &hint(id)).into());
        }
        if !is_away {
            is_away = true;
            let error = clean(&error.to_string());
            anstream::eprintln!("halyard: {error}\n  still waiting; {}", hint(id));
        }
        tokio::time::sleep(PAUSE.min(left)).await;
    }
}

/// Whether asking again may help.
fn is_outage(error: &Error) -> bool {
    match error {
        Error::Connection(_) => true,
        Error::Api(refusal) => refusal.status >= 500,
        _ => false,
    }
}

fn hint(id: &str) -> String {
    format!("the job is stored, look at it with `halyard jobs get {}`", clean(id))
}
