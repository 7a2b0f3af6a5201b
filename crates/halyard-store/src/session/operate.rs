//! What people do by hand: retry, cancel, run now, delete, bulk, forget a key.

use halyard_core::chance::Seed;
use halyard_core::id::JobId;
use halyard_core::key::{Removal, tombstone};
use halyard_core::operate::{self, Refusal, Retried, Retry};

use super::remembered::{Member, Recalled};
use super::{Held, Row, Session};
use crate::access::{Action, By, Deed};
use crate::verbs::{Acted, Bulk, BulkAction, Keyed, RequestKey};

fn done(row: &Row, changed: bool) -> Acted {
    Acted::Done { view: Some(Box::new(row.view())), repeated: false, changed }
}

impl Session<'_> {
    pub(crate) fn retry(
        &mut self,
        id: JobId,
        how: &Retry,
        request: Option<RequestKey>,
        seed: &Seed,
        by: Option<&By>,
    ) -> Keyed<Acted> {
        match self.recall(request.as_ref()) {
            Recalled::Reused(id) => return Keyed::Reused(id),
            Recalled::Members(members) => {
                let again = members.first().map(|member| self.act_again(member));
                return Keyed::Replayed(again.unwrap_or(Acted::NotFound));
            }
            Recalled::Nothing => {}
        }
        let acted = self.retry_one(id, how, seed);
        self.remember(request, vec![Member::of_acted(Some(id), &acted)]);
        let acted = Keyed::Fresh(acted);
        self.note(by, Deed::of_retry(id, &acted));
        acted
    }

    fn retry_one(&mut self, id: JobId, how: &Retry, seed: &Seed) -> Acted {
        let Some(mut row) = self.settle(id, seed) else { return Acted::NotFound };
        let result = row.result.take();
        match operate::retry(&mut row.job, how, &row.checkpoints, result.as_ref(), self.now) {
            Err(refusal) => Acted::Refused(refusal),
            Ok(Retried::Repeated) => {
                row.result = result;
                Acted::Done { view: Some(Box::new(row.view())), repeated: true, changed: false }
            }
            Ok(Retried::Opened { attempt, keep }) => {
                if let Err(refusal) = self.hold_key_again(&mut row) {
                    return Acted::Refused(refusal);
                }
                row.attempts.extend(attempt.map(|attempt| *attempt));
                row.checkpoints.truncate(keep);
                self.put(&row);
                done(&row, true)
            }
        }
    }

    /// A key that has expired or was freed meanwhile is held again if nobody else has it.
    fn hold_key_again(&mut self, row: &mut Row) -> Result<(), Refusal> {
        let Some(key) = row.details.idempotency_key.clone() else { return Ok(()) };
        if row.job.holds_key {
            return Ok(());
        }
        match self.tables.holder(&row.job.task, &key) {
            Some(other) if !other.has_expired(self.now) => Err(Refusal::KeyTaken(other.job_id)),
            Some(_) | None => {
                self.take_key(&row.job.task, &key, row.job.id, false);
                row.job.holds_key = true;
                Ok(())
            }
        }
    }

    pub(crate) fn cancel(&mut self, id: JobId, seed: &Seed, by: Option<&By>) -> Acted {
        let now = self.now;
        let acted = self.act(id, seed, |row| operate::cancel(&mut row.job, now));
        self.note(by, Deed::of_act(Action::Cancel, id, &acted));
        acted
    }

    pub(crate) fn run_now(&mut self, id: JobId, seed: &Seed, by: Option<&By>) -> Acted {
        let now = self.now;
        let acted = self.act(id, seed, |row| operate::run_now(&mut row.job, now));
        self.note(by, Deed::of_act(Action::RunNow, id, &acted));
        acted
    }

    fn act(
        &mut self,
        id: JobId,
        seed: &Seed,
        rule: impl FnOnce(&mut Row) -> Result<(), Refusal>,
    ) -> Acted {
        let Some(mut row) = self.settle(id, seed) else { return Acted::NotFound };
        let before = row.job.clone();
        match rule(&mut row) {
            Err(refusal) => Acted::Refused(refusal),
            Ok(()) => {
                self.put(&row);
                done(&row, row.job != before)
            }
        }
    }

    pub(crate) fn delete(
        &mut self,
        id: JobId,
        forget_key: bool,
        seed: &Seed,
        by: Option<&By>,
    ) -> Acted {
        let (acted, freed) = self.delete_one(id, forget_key, seed);
        self.note(by, Deed::of_act(Action::Delete, id, &acted));
        self.note(by, Deed::of_forget(id, freed));
        acted
    }

    /// Also whether a key was freed because that was asked for.
    fn delete_one(&mut self, id: JobId, forget_key: bool, seed: &Seed) -> (Acted, bool) {
        let Some(row) = self.settle(id, seed) else { return (Acted::NotFound, false) };
        if let Err(refusal) = operate::delete(&row.job) {
            return (Acted::Refused(refusal), false);
        }
        if !row.job.state.is_terminal() {
            self.count_ended(halyard_core::job::State::Cancelled);
        }
        self.remove(&row, Removal::Deleted, forget_key);
        let acted = Acted::Done { view: None, repeated: false, changed: true };
        (acted, forget_key && row.job.holds_key)
    }

    /// Removes a row. Its key goes to its tombstone or is free; a key that another job holds by
    /// now is not touched.
    pub(crate) fn remove(&mut self, row: &Row, removal: Removal, forget_key: bool) {
        self.tables.jobs.remove(&row.job.id);
        self.tables.gathered.jobs.remove(&row.job.id);
        self.say(&row.job, None);
        let Some((key, fingerprint)) = Self::keyed(row).filter(|_| row.job.holds_key) else {
            return;
        };
        let place = (row.job.task.clone(), key.clone());
        match tombstone(&row.job, &key, fingerprint, removal, self.now) {
            Some(stone) if !forget_key => {
                self.tables.keys.insert(place, Held::Tombstone(stone));
            }
            Some(_) | None => {
                self.tables.keys.remove(&place);
            }
        }
    }

    pub(crate) fn bulk(
        &mut self,
        bulk: &Bulk,
        request: Option<RequestKey>,
        seed: &Seed,
        by: Option<&By>,
    ) -> Keyed<Vec<Acted>> {
        match self.recall(request.as_ref()) {
            Recalled::Reused(id) => return Keyed::Reused(id),
            Recalled::Members(members) => {
                return Keyed::Replayed(members.iter().map(|it| self.act_again(it)).collect());
            }
            Recalled::Nothing => {}
        }
        let act = |(id, life): &(Option<JobId>, Option<u32>)| match (*id, bulk.action) {
            (None, _) => Acted::NotFound,
            (Some(id), BulkAction::Retry) => self.retry_one(id, &BulkAction::retry(*life), seed),
            (Some(id), BulkAction::Cancel) => self.cancel(id, seed, None),
            (Some(id), BulkAction::Delete) => self.delete_one(id, false, seed).0,
            (Some(id), BulkAction::RunNow) => self.run_now(id, seed, None),
        };
        let acted: Vec<Acted> = bulk.targets.iter().map(act).collect();
        let ids = bulk.targets.iter().map(|(id, _)| *id);
        let members = ids.zip(&acted).map(|(id, acted)| Member::of_acted(id, acted)).collect();
        self.remember(request, members);
        let acted = Keyed::Fresh(acted);
        self.note(by, Deed::of_bulk(bulk, &acted));
        acted
    }

    pub(crate) fn forget_key(&mut self, id: JobId, by: Option<&By>) -> bool {
        let known =
            self.tables.jobs.contains_key(&id) || self.tables.tombstone(id, self.now).is_some();
        let freed = self.tables.keys.values().any(|held| match held {
            Held::Job(job_id) => *job_id == id,
            Held::Tombstone(stone) => stone.job_id == id && self.now < stone.expires_at,
        });
        self.tables.keys.retain(|_, held| match held {
            Held::Job(job_id) => *job_id != id,
            Held::Tombstone(tombstone) => tombstone.job_id != id,
        });
        if let Some(row) = self.tables.jobs.get_mut(&id) {
            row.job.holds_key = false;
        }
        self.note(by, Deed::of_forget(id, freed));
        known
    }

    /// Says whether the queue was paused once before. Resuming one that was not does nothing.
    pub(crate) fn set_paused(&mut self, queue: &str, paused: bool, by: Option<&By>) -> bool {
        let before = self.tables.queues.get(queue).copied();
        if (paused || before.is_some()) && before != Some(paused) {
            self.tables.queues.insert(queue.into(), paused);
            self.note(by, Some(Deed::of_pause(queue, paused)));
        }
        before.is_some()
    }
}
