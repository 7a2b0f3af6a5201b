//! Writing a difference: all statements go out together, each is one for all rows of its kind.

use futures_util::future::{BoxFuture, FutureExt, join_all};
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{ReportKind, RetryReason};
use uuid::Uuid;

use super::difference::{Difference, state_inserted};
use super::loaded::{Hands, integer};
use super::rows::{self, signed};
use super::save::save;
use super::statements::Parameter;
use super::trouble::root_cause;
use super::{Ran, Trouble, access};
use crate::remembered::Item;
use crate::session::Held;
use crate::session::remembered::{Member, Request};
use crate::verbs::Totals;

impl Difference<'_> {
    /// Writes it, counting in `slot`.
    pub(super) async fn write(&self, hands: Hands<'_>, slot: i16) -> Ran<()> {
        let mut writes: Vec<BoxFuture<'_, Ran<()>>> = Vec::new();
        if !self.removed.is_empty() {
            writes.push(self.remove(hands).boxed());
        }
        if !self.made.is_empty() {
            writes.push(self.insert(hands).boxed());
        }
        if !self.changed.is_empty() {
            writes.push(save(hands, &self.changed).boxed());
        }
        if !(self.attempts.is_empty()
            && self.checkpoints.is_empty()
            && self.checkpoints_dropped.is_empty()
            && self.results.is_empty()
            && self.results_dropped.is_empty())
        {
            writes.push(self.hang(hands).boxed());
        }
        if !(self.keys_freed.is_empty() && self.keys_taken.is_empty()) {
            writes.push(self.write_keys(hands).boxed());
        }
        if self.moves_access() {
            writes.push(access::write(hands, self).boxed());
        }
        if !(self.requests.is_empty() && self.queues.is_empty() && self.stamp.is_none()) {
            writes.push(self.remember(hands).boxed());
        }
        writes.push(self.add_up(hands, slot).boxed());
        root_cause(join_all(writes).await)
    }

    async fn remove(&self, hands: Hands<'_>) -> Ran<()> {
        let sql = hands.sql;
        let zeros = vec![0_i32; self.removed.len()];
        let seqs: [Parameter<'_>; 1] = [&self.removed];
        let from_zero: [Parameter<'_>; 2] = [&self.removed, &zeros];
        tokio::try_join!(biased;
            hands.execute(&sql.jobs_delete, &seqs),
            hands.execute(&sql.bodies_delete, &seqs),
            hands.execute(&sql.results_delete, &seqs),
            hands.execute(&sql.attempts_delete, &seqs),
            hands.execute(&sql.checkpoints_delete, &from_zero),
        )?;
        Ok(())
    }

    async fn insert(&self, hands: Hands<'_>) -> Ran<()> {
        let made = &self.made;
        let seq = of(made, |row| row.job.seq);
        let id = of(made, |row| uuid(row.job.id));
        let task = of(made, |row| &*row.job.task);
        let queue = of(made, |row| &*row.job.queue);
        let state = of(made, |row| small(state_inserted(&row.job).number()));
        let priority = of(made, |row| row.job.priority);
        let created_at = of(made, |row| row.job.created_at);
        let run_at = of(made, |row| row.job.run_at);
        let max_attempts = of(made, |row| integer(row.job.max_attempts));
        let max_crashes = of(made, |row| integer(row.job.max_crashes));
        let timeout_ms = of(made, |row| row.job.timeout_ms);
        let initial_ms = of(made, |row| row.job.backoff.initial_ms);
        let factor = of(made, |row| row.job.backoff.factor);
        let max_ms = of(made, |row| row.job.backoff.max_ms);
        let jitter = of(made, |row| row.job.backoff.jitter);
        let queued_at = of(made, |row| row.job.queued_at);
        let holds_key = of(made, |row| row.job.holds_key);
        let key_ttl_ms = of(made, |row| row.job.key_ttl_ms);
        let tags = of(made, |row| rows::tags_text(&row.details.tags));
        let traceparent = of(made, |row| row.details.traceparent.as_deref());
        let key = of(made, |row| row.details.idempotency_key.as_deref());
        let rerun_of = of(made, |row| row.details.rerun_of.map(uuid));
        let payload = of(made, |row| row.payload.as_str());
        let jobs: [Parameter<'_>; 18] = [
            &seq,
            &id,
            &task,
            &queue,
            &state,
            &priority,
            &created_at,
            &run_at,
            &max_attempts,
            &max_crashes,
            &timeout_ms,
            &initial_ms,
            &factor,
            &max_ms,
            &jitter,
            &queued_at,
            &holds_key,
            &key_ttl_ms,
        ];
        let bodies: [Parameter<'_>; 7] =
            [&seq, &id, &tags, &traceparent, &key, &rerun_of, &payload];
        tokio::try_join!(biased;
            hands.execute(&hands.sql.jobs_insert, &jobs),
            hands.execute(&hands.sql.bodies_insert, &bodies),
        )?;
        Ok(())
    }

    /// Attempts, checkpoints and results.
    async fn hang(&self, hands: Hands<'_>) -> Ran<()> {
        let sql = hands.sql;
        if !self.attempts.is_empty() {
            self.record(hands).await?;
        }
        if !self.checkpoints_dropped.is_empty() {
            let (seqs, positions): (Vec<i64>, Vec<i32>) =
                self.checkpoints_dropped.iter().copied().unzip();
            hands.execute(&sql.checkpoints_delete, &[&seqs, &positions]).await?;
        }
        if !self.checkpoints.is_empty() {
            let saved = &self.checkpoints;
            hands
                .execute(
                    &sql.checkpoints_insert,
                    &[
                        &of(saved, |(seq, _, _)| *seq),
                        &of(saved, |(_, position, _)| integer(*position)),
                        &of(saved, |(_, _, checkpoint)| &*checkpoint.name),
                        &of(saved, |(_, _, checkpoint)| integer(checkpoint.life)),
                        &of(saved, |(_, _, checkpoint)| integer(checkpoint.attempt)),
                        &of(saved, |(_, _, checkpoint)| i64::from(checkpoint.start)),
                        &of(saved, |(_, _, checkpoint)| checkpoint.created_at),
                        &of(saved, |(_, _, checkpoint)| checkpoint.value.as_str()),
                    ],
                )
                .await?;
        }
        if !self.results_dropped.is_empty() {
            hands.execute(&sql.results_delete, &[&self.results_dropped]).await?;
        }
        if !self.results.is_empty() {
            let (seqs, results): (Vec<i64>, Vec<&str>) = self.results.iter().copied().unzip();
            hands.execute(&sql.results_save, &[&seqs, &results]).await?;
        }
        Ok(())
    }

    async fn record(&self, hands: Hands<'_>) -> Ran<()> {
        let all = &self.attempts;
        let error = |read: fn(&halyard_core::error::ErrorReport) -> Option<&str>| {
            of(all, |(_, attempt)| attempt.error.as_ref().and_then(read))
        };
        hands
            .execute(
                &hands.sql.attempts_insert,
                &[
                    &of(all, |(seq, _)| *seq),
                    &of(all, |(_, attempt)| i64::from(attempt.number)),
                    &of(all, |(_, attempt)| Uuid::from_u128(attempt.id.0)),
                    &of(all, |(_, attempt)| Uuid::from_u128(attempt.token.0)),
                    &of(all, |(_, attempt)| integer(attempt.life)),
                    &of(all, |(_, attempt)| integer(attempt.attempt)),
                    &of(all, |(_, attempt)| small(attempt.state.number())),
                    &of(all, |(_, attempt)| &*attempt.worker),
                    &of(all, |(_, attempt)| attempt.queued_at),
                    &of(all, |(_, attempt)| attempt.started_at),
                    &of(all, |(_, attempt)| attempt.finished_at),
                    &of(all, |(_, attempt)| attempt.retry_delay_ms),
                    &of(all, |(_, attempt)| {
                        attempt.retry_reason.map(RetryReason::number).map(small)
                    }),
                    &of(all, |(_, attempt)| attempt.report.map(ReportKind::number).map(small)),
                    &of(all, |(_, attempt)| attempt.result.map(|result| result.0.to_vec())),
                    &of(all, |(_, attempt)| small(attempt.state_after.number())),
                    &error(|error| Some(&error.error_type)),
                    &error(|error| Some(error.kind.as_str())),
                    &error(|error| Some(&error.message)),
                    &error(|error| error.stack.as_deref()),
                ],
            )
            .await?;
        Ok(())
    }

    async fn write_keys(&self, hands: Hands<'_>) -> Ran<()> {
        if !self.keys_freed.is_empty() {
            let tasks = of(&self.keys_freed, |(task, _)| &**task);
            let keys = of(&self.keys_freed, |(_, key)| &**key);
            hands.execute(&hands.sql.keys_delete, &[&tasks, &keys]).await?;
        }
        let taken = &self.keys_taken;
        if taken.is_empty() {
            return Ok(());
        }
        let grave = |held: &Held| match held {
            Held::Job(_) => None,
            Held::Tombstone(grave) => Some(grave.clone()),
        };
        let fingerprint = |held: &Held| match held {
            Held::Tombstone(grave) => Some(grave.fingerprint),
            Held::Job(id) => self.tables.jobs.get(id).and_then(|row| row.fingerprint),
        };
        let job = |held: &Held| match held {
            Held::Tombstone(grave) => grave.job_id,
            Held::Job(id) => *id,
        };
        let seq = |held: &Held| match held {
            Held::Tombstone(_) => None,
            Held::Job(id) => self.tables.jobs.get(id).map(|row| row.job.seq),
        };
        hands
            .execute(
                &hands.sql.keys_take,
                &[
                    &of(taken, |((task, _), _)| &**task),
                    &of(taken, |((_, key), _)| &**key),
                    &of(taken, |(_, held)| uuid(job(held))),
                    &of(taken, |(_, held)| fingerprint(held).map(|it| it.0.to_vec())),
                    &of(taken, |_| small(Fingerprint::ALGORITHM)),
                    &of(taken, |(_, held)| seq(held)),
                    &of(taken, |(_, held)| grave(held).map(|grave| grave.queue.to_string())),
                    &of(taken, |(_, held)| grave(held).map(|grave| small(grave.state.number()))),
                    &of(taken, |(_, held)| grave(held).map(|grave| grave.created_at)),
                    &of(taken, |(_, held)| grave(held).map(|grave| grave.finished_at)),
                    &of(taken, |(_, held)| grave(held).map(|grave| grave.expires_at)),
                ],
            )
            .await?;
        Ok(())
    }

    /// Requests, queues and the stamp.
    async fn remember(&self, hands: Hands<'_>) -> Ran<()> {
        if !self.requests_expired.is_empty() {
            let scopes = of(&self.requests_expired, |(scope, _)| &**scope);
            let values = of(&self.requests_expired, |(_, value)| &**value);
            hands.execute(&hands.sql.requests_delete, &[&scopes, &values]).await?;
        }
        if !self.requests.is_empty() {
            let results = |request: &Request| {
                let items: Vec<Item> = request.members.iter().map(Member::item).collect();
                Item::write_all(&items).unwrap_or_default()
            };
            hands
                .execute(
                    &hands.sql.requests_save,
                    &[
                        &of(&self.requests, |((scope, _), _)| &**scope),
                        &of(&self.requests, |((_, value), _)| &**value),
                        &of(&self.requests, |(_, request)| request.body.0.to_vec()),
                        &of(&self.requests, |(_, request)| request.expires_at),
                        &of(&self.requests, |(_, request)| results(request)),
                    ],
                )
                .await?;
        }
        if !self.queues.is_empty() {
            let names = of(&self.queues, |(name, _)| &***name);
            let paused = of(&self.queues, |(_, paused)| *paused);
            hands.execute(&hands.sql.queues_set, &[&names, &paused]).await?;
        }
        if let Some(stamp) = self.stamp {
            hands.execute(&hands.sql.stamp_set, &[&stamp]).await?;
        }
        Ok(())
    }

    /// Counters, totals and minutes, always in this order.
    async fn add_up(&self, hands: Hands<'_>, slot: i16) -> Ran<()> {
        let sql = hands.sql;
        let moved: Vec<_> = self.counters.iter().filter(|(_, by)| **by != 0).collect();
        let (queues, tasks) =
            (of(&moved, |((queue, _, _), _)| &***queue), of(&moved, |((_, task, _), _)| &***task));
        let states = of(&moved, |((_, _, state), _)| small(state.number()));
        let by = of(&moved, |(_, by)| **by);
        let counters = async {
            if !moved.is_empty() {
                let values: [Parameter<'_>; 5] = [&slot, &queues, &tasks, &states, &by];
                hands.execute(&sql.counters_add, &values).await?;
            }
            Ok::<(), Trouble>(())
        };
        let totals = async {
            let t = &self.tables.totals;
            if *t != Totals::default() {
                let n = [
                    t.created,
                    t.replayed,
                    t.keys_refused,
                    t.completed,
                    t.failed,
                    t.cancelled,
                    t.retried,
                    t.leases_lost,
                    t.timed_out,
                    t.reports_rejected,
                ]
                .map(signed);
                let [a, b, c, d, e, f, g, h, i, j] = &n;
                let values: [Parameter<'_>; 11] = [&slot, a, b, c, d, e, f, g, h, i, j];
                hands.execute(&sql.totals_add, &values).await?;
            }
            Ok(())
        };
        let minutes = async {
            for minute in self.tables.minutes.values() {
                let (created, completed, failed) =
                    (signed(minute.created), signed(minute.completed), signed(minute.failed));
                hands
                    .execute(&sql.minutes_add, &[&slot, &minute.at, &created, &completed, &failed])
                    .await?;
            }
            Ok(())
        };
        tokio::try_join!(biased; counters, totals, minutes)?;
        Ok(())
    }
}

/// One column.
pub(super) fn of<'r, T, V>(rows: &'r [T], read: impl Fn(&'r T) -> V) -> Vec<V> {
    rows.iter().map(read).collect()
}

pub(super) fn uuid(id: JobId) -> Uuid {
    Uuid::from_u128(id.0)
}

pub(super) fn small(number: u8) -> i16 {
    i16::from(number)
}
