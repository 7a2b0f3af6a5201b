//! Requests that carry an `Idempotency-Key` header: what was answered, so that it can be again.

use halyard_core::fingerprint::Fingerprint;
use halyard_core::id::JobId;
use halyard_core::job::State;
use halyard_core::key::IdClash;
use halyard_core::operate::Refusal;
use halyard_core::planted::{Bug, planted};
use halyard_core::{TimeMs, limits};

use super::Session;
use crate::remembered::{Item, job_id};
use crate::verbs::{Acted, Created, RequestKey};

/// A request that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) body: Fingerprint,
    pub(crate) expires_at: TimeMs,
    pub(crate) members: Vec<Member>,
}

/// One member of its answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Member {
    /// An accepted create or action.
    Job(JobId),
    /// A create that was answered with a tombstone.
    Tombstone(JobId),
    /// An accepted delete.
    Deleted(JobId),
    /// A create that was refused, to be refused so again.
    CreateRefused(Created),
    /// An action that was refused, to be refused so again.
    ActionRefused(Acted),
}

/// What is known of a request.
pub(crate) enum Recalled {
    Nothing,
    Members(Vec<Member>),
    Reused(Option<JobId>),
}

impl Member {
    pub(crate) fn of_created(created: &Created) -> Self {
        match created {
            Created::New(view) | Created::Replayed { view, .. } => Self::Job(view.job.id),
            Created::Purged(tombstone) => Self::Tombstone(tombstone.job_id),
            Created::KeyReused { .. } | Created::IdTaken { .. } | Created::Gone(_) => {
                Self::CreateRefused(created.clone())
            }
        }
    }

    pub(crate) fn of_acted(id: Option<JobId>, acted: &Acted) -> Self {
        match (id, acted) {
            (Some(id), Acted::Done { view: Some(_), .. }) => Self::Job(id),
            (Some(id), Acted::Done { view: None, .. }) => Self::Deleted(id),
            _ => Self::ActionRefused(acted.clone()),
        }
    }

    /// As a database keeps it.
    pub(crate) fn item(&self) -> Item {
        match self {
            Self::Job(id) => Item::Job(id.to_string()),
            Self::Tombstone(id) => Item::Purged(id.to_string()),
            Self::Deleted(id) => Item::Deleted(id.to_string()),
            Self::CreateRefused(created) => Item::of_created(created),
            Self::ActionRefused(acted) => Item::of_acted(JobId(0), acted),
        }
    }

    /// What a database kept.
    pub(crate) fn of_item(item: Item) -> Self {
        let state = |number| State::from_number(number).unwrap_or(State::Completed);
        let taken =
            |id: &str, clash| Self::CreateRefused(Created::IdTaken { id: job_id(id), clash });
        let refused = |refusal| Self::ActionRefused(Acted::Refused(refusal));
        match item {
            Item::Job(id) => Self::Job(job_id(&id)),
            Item::Purged(id) => Self::Tombstone(job_id(&id)),
            Item::Deleted(id) => Self::Deleted(job_id(&id)),
            Item::KeyReused { job, changed } => {
                Self::CreateRefused(Created::KeyReused { job_id: job_id(&job), changed })
            }
            Item::IdTaken(id) => taken(&id, IdClash::Work),
            Item::IdTakenNoKey(id) => taken(&id, IdClash::NoKey),
            Item::IdTakenOtherKey(id) => taken(&id, IdClash::OtherKey),
            Item::Gone(id) => Self::CreateRefused(Created::Gone(job_id(&id))),
            Item::NotFound => Self::ActionRefused(Acted::NotFound),
            Item::Running => refused(Refusal::Running),
            Item::NotRetryable(number) => refused(Refusal::NotRetryable(state(number))),
            Item::Finished(number) => refused(Refusal::Finished(state(number))),
            Item::KeyTaken(id) => refused(Refusal::KeyTaken(job_id(&id))),
            Item::LifeAhead(life) => refused(Refusal::LifeAhead(life)),
            Item::NoSuchCheckpoint(name) => refused(Refusal::NoSuchCheckpoint(name)),
        }
    }

    /// The job of an accepted member.
    pub(crate) fn accepted(&self) -> Option<JobId> {
        match self {
            Self::Job(id) | Self::Tombstone(id) | Self::Deleted(id) => Some(*id),
            Self::CreateRefused(_) | Self::ActionRefused(_) => None,
        }
    }
}

impl Session<'_> {
    pub(crate) fn recall(&self, request: Option<&RequestKey>) -> Recalled {
        let known = request.and_then(|request| {
            let place = (request.scope.clone(), request.value.clone());
            let known = self.tables.requests.get(&place)?;
            let stands = self.now < known.expires_at && !planted(Bug::RequestForgotten);
            stands.then_some((request, known))
        });
        match known {
            None => Recalled::Nothing,
            Some((request, known)) if request.body == known.body => {
                Recalled::Members(known.members.clone())
            }
            Some((_, known)) => Recalled::Reused(known.members.iter().find_map(Member::accepted)),
        }
    }

    pub(crate) fn remember(&mut self, request: Option<RequestKey>, members: Vec<Member>) {
        let Some(request) = request else { return };
        if members.iter().all(|member| member.accepted().is_none()) {
            return;
        }
        let expires_at = self.now.saturating_add(limits::REQUEST_KEY_TTL_MS);
        let place = (request.scope, request.value);
        self.tables.requests.insert(place, Request { body: request.body, expires_at, members });
    }

    pub(crate) fn create_again(&mut self, member: &Member) -> Created {
        match member {
            Member::CreateRefused(created @ Created::KeyReused { .. }) => {
                self.tables.gathered.totals.keys_refused += 1;
                created.clone()
            }
            Member::CreateRefused(created) => created.clone(),
            Member::Tombstone(id) => self.buried(*id),
            Member::Job(id) => self.replay(*id).unwrap_or_else(|| self.buried(*id)),
            Member::Deleted(_) | Member::ActionRefused(_) => {
                unreachable!("a create was remembered as an action")
            }
        }
    }

    /// What is said of a job that is gone: what its key remembers, if it had one.
    fn buried(&mut self, id: JobId) -> Created {
        match self.tables.tombstone(id, self.now).cloned() {
            Some(tombstone) => {
                self.tables.gathered.totals.replayed += 1;
                Created::Purged(tombstone)
            }
            None => Created::Gone(id),
        }
    }

    pub(crate) fn act_again(&self, member: &Member) -> Acted {
        let now = |id| self.load(id).map(|row| Box::new(row.view()));
        match member {
            Member::ActionRefused(acted) => acted.clone(),
            Member::Deleted(id) => Acted::Done { view: now(*id), repeated: true, changed: false },
            Member::Job(id) => match now(*id) {
                Some(view) => Acted::Done { view: Some(view), repeated: true, changed: false },
                None => Acted::NotFound,
            },
            Member::Tombstone(_) | Member::CreateRefused(_) => {
                unreachable!("an action was remembered as a create")
            }
        }
    }
}
