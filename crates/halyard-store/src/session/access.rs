//! Keys, sign-ins and the audit log.

use halyard_core::TimeMs;
use halyard_core::id::KeyId;
use halyard_core::role::Role;

use super::Session;
use crate::access::{
    Action, ApiKey, AuditEntry, AuditKept, By, Deed, Revoked, SIGN_INS_MAX, SIGN_INS_OF_KEY_MAX,
    SecretHash, SignIn,
};

impl Session<'_> {
    /// Writes down what was done, if anything was, and it is known by whom.
    pub(crate) fn note(&mut self, by: Option<&By>, deed: Option<Deed>) {
        let Some((by, deed)) = by.zip(deed) else { return };
        self.tables.audit.entries.push_back(AuditEntry { at: self.now, by: by.clone(), deed });
    }

    pub(crate) fn create_api_key(&mut self, key: &ApiKey, by: &By) {
        self.note(Some(by), Some(Deed::to(Action::CreateKey, key.called())));
        self.tables.access.keys.push(key.clone());
        self.tables.access.keys.sort_by_key(|key| key.id);
    }

    pub(crate) fn revoke_api_key(&mut self, id: KeyId, keep_an_admin: bool, by: &By) -> Revoked {
        let keys = &mut self.tables.access.keys;
        let Some(place) = keys.iter().position(|key| key.id == id) else {
            return Revoked::Unknown;
        };
        let admins = keys.iter().filter(|key| key.role == Role::Admin);
        if keep_an_admin && admins.map(|key| key.id).eq([id]) {
            return Revoked::LastAdmin;
        }
        let key = keys.remove(place);
        self.note(Some(by), Some(Deed::to(Action::RevokeKey, key.called())));
        Revoked::Done(key)
    }

    pub(crate) fn use_api_keys(&mut self, used: &[(KeyId, TimeMs)]) {
        for key in &mut self.tables.access.keys {
            let at = used.iter().find(|(id, _)| *id == key.id).map(|(_, at)| *at);
            key.last_used_at = key.last_used_at.max(at);
        }
    }

    pub(crate) fn sign_in(&mut self, sign_in: &SignIn, by: &By) {
        self.note(Some(by), Some(Deed::to_jobs(Action::SignIn, Vec::new())));
        let sign_ins = &mut self.tables.access.sign_ins;
        sign_ins.retain(|it| it.expires_at > self.now);
        sign_ins.push(sign_in.clone());
        sign_ins.sort_by_key(|it| (it.expires_at, it.hash));
        sign_ins.reverse();
        let (mut all, mut of_key) = (0, 0);
        sign_ins.retain(|it| {
            all += 1;
            of_key += usize::from(it.key_hash == sign_in.key_hash);
            let fits = it.key_hash != sign_in.key_hash || of_key <= SIGN_INS_OF_KEY_MAX;
            all <= SIGN_INS_MAX && fits
        });
        sign_ins.reverse();
    }

    pub(crate) fn sign_out(&mut self, hash: &SecretHash) {
        self.tables.access.sign_ins.retain(|it| it.hash != *hash);
    }

    pub(crate) fn prune_audit(&mut self, limit: usize, kept: AuditKept) -> usize {
        let before = self.now.saturating_sub(kept.for_ms);
        let audit = &mut self.tables.audit;
        let old = audit.entries.iter().take_while(|entry| entry.at < before).count();
        let lines_max = usize::try_from(kept.lines_max).unwrap_or(usize::MAX);
        let surplus = audit.entries.len().saturating_sub(lines_max);
        let gone = old.max(surplus).min(limit);
        audit.entries.drain(..gone);
        audit.first += i64::try_from(gone).unwrap_or(i64::MAX);
        gone
    }
}
