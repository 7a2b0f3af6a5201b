//! Reading what a verb needs to know of a job.

use halyard_core::checkpoint::Checkpoint;
use halyard_core::error::ErrorReport;
use halyard_core::id::{JobId, Token};
use halyard_core::job::{Attempt, Details, Job, JobView, State};
use halyard_core::operate;
use halyard_json::Text;
use rusqlite::OptionalExtension;

use super::rows;
use super::transaction::Tx;
use super::writer::Ran;

impl Tx<'_> {
    pub(super) fn job_by_id(&mut self, id: JobId) -> Ran<Option<Job>> {
        if let Some(job) = self.running.get(&id) {
            return Ok(Some(job.clone()));
        }
        let id = id.0.to_be_bytes();
        self.sql.job_by_id.query_one([id], rows::job).optional()
    }

    pub(super) fn job_by_seq(&mut self, seq: i64) -> Ran<Job> {
        self.sql.job_by_seq.query_one([seq], rows::job)
    }

    /// The start that a token belongs to, whatever became of it.
    pub(super) fn start_of_token(
        &mut self,
        job: &Job,
        token: Option<Token>,
    ) -> Ran<Option<Attempt>> {
        let Some(token) = token else { return Ok(None) };
        let is_newest = job.start.as_ref().is_some_and(|start| start.marks.token == token);
        if is_newest && operate::keeps_own_record(job) {
            let result = self.result(job)?;
            return Ok(job.newest_attempt(result.as_ref()));
        }
        let token = token.0.to_be_bytes();
        self.sql.attempt_by_token.query_one((job.seq, token), rows::attempt).optional()
    }

    pub(super) fn view(&mut self, job: Job) -> Ran<JobView> {
        let (details, payload) = self.body(job.seq)?;
        let result = self.result(&job)?;
        let error = self.error(&job)?;
        Ok(JobView { job, details, payload, result, error })
    }

    pub(super) fn body(&mut self, seq: i64) -> Ran<(Details, Text)> {
        self.sql.body.query_one([seq], |row| rows::body(row, 0))
    }

    pub(super) fn result(&mut self, job: &Job) -> Ran<Option<Text>> {
        if job.state != State::Completed {
            return Ok(None);
        }
        self.sql.result.query_one([job.seq], rows::result).optional()
    }

    pub(super) fn error(&mut self, job: &Job) -> Ran<Option<ErrorReport>> {
        let Some(number) = job.error_start else { return Ok(None) };
        let error = |row: &rusqlite::Row<'_>| rows::error(&mut rows::Columns::of(row));
        Ok(self.sql.attempt_error.query_one((job.seq, number), error).optional()?.flatten())
    }

    pub(super) fn checkpoints(&mut self, job: &Job) -> Ran<Vec<Checkpoint>> {
        if job.checkpoints == 0 {
            return Ok(Vec::new());
        }
        self.sql.checkpoints.query_map([job.seq], rows::checkpoint)?.collect()
    }
}
