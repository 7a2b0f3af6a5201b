//! Who may call, and what operators did: keys, sign-ins and the audit log.
//!
//! The store keeps them; who may do what with them is the server's to say. Of a key and of a
//! sign-in it has the SHA-256 only: neither can be read out of a database, a backup or a dump.

use async_trait::async_trait;
use halyard_core::id::{JobId, KeyId};
use halyard_core::job::Name;
use halyard_core::role::Role;
use halyard_core::{TimeMs, limits};

use crate::Answer;
use crate::verbs::{Acted, Bulk, BulkAction, Created, Keyed};

/// Sign-ins that are kept; beyond them those that end first are forgotten.
pub const SIGN_INS_MAX: usize = 1_000;

/// Sign-ins of one key that are kept, so that no key pushes out all those of the others.
pub const SIGN_INS_OF_KEY_MAX: usize = 50;

/// SHA-256 of a secret.
pub type SecretHash = [u8; 32];

/// A key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id, which is part of its text.
    pub id: KeyId,
    /// What its owner calls it.
    pub name: Name,
    /// What it may do.
    pub role: Role,
    /// Of its whole text.
    pub hash: SecretHash,
    /// When it was made.
    pub created_at: TimeMs,
    /// When it was last used, to the minute.
    pub last_used_at: Option<TimeMs>,
}

/// A browser that has signed in with a key, and may do what the key may for as long as both last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// Of its secret.
    pub hash: SecretHash,
    /// Of the key's text: it may be one that the store does not know, but the server.
    pub key_hash: SecretHash,
    /// When it ends.
    pub expires_at: TimeMs,
}

/// Every key by its id, and every sign-in by its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The keys.
    pub keys: Vec<ApiKey>,
    /// The sign-ins, ended ones among them.
    pub sign_ins: Vec<SignIn>,
}

/// What became of a revocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// The key that is gone.
    Done(ApiKey),
    /// Nothing: without it nobody could make keys.
    LastAdmin,
    /// There is no such key.
    Unknown,
}

/// On whose behalf an operator's call is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// The name of the key, or who else it is.
    pub actor: Name,
    /// The key, if the store knows it.
    pub key_id: Option<KeyId>,
    /// The call's id.
    pub request_id: Name,
}

/// What an operator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opened new lives.
    Retry,
    /// Called jobs off.
    Cancel,
    /// Made waiting jobs claimable.
    RunNow,
    /// Created the same work again.
    RunAsNew,
    /// Removed jobs.
    Delete,
    /// Freed the key that a job held.
    ForgetKey,
    /// Paused a queue.
    Pause,
    /// Let a queue go on.
    Resume,
    /// Made a key.
    CreateKey,
    /// Took a key away.
    RevokeKey,
    /// Signed in with a key.
    SignIn,
}

impl Action {
    const ALL: [Self; 11] = [
        Self::Retry,
        Self::Cancel,
        Self::RunNow,
        Self::RunAsNew,
        Self::Delete,
        Self::ForgetKey,
        Self::Pause,
        Self::Resume,
        Self::CreateKey,
        Self::RevokeKey,
        Self::SignIn,
    ];

    /// Its name, everywhere.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::RunNow => "run_now",
            Self::RunAsNew => "run_as_new",
            Self::Delete => "delete",
            Self::ForgetKey => "forget_key",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::CreateKey => "create_key",
            Self::RevokeKey => "revoke_key",
            Self::SignIn => "sign_in",
        }
    }

    /// The action of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// Something that was done, and to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// What was done.
    pub action: Action,
    /// To what, if not to jobs: a queue's name, a key's id and name; by which filter, of a bulk
    /// action's jobs.
    pub target: Option<String>,
    /// To which jobs.
    pub job_ids: Vec<JobId>,
}

/// One line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When it was done.
    pub at: TimeMs,
    /// By whom.
    pub by: By,
    /// What.
    pub deed: Deed,
}

/// One page of the audit log, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditPage {
    /// The lines.
    pub entries: Vec<AuditEntry>,
    /// Where the next page goes on; `None` at the end.
    pub next: Option<i64>,
}

/// How long the audit log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditKept {
    /// Lines that are older go.
    pub for_ms: i64,
    /// The oldest of more lines go, too.
    pub lines_max: u64,
}

impl AuditKept {
    /// Ninety days, and as many lines as a database of a few hundred megabytes holds.
    pub const DEFAULT: Self = Self { for_ms: 90 * limits::DAY, lines_max: 100_000 };
}

impl Deed {
    /// Something that was done to jobs.
    #[must_use]
    pub fn to_jobs(action: Action, job_ids: Vec<JobId>) -> Self {
        Self { action, target: None, job_ids }
    }

    /// Something that was done to something else.
    #[must_use]
    pub fn to(action: Action, target: String) -> Self {
        Self { action, target: Some(target), job_ids: Vec::new() }
    }

    /// To how many things it was done.
    #[must_use]
    pub fn count(&self) -> usize {
        self.job_ids.len().max(1)
    }

    /// The jobs as databases keep them: ids with commas between.
    pub(crate) fn job_ids_text(&self) -> String {
        self.job_ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// Reads what [`job_ids_text`](Self::job_ids_text) wrote; ids that cannot exist are left out.
    pub(crate) fn job_ids_of(text: &str) -> Vec<JobId> {
        text.split(',').filter_map(JobId::parse).collect()
    }
}

/// What a verb's answer says was done. `None`: nothing, or an earlier call did it.
impl Deed {
    pub(crate) fn of_act(action: Action, id: JobId, acted: &Acted) -> Option<Self> {
        is_done(acted).then(|| Self::to_jobs(action, vec![id]))
    }

    pub(crate) fn of_retry(id: JobId, acted: &Keyed<Acted>) -> Option<Self> {
        let Keyed::Fresh(acted) = acted else { return None };
        Self::of_act(Action::Retry, id, acted)
    }

    pub(crate) fn of_bulk(bulk: &Bulk, acted: &Keyed<Vec<Acted>>) -> Option<Self> {
        let Keyed::Fresh(acted) = acted else { return None };
        let action = match bulk.action {
            BulkAction::Retry => Action::Retry,
            BulkAction::Cancel => Action::Cancel,
            BulkAction::Delete => Action::Delete,
            BulkAction::RunNow => Action::RunNow,
        };
        let done = bulk.targets.iter().zip(acted).filter(|(_, acted)| is_done(acted));
        let job_ids: Vec<JobId> = done.filter_map(|((id, _), _)| *id).collect();
        (!job_ids.is_empty()).then(|| Self { action, target: bulk.filter.clone(), job_ids })
    }

    /// The new job, of the old one.
    pub(crate) fn of_rerun(id: JobId, made: &Keyed<Created>) -> Option<Self> {
        let Keyed::Fresh(Created::New(view)) = made else { return None };
        let job_ids = vec![view.job.id];
        Some(Self { action: Action::RunAsNew, target: Some(id.to_string()), job_ids })
    }

    pub(crate) fn of_forget(id: JobId, freed: bool) -> Option<Self> {
        freed.then(|| Self::to_jobs(Action::ForgetKey, vec![id]))
    }

    pub(crate) fn of_pause(queue: &str, paused: bool) -> Self {
        let action = if paused { Action::Pause } else { Action::Resume };
        Self::to(action, queue.to_owned())
    }
}

fn is_done(acted: &Acted) -> bool {
    matches!(acted, Acted::Done { changed: true, .. })
}

impl ApiKey {
    /// What it is called in the audit log.
    #[must_use]
    pub fn called(&self) -> String {
        format!("{} ({})", self.name, self.id)
    }
}

/// The verbs of access. Like those of [`Store`](crate::Store), each is one transaction.
#[async_trait]
pub trait Keyring {
    /// Every key and sign-in.
    async fn access(&self) -> Answer<Access>;

    /// Keeps a new key.
    async fn create_api_key(&self, key: ApiKey, by: By) -> Answer<()>;

    /// Takes a key away; with `keep_an_admin` never the last one with that role.
    async fn revoke_api_key(&self, id: KeyId, keep_an_admin: bool, by: By) -> Answer<Revoked>;

    /// Says when keys were used.
    async fn use_api_keys(&self, used: Vec<(KeyId, TimeMs)>) -> Answer<()>;

    /// Keeps a sign-in, and forgets those that have ended.
    async fn sign_in(&self, sign_in: SignIn, by: By) -> Answer<()>;

    /// Forgets a sign-in.
    async fn sign_out(&self, hash: SecretHash) -> Answer<()>;

    /// A page of at most `limit` lines of the audit log, newest first, of those before a place.
    async fn audit(&self, before: Option<i64>, limit: usize) -> Answer<AuditPage>;

    /// Removes up to `limit` lines that are kept no longer; says how many.
    async fn prune_audit(&self, limit: usize, kept: AuditKept) -> Answer<usize>;
}
