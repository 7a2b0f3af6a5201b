//! Invariants of the answers themselves, whatever the model says: a mistake in core would make
//! model and store wrong alike.

use std::collections::{BTreeMap, HashMap, HashSet};

use halyard_core::TimeMs;
use halyard_core::checkpoint::Written;
use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_core::outcome::Finish;

use super::command::{Command, Pick, Reply};
use crate::contract::trial::Lease;
use crate::verbs::{Acted, Change, Claim, Claims, Created, Keyed};

/// What the answers said so far.
#[derive(Debug, Default)]
pub(super) struct Audit {
    tokens: HashSet<u128>,
    jobs: HashMap<JobId, Known>,
}

#[derive(Debug, Default)]
struct Known {
    starts: u32,
    /// Name and value of what was acknowledged, in order. `None` once a retry may have dropped
    /// some.
    checkpoints: Option<Vec<(String, String)>>,
    /// The newest lease and when, as last heard, it lapses; `None` once it was reported.
    lease: Option<(Lease, TimeMs)>,
}

impl Audit {
    /// Takes in one answer.
    pub(super) fn reply(
        &mut self,
        command: &Command,
        reply: &Reply,
        leases: &[Lease],
        now: TimeMs,
    ) -> Result<(), String> {
        match (command, reply) {
            (_, Reply::Created(Keyed::Fresh(created))) => {
                created.iter().for_each(|created| self.created(created));
            }
            (_, Reply::Rerun(Keyed::Fresh(created))) => self.created(created),
            (Command::Claim(claim), Reply::Claimed(claims)) => self.claimed(claim, claims, now)?,
            (Command::Heartbeat(picks, _), Reply::Renewed(beats)) => {
                for (pick, renewed) in picks.iter().zip(&beats.leases) {
                    let lease = lease_at(*pick, leases);
                    if let (Some(lease), Some(renewed)) = (lease, renewed) {
                        self.renewed(lease, renewed.expires_at, now)?;
                    }
                }
            }
            (Command::Finish(outcomes, _), Reply::Finished(answers)) => {
                for ((pick, _), answer) in outcomes.iter().zip(answers) {
                    let (Some(lease), Finish::Ok { repeated, .. }) =
                        (lease_at(*pick, leases), answer)
                    else {
                        continue;
                    };
                    self.finished(lease, *repeated)?;
                }
            }
            (Command::Checkpoint(pick, ..), Reply::Written(written)) => {
                if let Some(lease) = lease_at(*pick, leases) {
                    self.written(lease.id, written)?;
                }
            }
            (Command::Retry(id, how, ..), Reply::Retried(Keyed::Fresh(acted))) => {
                let opened = matches!(acted, Acted::Done { repeated: false, .. });
                if let Some(known) = self.jobs.get_mut(id)
                    && opened
                    && (how.fresh || how.from.is_some())
                {
                    known.checkpoints = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn created(&mut self, created: &Created) {
        // An id whose row was deleted may come again, as another job.
        if let Created::New(view) = created {
            let known = Known { checkpoints: Some(Vec::new()), ..Known::default() };
            self.jobs.insert(view.job.id, known);
        }
    }

    /// No token twice, no job twice at once, no start left out, no checkpoint lost.
    fn claimed(&mut self, claim: &Claim, claims: &Claims, now: TimeMs) -> Result<(), String> {
        let mut repeated = 0;
        for claimed in &claims.jobs {
            let job = &claimed.view.job;
            let start = job.running().ok_or("a claimed job does not run")?;
            let lease = Lease { id: job.id, token: start.marks.token };
            let known = self.jobs.entry(job.id).or_default();
            if !self.tokens.insert(lease.token.0) {
                repeated += 1;
                if known.lease.map(|(known, _)| known) != Some(lease) || !claim.repeat {
                    return Err(format!("{}: an old token was handed out again", job.id));
                }
                continue;
            }
            if let Some((_, expires_at)) = known.lease.filter(|(_, at)| *at > now) {
                return Err(format!("{}: claimed while leased until {expires_at}", job.id));
            }
            if start.number != known.starts + 1 {
                return Err(format!("{}: start {} after {}", job.id, start.number, known.starts));
            }
            known.starts = start.number;
            known.lease = Some((lease, start.expires_at));
            let given = claimed.checkpoints.iter();
            let given: Vec<_> =
                given.map(|it| (it.name.to_string(), it.value.to_string())).collect();
            match &known.checkpoints {
                Some(kept) if *kept != given => {
                    return Err(format!("{}: {kept:?} were kept, {given:?} given", job.id));
                }
                Some(_) | None => known.checkpoints = Some(given),
            }
        }
        let fresh = claims.jobs.len() - repeated;
        if fresh > claim.max || (repeated > 0 && fresh > 0) {
            return Err(format!("{fresh} new and {repeated} old leases for {}", claim.max));
        }
        Ok(())
    }

    fn renewed(&mut self, lease: Lease, expires_at: TimeMs, now: TimeMs) -> Result<(), String> {
        let known = self.jobs.entry(lease.id).or_default();
        match &mut known.lease {
            Some((held, until)) if *held == lease && expires_at >= *until && expires_at > now => {
                *until = expires_at;
                Ok(())
            }
            held => Err(format!("{lease:?} was renewed until {expires_at} while {held:?} held")),
        }
    }

    fn finished(&mut self, lease: Lease, repeated: bool) -> Result<(), String> {
        let known = self.jobs.entry(lease.id).or_default();
        let holds = known.lease.is_some_and(|(held, _)| held == lease);
        if repeated {
            return Ok(());
        }
        if !holds {
            return Err(format!("{lease:?} was finished while {:?} held", known.lease));
        }
        known.lease = None;
        Ok(())
    }

    fn written(&mut self, id: JobId, written: &Written) -> Result<(), String> {
        let known = self.jobs.entry(id).or_default();
        let Some(kept) = &mut known.checkpoints else { return Ok(()) };
        let (Written::New { checkpoint, .. }
        | Written::Repeated { checkpoint, .. }
        | Written::Conflict(checkpoint)) = written
        else {
            return Ok(());
        };
        let entry = (checkpoint.name.to_string(), checkpoint.value.to_string());
        let is_new = matches!(written, Written::New { .. });
        let first = kept.iter().find(|(name, _)| *name == entry.0);
        match first {
            Some(first) if is_new || *first != entry => {
                Err(format!("{id}: {entry:?} was written over {first:?}"))
            }
            Some(_) => Ok(()),
            None if is_new => {
                kept.push(entry);
                Ok(())
            }
            None => Err(format!("{id}: {entry:?} was never written")),
        }
    }

    /// Each life ends at most once, and nothing of it comes after its end.
    pub(super) fn changes(&self, changes: &[Change]) -> Result<(), String> {
        let mut last: BTreeMap<JobId, (u32, State)> = BTreeMap::new();
        for change in changes {
            let Some(state) = change.state else {
                last.remove(&change.id);
                continue;
            };
            let before = last.insert(change.id, (change.life, state));
            let Some((life, before)) = before else { continue };
            let lawful = match change.life.checked_sub(life) {
                Some(0) => before == state || !before.is_terminal(),
                Some(1) => before.is_terminal() && !state.is_terminal(),
                Some(_) | None => false,
            };
            if !lawful {
                let id = change.id;
                return Err(format!("{id}: {before:?} of life {life}, then {change:?}"));
            }
        }
        Ok(())
    }
}

fn lease_at(pick: Pick, leases: &[Lease]) -> Option<Lease> {
    let (id, token) = pick.find(leases);
    Some(Lease { id: id?, token: token? })
}
