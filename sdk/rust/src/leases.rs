//! The four calls of a worker, for those who write one of their own.
//!
//! [`Worker`](crate::Worker) keeps the rules that these calls need: renew in time, report until
//! the report is taken, throw away what a lost lease produced.

use std::time::Duration;

use halyard_api::jobs::checkpoints::{CheckpointAnswer, WriteCheckpoint};
use halyard_api::jobs::claim::{Claim, ClaimAnswer};
use halyard_api::jobs::finish::{Finish, FinishAnswer};
use halyard_api::jobs::heartbeat::{Heartbeat, HeartbeatAnswer};

use crate::connection::{Connection, Request};
use crate::error::Error;

/// The calls of a worker. Every one may fail with [`Error::Connection`] and [`Error::Api`].
#[derive(Clone, Copy)]
pub struct Leases<'a> {
    pub(crate) connection: &'a Connection,
}

impl Leases<'_> {
    /// Leases jobs, waiting up to `wait_ms` for one. A claim without a `claim_id` gets one, so
    /// that jobs whose answer was lost are answered again.
    pub async fn claim(&self, mut claim: Claim) -> Result<ClaimAnswer, Error> {
        claim.claim_id.get_or_insert_with(|| crate::ids::make("clm"));
        let mut request = claim_request(self.connection, &claim)?;
        let first = self.connection.send_once(&request).await;
        if let Ok(answer) = &first
            && answer.status == 200
        {
            return answer.json();
        }
        claim.repeat = Some(true);
        request = claim_request(self.connection, &claim)?;
        self.connection.send(&request).await?.json()
    }

    /// Renews leases and says that the worker is alive.
    pub async fn heartbeat(&self, heartbeat: &Heartbeat) -> Result<HeartbeatAnswer, Error> {
        let request = heartbeat_request(self.connection, heartbeat)?;
        self.connection.send(&request).await?.json()
    }

    /// Reports what became of starts, each judged by itself.
    pub async fn finish(&self, finish: &Finish) -> Result<FinishAnswer, Error> {
        let request = finish_request(self.connection, finish)?;
        self.connection.send(&request).await?.json()
    }

    /// Writes a checkpoint of a job.
    ///
    /// # Errors
    ///
    /// `lease_lost`; [`Error::CheckpointConflict`] when it stands with another value.
    pub async fn checkpoint(
        &self,
        id: &str,
        checkpoint: &WriteCheckpoint,
    ) -> Result<CheckpointAnswer, Error> {
        let request = checkpoint_request(self.connection, id, checkpoint)?;
        self.connection.send(&request).await?.json()
    }
}

pub(crate) fn claim_request(connection: &Connection, claim: &Claim) -> Result<Request, Error> {
    let wait = claim.wait_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or_default();
    let request = connection.post(&["v1", "jobs", "claim"])?.json(claim)?;
    Ok(request.waiting(Duration::from_millis(wait)))
}

pub(crate) fn heartbeat_request(
    connection: &Connection,
    heartbeat: &Heartbeat,
) -> Result<Request, Error> {
    connection.post(&["v1", "jobs", "heartbeat"])?.json(heartbeat)
}

pub(crate) fn finish_request(connection: &Connection, finish: &Finish) -> Result<Request, Error> {
    connection.post(&["v1", "jobs", "finish"])?.json(finish)
}

pub(crate) fn checkpoint_request(
    connection: &Connection,
    id: &str,
    checkpoint: &WriteCheckpoint,
) -> Result<Request, Error> {
    connection.post(&["v1", "jobs", id, "checkpoints"])?.json(checkpoint)
}
