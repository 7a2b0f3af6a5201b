//! What is heard of the workers and of the provider: put into words, and counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use halyard::Halyard;
use halyard::api::state::AttemptState;
use tokio::sync::oneshot;

use super::cast;
use super::note::Note;
use super::processes::Dialogue;
use super::provider::Deed;
use super::voices::{Narrator, Voice};

/// How often handlers ran, by whom it was about.
#[derive(Debug, Default)]
pub(super) struct Tally(Mutex<BTreeMap<String, u64>>);

impl Tally {
    fn add(&self, subject: &str) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *runs.entry(subject.to_owned()).or_default() += 1;
    }

    pub(super) fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Who hears the notes of one worker.
pub(super) struct Listener {
    pub(super) voice: Voice,
    pub(super) narrator: Arc<Narrator>,
    pub(super) halyard: Halyard,
    pub(super) runs: Arc<Tally>,
    /// Whether charges carry their key.
    pub(super) keyed: bool,
}

impl Listener {
    pub(super) async fn listen(
        self,
        mut dialogue: Dialogue,
        ready: oneshot::Sender<()>,
        reached: oneshot::Sender<()>,
    ) {
        let (mut ready, mut reached) = (Some(ready), Some(reached));
        while let Some(note) = dialogue.next().await {
            match note {
                Note::Ready => drop(ready.take().map(|ready| ready.send(()))),
                Note::Reached => drop(reached.take().map(|reached| reached.send(()))),
                Note::Said { subject, text } => {
                    self.narrator.say(self.voice, format!("{subject}: {text}"));
                }
                Note::Run { job_id, subject, attempt, life, checkpoints } => {
                    self.runs.add(&subject);
                    if attempt > 1 {
                        self.tell_what_ended(&job_id, &subject).await;
                    }
                    if let Some(text) = self.again(attempt, life, &checkpoints) {
                        self.narrator.say(self.voice, format!("{subject}: {text}"));
                    }
                    dialogue.go_on().await;
                }
            }
        }
    }

    /// What the server has on record about the attempt before this one, if nobody reported it.
    async fn tell_what_ended(&self, job_id: &str, subject: &str) {
        let Ok(job) = self.halyard.jobs().get(job_id).await else { return };
        let Some(before) = job.attempts.get(1) else { return };
        let number = before.attempt;
        let text = match before.state {
            AttemptState::Lost => format!("attempt {number} is lost: its lease ended, no report"),
            AttemptState::TimedOut => {
                format!("attempt {number} timed out after {} s", job.timeout_ms / 1_000)
            }
            _ => return,
        };
        self.narrator.say(Voice::Server, format!("{subject}: {text}"));
    }

    /// What is worth saying when a handler starts: nothing the first time.
    fn again(&self, attempt: u64, life: u64, checkpoints: &[String]) -> Option<String> {
        let key = if self.keyed { "the same key: the job's id" } else { "no key" };
        match (attempt, life, checkpoints) {
            (1, 1, _) => None,
            (1, ..) => Some("runs again, after the retry by hand".to_owned()),
            (_, _, []) => Some(format!("attempt {attempt}, with {key}")),
            (_, _, done) => {
                Some(format!("attempt {attempt}, goes on after checkpoint {}", done.join(", ")))
            }
        }
    }
}

/// What the provider did, for people.
pub(super) fn told(deed: &Deed) -> String {
    let customer = deed.customer.as_deref().unwrap_or("somebody");
    let name = customer.strip_prefix("cus_").unwrap_or(customer);
    let amount = deed.body.get("amount").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let amount = cast::euros(u32::try_from(amount).unwrap_or(u32::MAX));
    let error = |member: &str| {
        let pointer = format!("/error/{member}");
        deed.body.pointer(&pointer).and_then(serde_json::Value::as_str).unwrap_or_default()
    };
    match deed.status {
        _ if deed.replayed => format!("{name}: key known: first answer again, nothing charged"),
        200 if deed.hold_ms > 0 => format!("{name}: {amount} charged, but the answer is late"),
        200 => format!("{name}: {amount} charged"),
        402 => format!("{name}: 402 card declined, {}", error("decline_code")),
        429 => {
            let seconds = deed.retry_after_s.unwrap_or_default();
            format!("{name}: 429 too many requests, Retry-After: {seconds}")
        }
        status => format!("{name}: {status} {}", error("message")),
    }
}
