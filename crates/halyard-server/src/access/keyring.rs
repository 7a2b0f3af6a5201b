//! The keys and sign-ins of the store, as this server knows them.
//!
//! They are kept in memory, so that no call waits for the store to know who calls. Whatever this
//! server changes it loads again at once, and it looks every second: a client may have hung up
//! between its revocation and the load. On a store that others share it also looks when it meets a
//! secret that it does not know: a key that was made at one server opens all of them at once, and
//! one that was revoked there is refused here within a second.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use halyard_core::TimeMs;
use halyard_core::id::KeyId;
use halyard_core::job::Name;
use halyard_core::role::Role;
use halyard_store::access::{Access, ApiKey, SecretHash, SignIn};
use halyard_store::{Answer, Store};
use tokio::sync::{Mutex, watch};

use super::secret::{KeyHash, SECRET_LENGTH, key_id};

/// The use of a key is noted once in so many milliseconds.
const USE_EVERY_MS: i64 = 60_000;

/// What the configured key is called.
const CONFIGURED: &str = "HALYARD_API_KEY";
/// What whoever calls a server without keys is called.
const ANYBODY: &str = "anybody";
/// Whoever calls a server without keys.
const ANYONE: Caller =
    Caller { role: Role::Admin, name: None, key_id: None, by_key: false, sign_in: None };

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// What they may do.
    pub role: Role,
    /// The name of their key; `None` where none is asked for.
    pub name: Option<Name>,
    /// Their key, if the store knows it.
    pub key_id: Option<KeyId>,
    /// They sent a key with this call.
    pub by_key: bool,
    /// Their browser signed in.
    sign_in: Option<SecretHash>,
}

impl Caller {
    /// What they are called in the audit log.
    #[must_use]
    pub fn actor(&self) -> Name {
        self.name.clone().unwrap_or_else(|| ANYBODY.into())
    }
}

/// What a call brings to show who makes it.
#[derive(Clone, Copy, Debug)]
pub enum Proof<'c> {
    /// The text of a key.
    Key(&'c [u8]),
    /// The secret of a cookie.
    Cookie(&'c [u8]),
}

/// The keys of one server.
#[derive(Debug)]
pub struct Keyring {
    configured: Option<KeyHash>,
    /// Without any key anybody who reaches the server may do everything.
    may_be_open: bool,
    /// There was a key once: whoever takes the last one away opens nothing, until a restart.
    asks: AtomicBool,
    known: RwLock<Arc<Known>>,
    /// Told of each load that found a change.
    loaded: watch::Sender<()>,
    /// One loads at a time.
    turn: Mutex<()>,
    /// How many loads were begun.
    begun: AtomicU64,
}

#[derive(Debug, Default)]
struct Known {
    keys: HashMap<KeyId, Key>,
    by_hash: HashMap<SecretHash, KeyId>,
    sign_ins: HashMap<SecretHash, SignIn>,
}

#[derive(Debug)]
struct Key {
    row: ApiKey,
    used_at: AtomicI64,
}

impl Keyring {
    /// Of a server that listens there, with or without a key in its settings.
    #[must_use]
    pub fn new(configured: Option<KeyHash>, listen: IpAddr) -> Self {
        let known = RwLock::default();
        Self {
            configured,
            may_be_open: is_loopback(listen),
            asks: AtomicBool::new(false),
            known,
            loaded: watch::Sender::default(),
            turn: Mutex::new(()),
            begun: AtomicU64::new(0),
        }
    }

    /// Says whether anybody may do everything.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.may_be_open && self.configured.is_none() && !self.asks.load(Ordering::Acquire)
    }

    /// Says whether nobody may do anything, now or later.
    #[must_use]
    pub fn is_shut(&self) -> bool {
        !self.may_be_open && self.configured.is_none() && self.known().keys.is_empty()
    }

    /// Says whether an admin's key stands in the server's settings.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.configured.is_some()
    }

    /// How many keys the store holds.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known().keys.len()
    }

    /// Loads them anew.
    ///
    /// # Errors
    /// The store's; then what was known stays.
    pub async fn load(&self, store: &dyn Store) -> Answer<()> {
        let _turn = self.turn.lock().await;
        self.load_now(store).await
    }

    /// Loads them unless another load has begun since `begun` were.
    async fn load_since(&self, store: &dyn Store, begun: u64) -> Answer<()> {
        let _turn = self.turn.lock().await;
        if self.begun.load(Ordering::Acquire) > begun { Ok(()) } else { self.load_now(store).await }
    }

    async fn load_now(&self, store: &dyn Store) -> Answer<()> {
        self.begun.fetch_add(1, Ordering::AcqRel);
        let access = store.access().await?;
        let before = self.known();
        // Who waits is told of changes only: it would wake them all every second.
        if before.is(&access) {
            return Ok(());
        }
        let used_at = |key: &ApiKey| {
            let here = before.keys.get(&key.id).map(|key| key.used_at.load(Ordering::Relaxed));
            here.unwrap_or(0).max(key.last_used_at.unwrap_or(0))
        };
        let known = Known {
            by_hash: access.keys.iter().map(|key| (key.hash, key.id)).collect(),
            sign_ins: access.sign_ins.into_iter().map(|it| (it.hash, it)).collect(),
            keys: access
                .keys
                .into_iter()
                .map(|row| (row.id, Key { used_at: used_at(&row).into(), row }))
                .collect(),
        };
        if !known.keys.is_empty() {
            self.asks.store(true, Ordering::Release);
        }
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        self.loaded.send_replace(());
        Ok(())
    }

    /// Who brings this proof. `None`: nobody known.
    pub async fn caller(&self, store: &dyn Store, proof: Option<Proof<'_>>) -> Option<Caller> {
        if self.is_open() {
            return Some(ANYONE);
        }
        self.known_by(store, proof?).await
    }

    /// The same, also where anybody may call.
    pub async fn known_by(&self, store: &dyn Store, proof: Proof<'_>) -> Option<Caller> {
        let (begun, now) = (self.begun.load(Ordering::Acquire), store.now());
        let found = self.find(proof, now);
        if found.is_some() || !store.is_shared() || !may_be_elsewhere(proof) {
            return found;
        }
        // The store may be away; then what is known here is all there is.
        let _ = self.load_since(store, begun).await;
        self.find(proof, now)
    }

    /// Says whether somebody who was let in would be let in again.
    #[must_use]
    pub fn stands(&self, caller: &Caller, now: TimeMs) -> bool {
        let known = self.known();
        let key_stands = caller.key_id.is_none_or(|id| known.keys.contains_key(&id));
        match &caller.sign_in {
            Some(hash) => {
                let sign_in = known.sign_ins.get(hash);
                key_stands && sign_in.is_some_and(|sign_in| now < sign_in.expires_at)
            }
            None => key_stands && (caller.name.is_some() || self.is_open()),
        }
    }

    /// Ends when somebody who was let in would be let in no more, as far as that comes by a load.
    pub async fn gone(&self, store: &dyn Store, caller: &Caller) {
        let mut loaded = self.loaded.subscribe();
        while self.stands(caller, store.now()) {
            if loaded.changed().await.is_err() {
                return;
            }
        }
    }

    /// Says whether it knows a key of that id.
    #[must_use]
    pub fn knows(&self, id: KeyId) -> bool {
        self.known().keys.contains_key(&id)
    }

    fn find(&self, proof: Proof<'_>, now: TimeMs) -> Option<Caller> {
        let known = self.known();
        match proof {
            Proof::Key(text) => {
                if self.configured.is_some_and(|configured| configured.matches(text)) {
                    return Some(configured(None));
                }
                let key = known.keys.get(&key_id(text)?)?;
                KeyHash(key.row.hash).matches(text).then(|| key.caller(None, now))
            }
            Proof::Cookie(secret) => {
                // Who can make a hash collide needs no timing: a look-up by hash tells nothing.
                let sign_in = known.sign_ins.get(&KeyHash::of(secret).0)?;
                if now >= sign_in.expires_at {
                    return None;
                }
                if self.configured.is_some_and(|configured| configured.0 == sign_in.key_hash) {
                    return Some(configured(Some(sign_in.hash)));
                }
                let id = known.by_hash.get(&sign_in.key_hash)?;
                known.keys.get(id).map(|key| key.caller(Some(sign_in.hash), now))
            }
        }
    }

    /// Keys that were used since that was last written.
    #[must_use]
    pub fn used(&self) -> Vec<(KeyId, TimeMs)> {
        let known = self.known();
        let used = known.keys.values().map(|key| (&key.row, key.used_at.load(Ordering::Relaxed)));
        used.filter(|(row, at)| *at > row.last_used_at.unwrap_or(0))
            .map(|(row, at)| (row.id, at))
            .collect()
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Known {
    /// Says whether this is what is known.
    fn is(&self, access: &Access) -> bool {
        let knows_key = |key: &ApiKey| self.keys.get(&key.id).is_some_and(|it| it.row == *key);
        let knows = |it: &SignIn| self.sign_ins.get(&it.hash) == Some(it);
        access.keys.len() == self.keys.len()
            && access.sign_ins.len() == self.sign_ins.len()
            && access.keys.iter().all(knows_key)
            && access.sign_ins.iter().all(knows)
    }
}

impl Key {
    fn caller(&self, sign_in: Option<SecretHash>, now: TimeMs) -> Caller {
        if now - self.used_at.load(Ordering::Relaxed) >= USE_EVERY_MS {
            self.used_at.store(now, Ordering::Relaxed);
        }
        let row = &self.row;
        let (name, by_key) = (Some(row.name.clone()), sign_in.is_none());
        Caller { role: row.role, name, key_id: Some(row.id), by_key, sign_in }
    }
}

/// Another server may have made it: it is written as servers write them.
fn may_be_elsewhere(proof: Proof<'_>) -> bool {
    match proof {
        Proof::Key(text) => key_id(text).is_some(),
        Proof::Cookie(secret) => secret.len() == SECRET_LENGTH,
    }
}

fn configured(sign_in: Option<SecretHash>) -> Caller {
    let (name, by_key) = (Some(CONFIGURED.into()), sign_in.is_none());
    Caller { role: Role::Admin, name, key_id: None, by_key, sign_in }
}

/// Says whether who listens there is reached from this machine only.
#[must_use]
pub fn is_loopback(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip == std::net::Ipv6Addr::LOCALHOST,
    }
}
