//! Create and run as new: one path for single jobs, batches and reruns.

use halyard_core::admission::NewJob;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::Name;
use halyard_core::key::{Duplicate, IdClash, Wish};
use halyard_core::limits;
use halyard_core::operate::{self, Retried, Retry};
use halyard_core::planted::{Bug, planted};
use halyard_json::Text;

use super::remembered::{Member, Recalled};
use super::{Held, Row, Session};
use crate::access::{By, Deed};
use crate::verbs::{Created, Keyed, RequestKey};

impl Session<'_> {
    pub(crate) fn create(
        &mut self,
        jobs: Vec<NewJob>,
        request: Option<RequestKey>,
    ) -> Keyed<Vec<Created>> {
        match self.recall(request.as_ref()) {
            Recalled::Reused(id) => return Keyed::Reused(id),
            Recalled::Members(members) => {
                return Keyed::Replayed(members.iter().map(|it| self.create_again(it)).collect());
            }
            Recalled::Nothing => {}
        }
        let created: Vec<_> = jobs.into_iter().map(|job| self.create_one(job)).collect();
        self.remember(request, created.iter().map(Member::of_created).collect());
        Keyed::Fresh(created)
    }

    pub(crate) fn run_as_new(
        &mut self,
        id: JobId,
        new_id: JobId,
        payload: Option<Text>,
        request: Option<RequestKey>,
        by: Option<&By>,
    ) -> Keyed<Created> {
        match self.recall(request.as_ref()) {
            Recalled::Reused(id) => return Keyed::Reused(id),
            Recalled::Members(members) => {
                let again = members.first().map(|member| self.create_again(member));
                return Keyed::Replayed(again.unwrap_or(Created::Gone(id)));
            }
            Recalled::Nothing => {}
        }
        let Some(old) = self.load(id) else { return Keyed::Fresh(Created::Gone(id)) };
        let payload = payload.unwrap_or(old.payload);
        let created = self.create_one(NewJob::again(&old.job, &old.details, new_id, payload));
        self.remember(request, vec![Member::of_created(&created)]);
        let created = Keyed::Fresh(created);
        self.note(by, Deed::of_rerun(id, &created));
        created
    }

    /// The key decides first, then the id.
    fn create_one(&mut self, new: NewJob) -> Created {
        let key = new.details.idempotency_key.clone().zip(new.fingerprint);
        let duplicate = key.as_ref().map_or(Duplicate::None, |(key, fingerprint)| {
            let if_failed = new.if_failed;
            let wish = Wish { job_id: new.id, fingerprint: *fingerprint, if_failed };
            let holder = self.tables.holder(&new.task, key);
            let holder = holder.filter(|_| !planted(Bug::KeyNotUnique));
            holder.map_or(Duplicate::None, |holder| holder.judge(&wish, self.now))
        });
        match (duplicate, &key) {
            (Duplicate::None, None) => self.create_unless_known(new, None),
            (Duplicate::None, Some((key, _))) => self.create_unless_known(new, Some((key, false))),
            (Duplicate::Replace, Some((key, _))) => {
                self.create_unless_known(new, Some((key, true)))
            }
            (_, Some((key, _))) => self.answer_duplicate(duplicate, &new, key),
            (_, None) => unreachable!("{}: a duplicate by key without a key", new.id),
        }
    }

    fn answer_duplicate(&mut self, duplicate: Duplicate, new: &NewJob, key: &Name) -> Created {
        let held = self.tables.keys.get(&(new.task.clone(), key.clone())).cloned();
        match (duplicate, held) {
            (Duplicate::Reused, Some(held)) => {
                self.tables.gathered.totals.keys_refused += 1;
                let (job_id, changed) = match held {
                    Held::Tombstone(tombstone) => (tombstone.job_id, None),
                    Held::Job(id) => (id, self.changed(id, &new.payload)),
                };
                Created::KeyReused { job_id, changed }
            }
            (Duplicate::Purged, Some(Held::Tombstone(tombstone))) => {
                self.tables.gathered.totals.replayed += 1;
                Created::Purged(tombstone)
            }
            (Duplicate::Revive, Some(Held::Job(id))) => self.revive(id),
            (Duplicate::Replay, Some(Held::Job(id))) => {
                self.replay(id).unwrap_or(Created::Gone(id))
            }
            (duplicate, held) => unreachable!("{}: {duplicate:?} of {held:?}", new.id),
        }
    }

    fn changed(&self, id: JobId, payload: &Text) -> Option<Vec<String>> {
        let known = &self.tables.jobs.get(&id)?.payload;
        Some(halyard_json::changed(known, payload, limits::CHANGED_MAX))
    }

    /// Answers with an existing job; it is counted when the store is next stamped.
    pub(crate) fn replay(&mut self, id: JobId) -> Option<Created> {
        let view = Box::new(self.tables.jobs.get(&id)?.view());
        self.tables.gathered.add_replay(id);
        Some(Created::Replayed { view, revived: false })
    }

    fn revive(&mut self, id: JobId) -> Created {
        let Some(mut row) = self.load(id) else { return Created::Gone(id) };
        let opened = operate::retry(
            &mut row.job,
            &Retry::default(),
            &row.checkpoints,
            row.result.as_ref(),
            self.now,
        );
        match opened {
            Ok(Retried::Opened { attempt: None, .. }) => {}
            other => unreachable!("{id}: a failed job was not revived: {other:?}"),
        }
        self.tables.gathered.add_replay(id);
        self.put(&row);
        Created::Replayed { view: Box::new(row.view()), revived: true }
    }

    /// Makes the job unless its id is known. `key` is the key that it takes, and whether that
    /// replaces the job that held it.
    fn create_unless_known(&mut self, new: NewJob, key: Option<(&Name, bool)>) -> Created {
        if let Some(known) = self.tables.jobs.get(&new.id) {
            let id = new.id;
            let same_work =
                known.job.task == new.task && halyard_json::equal(&known.payload, &new.payload);
            let made_with = known.details.idempotency_key.as_deref();
            let key = new.details.idempotency_key.as_deref();
            return match IdClash::judge(same_work, made_with, key) {
                None => self.replay(id).unwrap_or(Created::Gone(id)),
                Some(clash) => Created::IdTaken { id, clash },
            };
        }
        if let Some((key, replaces)) = key {
            self.take_key(&new.task, key, new.id, replaces);
        }
        let seq = self.tables.numbers.next();
        let row = Row {
            job: new.begin(seq, self.now),
            fingerprint: new.fingerprint,
            details: new.details,
            payload: new.payload,
            result: None,
            checkpoints: Vec::new(),
            attempts: Vec::new(),
            is_bare: false,
        };
        self.put(&row);
        Created::New(Box::new(row.view()))
    }

    /// Gives a key to a job; who held it holds it no more.
    pub(crate) fn take_key(&mut self, task: &Name, key: &Name, id: JobId, replaces: bool) {
        let place = (task.clone(), key.clone());
        let Some(Held::Job(old)) = self.tables.keys.insert(place, Held::Job(id)) else { return };
        if let Some(old) = self.tables.jobs.get_mut(&old) {
            old.job.holds_key = false;
            if replaces {
                old.job.replaced_by = Some(id);
            }
        }
    }

    /// The fingerprint of a job's payload, when it has a key.
    pub(crate) fn keyed(row: &Row) -> Option<(Name, Fingerprint)> {
        row.details.idempotency_key.clone().zip(row.fingerprint)
    }
}
