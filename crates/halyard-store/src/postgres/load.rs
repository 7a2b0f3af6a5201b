//! Loading what calls need into the tables that they run on, and locking it: first requests, then
//! keys, then jobs, each in one order everywhere, so that two transactions never wait for each
//! other.

use std::collections::{BTreeMap, BTreeSet};

use halyard_core::TimeMs;
use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::{Details, Job, Name, State};
use halyard_core::key::Tombstone;
use halyard_core::{limits, operate};
use halyard_json::Text;
use uuid::Uuid;

use super::free::{Patience, Strangers};
use super::front::{Fronts, Look};
use super::lanes::Shared;
use super::loaded::{Before, Hands, Known, Loaded, uuids};
use super::needs::Needs;
use super::rows::{self, Columns};
use super::{Ran, Trouble, access};
use crate::remembered::Item;
use crate::session::remembered::{Member, Request};
use crate::session::{Held, Row, Tables};

/// Loads and locks at a time, and with the stamp, that were read before. With `careful` also the
/// jobs whose ids new ones bring along.
pub(super) async fn load<'f>(
    shared: &'f Shared,
    hands: Hands<'_>,
    needs: &Needs,
    (now, stamp): (TimeMs, TimeMs),
    careful: bool,
) -> Ran<Loaded<'f>> {
    let (tables, whole) = (Tables::new(stamp), BTreeSet::new());
    let (fronts, strangers) = (shared.fronts.as_ref(), &shared.strangers);
    let mut loading = Loading { hands, now, tables, whole, fronts, strangers, look: None };
    if now - stamp > limits::OUTAGE_MS {
        let live = hands.query(&hands.sql.live, &[&stamp]).await?;
        let ids = live.iter().map(|row| Columns::from(row, 0).id()).collect::<Ran<_>>()?;
        loading.free_jobs(ids, Patience::Full).await?;
    }
    loading.load(needs, careful).await?;
    let Loading { tables, look, .. } = loading;
    let known = |row: &Row| Known {
        job: row.job.clone(),
        attempts: row.attempts.len(),
        checkpoints: row.checkpoints.len(),
        has_result: row.result.is_some(),
    };
    let before = Before {
        jobs: tables.jobs.iter().map(|(id, row)| (*id, known(row))).collect(),
        keys: tables.keys.clone(),
        requests: tables.requests.clone(),
        queues: tables.queues.clone(),
        access: tables.access.clone(),
        stamp,
    };
    Ok(Loaded { tables, before, look })
}

pub(super) struct Loading<'c, 'f> {
    pub(super) hands: Hands<'c>,
    now: TimeMs,
    pub(super) tables: Tables,
    /// Jobs of which everything is loaded.
    pub(super) whole: BTreeSet<JobId>,
    pub(super) fronts: Option<&'f Fronts>,
    pub(super) strangers: &'f Strangers,
    pub(super) look: Option<Look<'f>>,
}

impl Loading<'_, '_> {
    async fn load(&mut self, needs: &Needs, careful: bool) -> Ran<()> {
        let Hands { sql, .. } = self.hands;
        self.whole.extend(&needs.whole);
        self.whole.extend(needs.made_ids.iter().filter(|_| careful));
        if needs.access {
            self.tables.access = access::load(self.hands).await?;
        }
        let mut graves = needs.graves.clone();
        self.requests(needs, &mut graves).await?;
        let mut keys = needs.keys.clone();
        self.key_names(&mut keys).await?;
        self.keys(&keys, &graves).await?;
        self.jobs(needs).await?;
        let patience = if needs.tally { Patience::None } else { Patience::New };
        self.free_jobs(needs.free.clone(), patience).await?;
        if !needs.marks.is_empty() {
            let marks: Vec<Uuid> = needs.marks.iter().map(|it| Uuid::from_bytes(*it)).collect();
            let claimed = self.hands.query(&sql.claimed, &[&self.now, &marks]).await?;
            let ids = self.take(&claimed, 0)?;
            self.whole.extend(ids);
        }
        if needs.due > 0 {
            let limit = rows::limit(needs.due);
            let due = self.hands.query(&sql.due, &[&self.now, &limit]).await?;
            self.take(&due, 0)?;
        }
        if needs.lapsed > 0 {
            let limit = rows::limit(needs.lapsed);
            let lapsed = self.hands.query(&sql.lapsed, &[&self.now, &limit]).await?;
            self.take(&lapsed, 0)?;
        }
        // Who meets a job under a new one's id, or as a lease of a repeated claim, looks at it all.
        let is_met = |job: &Job| {
            let mark = job.running().and_then(|start| start.claim);
            needs.made_ids.contains(&job.id) || mark.is_some_and(|it| needs.marks.contains(&it))
        };
        let jobs = self.tables.jobs.values().map(|row| &row.job);
        self.whole.extend(jobs.filter(|job| is_met(job)).map(|job| job.id));
        self.bodies().await?;
        // Right before the claim: every lock before it may have been waited for.
        if needs.queues {
            self.tables.queues = queues(self.hands).await?;
        }
        if let Some(ready) = &needs.ready {
            self.ready(ready).await?;
        }
        self.what_hangs_on_whole_jobs().await?;
        self.starts(needs).await
    }

    async fn requests(&mut self, needs: &Needs, graves: &mut BTreeSet<JobId>) -> Ran<()> {
        if needs.requests.is_empty() {
            return Ok(());
        }
        let (scopes, values): (Vec<&str>, Vec<&str>) =
            needs.requests.iter().map(|(scope, value)| (&**scope, &**value)).unzip();
        let found = self.hands.query(&self.hands.sql.requests, &[&scopes, &values]).await?;
        for row in found {
            let mut next = Columns::from(&row, 0);
            let place = (next.next()?, next.next()?);
            let (body, expires_at) = (next.fingerprint()?, next.next()?);
            let items = Item::read_all(next.next()?)
                .map_err(|_| Trouble::Senseless { at: 4, name: "results".to_owned() })?;
            let members: Vec<Member> = items.into_iter().map(Member::of_item).collect();
            for id in members.iter().filter_map(Member::accepted) {
                self.whole.insert(id);
                graves.insert(id);
            }
            self.tables.requests.insert(place, Request { body, expires_at, members });
        }
        Ok(())
    }

    /// The keys of jobs that are loaded whole.
    async fn key_names(&mut self, keys: &mut BTreeSet<(Name, Name)>) -> Ran<()> {
        if self.whole.is_empty() {
            return Ok(());
        }
        let ids = uuids(&self.whole);
        for row in self.hands.query(&self.hands.sql.key_names, &[&ids]).await? {
            let mut next = Columns::from(&row, 0);
            keys.insert((next.name()?, next.name()?));
        }
        Ok(())
    }

    /// Keys, and the jobs that hold them among the whole ones.
    async fn keys(&mut self, keys: &BTreeSet<(Name, Name)>, graves: &BTreeSet<JobId>) -> Ran<()> {
        let Hands { sql, .. } = self.hands;
        if !keys.is_empty() {
            let (tasks, names): (Vec<&str>, Vec<&str>) =
                keys.iter().map(|(task, key)| (&**task, &**key)).unzip();
            let found = self.hands.query(&sql.keys, &[&tasks, &names]).await?;
            self.take_keys(&found)?;
        }
        if !graves.is_empty() {
            let found = self.hands.query(&sql.graves, &[&uuids(graves)]).await?;
            self.take_keys(&found)?;
        }
        Ok(())
    }

    fn take_keys(&mut self, found: &[tokio_postgres::Row]) -> Ran<()> {
        for row in found {
            let mut next = Columns::from(row, 0);
            let (task, key, job_id) = (next.name()?, next.name()?, next.id()?);
            let fingerprint = next.fingerprint()?;
            let _algorithm: i16 = next.next()?;
            let held = if next.next::<Option<i64>>()?.is_some() {
                self.whole.insert(job_id);
                Held::Job(job_id)
            } else {
                Held::Tombstone(Tombstone {
                    task: Name::clone(&task),
                    key: Name::clone(&key),
                    job_id,
                    fingerprint,
                    queue: next.name()?,
                    state: next.state()?,
                    created_at: next.next()?,
                    finished_at: next.next()?,
                    expires_at: next.next()?,
                })
            };
            self.tables.keys.insert((task, key), held);
        }
        Ok(())
    }

    async fn jobs(&mut self, needs: &Needs) -> Ran<()> {
        let mut ids = self.whole.clone();
        ids.extend(needs.rows.keys());
        ids.extend(needs.checkpoints.iter().map(|(id, _)| *id));
        if ids.is_empty() {
            return Ok(());
        }
        let found = self.hands.query(&self.hands.sql.jobs, &[&uuids(&ids)]).await?;
        self.take(&found, 0).map(drop)
    }

    /// Puts jobs, whose columns begin at `at`, into the tables.
    pub(super) fn take(&mut self, found: &[tokio_postgres::Row], at: usize) -> Ran<Vec<JobId>> {
        let mut ids = Vec::with_capacity(found.len());
        for row in found {
            let job = rows::job(row, at)?;
            ids.push(job.id);
            self.tables.jobs.entry(job.id).or_insert_with(|| bare(job));
        }
        Ok(ids)
    }

    async fn bodies(&mut self) -> Ran<()> {
        let by_seq = self.whole_by_seq();
        if by_seq.is_empty() {
            return Ok(());
        }
        let seqs: Vec<i64> = by_seq.keys().copied().collect();
        for found in self.hands.query(&self.hands.sql.bodies, &[&seqs]).await? {
            let (details, payload) = rows::body(&found, 0)?;
            let id = Columns::from(&found, 1).id()?;
            self.dress(id, details, payload);
        }
        Ok(())
    }

    pub(super) fn dress(&mut self, id: JobId, details: Details, payload: Text) {
        if let Some(row) = self.tables.jobs.get_mut(&id) {
            row.fingerprint = details.idempotency_key.as_ref().map(|_| Fingerprint::of(&payload));
            row.is_bare = false;
            row.details = details;
            row.payload = payload;
        }
    }

    /// Results, checkpoints, and the attempts whose errors are the jobs'.
    async fn what_hangs_on_whole_jobs(&mut self) -> Ran<()> {
        let Hands { sql, .. } = self.hands;
        let by_seq = self.whole_by_seq();
        let whole = |wanted: fn(&Job) -> bool| -> Vec<&Job> {
            let jobs = by_seq.values().filter_map(|id| self.tables.jobs.get(id));
            jobs.map(|row| &row.job).filter(|job| wanted(job)).collect()
        };
        let completed: Vec<i64> =
            whole(|job| job.state == State::Completed).iter().map(|job| job.seq).collect();
        let saved: Vec<i64> = whole(|job| job.checkpoints > 0).iter().map(|job| job.seq).collect();
        let (failed, numbers): (Vec<i64>, Vec<i64>) = whole(|job| job.error_start.is_some())
            .iter()
            .map(|job| (job.seq, i64::from(job.error_start.unwrap_or_default())))
            .unzip();
        if !completed.is_empty() {
            for row in self.hands.query(&sql.results, &[&completed]).await? {
                let mut next = Columns::from(&row, 0);
                let seq: i64 = next.next()?;
                let result = next.json()?;
                self.hang(&by_seq, seq, |row| row.result = Some(result));
            }
        }
        if !saved.is_empty() {
            for row in self.hands.query(&sql.checkpoints, &[&saved]).await? {
                let checkpoint = rows::checkpoint(&row, 0)?;
                let seq: i64 = Columns::from(&row, 0).next()?;
                self.hang(&by_seq, seq, |row| row.checkpoints.push(checkpoint));
            }
        }
        if !failed.is_empty() {
            let found = self.hands.query(&sql.attempts_numbered, &[&failed, &numbers]).await?;
            for row in found {
                let attempt = rows::attempt(&row, 0)?;
                let seq: i64 = Columns::from(&row, 0).next()?;
                self.hang(&by_seq, seq, |row| row.attempts.push(attempt));
            }
        }
        Ok(())
    }

    /// What a report or a checkpoint is judged by, unless it is the running start's.
    async fn starts(&mut self, needs: &Needs) -> Ran<()> {
        let Hands { sql, .. } = self.hands;
        let mut by_seq = BTreeMap::new();
        let (mut seqs, mut tokens, mut completed) = (Vec::new(), Vec::new(), Vec::new());
        for (id, wanted) in &needs.rows {
            let Some(row) = self.tables.jobs.get(id) else { continue };
            by_seq.insert(row.job.seq, *id);
            let newest = row.job.start.as_ref().filter(|_| operate::keeps_own_record(&row.job));
            for token in wanted {
                if newest.is_none_or(|start| start.marks.token != *token) {
                    seqs.push(row.job.seq);
                    tokens.push(Uuid::from_u128(token.0));
                } else if row.job.state == State::Completed && !self.whole.contains(id) {
                    completed.push(row.job.seq);
                }
            }
        }
        if !completed.is_empty() {
            for row in self.hands.query(&sql.results, &[&completed]).await? {
                let mut next = Columns::from(&row, 0);
                let seq: i64 = next.next()?;
                let result = next.json()?;
                self.hang(&by_seq, seq, |row| row.result = Some(result));
            }
        }
        if !seqs.is_empty() {
            for row in self.hands.query(&sql.attempts_of_tokens, &[&seqs, &tokens]).await? {
                let attempt = rows::attempt(&row, 0)?;
                let seq: i64 = Columns::from(&row, 0).next()?;
                self.hang(&by_seq, seq, |row| row.attempts.push(attempt));
            }
        }
        self.named_checkpoints(needs).await
    }

    async fn named_checkpoints(&mut self, needs: &Needs) -> Ran<()> {
        let mut by_seq = BTreeMap::new();
        let (mut seqs, mut names) = (Vec::new(), Vec::new());
        for (id, name) in &needs.checkpoints {
            let Some(row) = self.tables.jobs.get(id) else { continue };
            if row.job.checkpoints > 0 && !self.whole.contains(id) {
                by_seq.insert(row.job.seq, *id);
                seqs.push(row.job.seq);
                names.push(&**name);
            }
        }
        if seqs.is_empty() {
            return Ok(());
        }
        for row in self.hands.query(&self.hands.sql.checkpoints_named, &[&seqs, &names]).await? {
            let checkpoint = rows::checkpoint(&row, 0)?;
            let seq: i64 = Columns::from(&row, 0).next()?;
            self.hang(&by_seq, seq, |row| row.checkpoints.push(checkpoint));
        }
        Ok(())
    }

    fn hang(&mut self, by_seq: &BTreeMap<i64, JobId>, seq: i64, change: impl FnOnce(&mut Row)) {
        let row = by_seq.get(&seq).and_then(|id| self.tables.jobs.get_mut(id));
        if let Some(row) = row {
            change(row);
        }
    }

    fn whole_by_seq(&self) -> BTreeMap<i64, JobId> {
        let rows = self.whole.iter().filter_map(|id| self.tables.jobs.get(id));
        rows.map(|row| (row.job.seq, row.job.id)).collect()
    }
}

/// Queues that were paused once, and whether they are.
pub(super) async fn queues(hands: Hands<'_>) -> Ran<BTreeMap<Name, bool>> {
    let rows = hands.query(&hands.sql.queues, &[]).await?;
    rows.iter()
        .map(|row| {
            let mut next = Columns::from(row, 0);
            Ok((next.name()?, next.next()?))
        })
        .collect()
}

/// A job of which nothing but its row is known.
fn bare(job: Job) -> Row {
    Row {
        job,
        details: Details::default(),
        payload: Text::trusted("null"),
        fingerprint: None,
        result: None,
        checkpoints: Vec::new(),
        attempts: Vec::new(),
        is_bare: true,
    }
}
