//! Checkpoint: progress of a live start, durable before its answer.

use halyard_core::chance::Seed;
use halyard_core::checkpoint::{self, Standing, Written};
use halyard_core::planted::{Bug, planted};
use rusqlite::OptionalExtension;

use super::rows::{self, Guard};
use super::transaction::Tx;
use super::writer::Ran;
use crate::verbs::CheckpointWrite;

pub(super) fn checkpoint(tx: &mut Tx<'_>, write: &CheckpointWrite, seed: Seed) -> Ran<Written> {
    let Some(mut job) = tx.settled(write.id, seed)? else { return Ok(Written::NotFound) };
    let before = Guard::of(&job);
    let any = job.running().filter(|_| planted(Bug::TokenUncheckedInCheckpoint));
    let token = any.map_or(write.token, |start| Some(start.marks.token));
    let standing = Standing::of(tx.start_of_token(&job, token)?.as_ref());
    let known = tx
        .sql
        .checkpoint_by_name
        .query_one((job.seq, &*write.name), rows::checkpoint)
        .optional()?;
    let position = job.checkpoints;
    let value = write.value.clone();
    let written = checkpoint::write(&mut job, standing, known, &write.name, value, tx.now);
    match &written {
        Written::New { checkpoint, .. } => {
            tx.sql.checkpoint_insert.execute((
                job.seq,
                position,
                &*checkpoint.name,
                checkpoint.life,
                checkpoint.attempt,
                checkpoint.start,
                checkpoint.created_at,
                checkpoint.value.as_str(),
            ))?;
            tx.save(&job, before)?;
        }
        Written::LeaseLost => tx.count_rejected(job.id),
        Written::Repeated { .. }
        | Written::Conflict(_)
        | Written::TooLarge(_)
        | Written::NotFound => {}
    }
    Ok(written)
}
