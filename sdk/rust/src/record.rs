//! Where a job's checkpoints are written: to the server, or to memory in tests.

use std::sync::{Arc, Mutex, PoisonError};

use halyard_api::Timestamp;
use halyard_api::job::Checkpoint;
use halyard_api::jobs::checkpoints::{CheckpointAnswer, WriteCheckpoint};
use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedSender;

use crate::abort::AbortReason;
use crate::connection::{Answer, Connection};
use crate::error::{CheckpointConflict, Error};
use crate::job::{Checkpoints, Inner};
use crate::testing::proof::{self, Point};
use crate::worker::{Event, Slot};
use crate::{leases, retry};

/// Where checkpoints go.
pub(crate) enum Record {
    /// To the server, under the token of this start.
    Server(ServerRecord),
    /// To the list of checkpoints itself, as a fake job does.
    Memory,
    /// To what stands for the server in a proof of idempotency, with a point before and after.
    Proof(Arc<Checkpoints>),
}

/// What it takes to write to the server.
pub(crate) struct ServerRecord {
    pub(crate) connection: Arc<Connection>,
    pub(crate) token: String,
    pub(crate) slot: Slot,
    /// To the worker, which learns here of cancels and lost leases.
    pub(crate) events: UnboundedSender<Event>,
    /// The result with which the handler completed the job in a transaction of its own.
    pub(crate) completed_in: Mutex<Option<Box<RawValue>>>,
}

impl Record {
    /// Writes a checkpoint, and answers with it as it stands.
    pub(crate) async fn write(
        &self,
        job: &Inner,
        name: &str,
        value: Option<Box<RawValue>>,
    ) -> Result<Checkpoint, Error> {
        match self {
            Self::Server(server) => server.write(job, name, value).await,
            Self::Memory => remember(&job.checkpoints, job, name, value),
            Self::Proof(stored) => {
                proof::pass(Point::before_checkpoint(name)).await;
                // The lease may have been lost there.
                job.signal.check()?;
                let checkpoint = remember(stored, job, name, value)?;
                proof::pass(Point::after_checkpoint(name)).await;
                Ok(checkpoint)
            }
        }
    }
}

impl Record {
    /// The server that knows this job.
    pub(crate) fn server(&self) -> Result<&ServerRecord, Error> {
        let Self::Server(server) = self else {
            let what = "no server knows this job, so no transaction can change it";
            return Err(Error::Settings(what.to_owned()));
        };
        Ok(server)
    }

    /// The result with which the handler completed the job in a transaction of its own.
    pub(crate) fn completed_in(&self) -> Option<Box<RawValue>> {
        let server = self.server().ok()?;
        server.completed_in.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ServerRecord {
    /// Remembers with what the handler has completed the job.
    pub(crate) fn set_completed_in(&self, result: Box<RawValue>) {
        *self.completed_in.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    async fn write(
        &self,
        job: &Inner,
        name: &str,
        value: Option<Box<RawValue>>,
    ) -> Result<Checkpoint, Error> {
        let write = WriteCheckpoint { token: self.token.clone(), name: name.to_owned(), value };
        let request = leases::checkpoint_request(&self.connection, &job.id, &write)?;
        let repeated = async {
            let mut repeats = 0;
            loop {
                let asked = match self.connection.send_once(&request).await {
                    Ok(answer) if retry::is_temporary(answer.status) => answer.retry_after,
                    Ok(answer) => return answer,
                    Err(_) => None,
                };
                repeats += 1;
                tokio::time::sleep(retry::pause(repeats, asked, rand::random())).await;
            }
        };
        // An answer that is there counts, also when the handler is aborted at the same moment.
        tokio::select! {
            biased;
            answer = repeated => self.read(&answer),
            reason = job.signal.aborted() => Err(Error::Aborted(reason)),
        }
    }

    fn read(&self, answer: &Answer) -> Result<Checkpoint, Error> {
        if !answer.is_success() {
            let error = answer.error();
            if error.code() == Some("lease_lost") {
                self.tell(AbortReason::LeaseLost);
                return Err(Error::Aborted(AbortReason::LeaseLost));
            }
            return Err(error);
        }
        let written: CheckpointAnswer = answer.json()?;
        if written.cancel_requested {
            self.tell(AbortReason::Cancelled);
        }
        let CheckpointAnswer { name, value, life, attempt, start, created_at, .. } = written;
        Ok(Checkpoint { name, value, life, attempt, start, created_at })
    }

    pub(crate) fn tell(&self, reason: AbortReason) {
        // A worker that is gone has told the handler already.
        let _ = self.events.send(Event::Told { slot: self.slot, reason });
    }
}

/// First write wins, as on the server.
fn remember(
    checkpoints: &Checkpoints,
    job: &Inner,
    name: &str,
    value: Option<Box<RawValue>>,
) -> Result<Checkpoint, Error> {
    let mut checkpoints = checkpoints.lock();
    if let Some(first) = checkpoints.iter().find(|checkpoint| checkpoint.name == name) {
        let (first_value, new_value) = (first.value.as_deref(), value.as_deref());
        return if json_value(first_value) == json_value(new_value) {
            Ok(first.clone())
        } else {
            let (name, value) = (first.name.clone(), first.value.clone());
            Err(Error::CheckpointConflict(Box::new(CheckpointConflict { name, value })))
        };
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.ok().and_then(|time| i64::try_from(time.as_millis()).ok()).unwrap_or_default();
    let checkpoint = Checkpoint {
        name: name.to_owned(),
        value,
        life: job.life,
        attempt: job.attempt,
        start: job.start,
        created_at: Timestamp::from_ms(now),
    };
    checkpoints.push(checkpoint.clone());
    Ok(checkpoint)
}

/// The value as JSON compares it; none is `null`.
fn json_value(text: Option<&RawValue>) -> serde_json::Value {
    text.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
}
