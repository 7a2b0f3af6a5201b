//! The store for tests: what it knows ends with the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::{Claim, Claimed, Store, StoreError};

/// Records in this process, for tests. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    records: Arc<Mutex<HashMap<String, Record>>>,
}

#[derive(Debug)]
struct Record {
    fingerprint: String,
    owner: String,
    in_progress_until: Instant,
    /// Whether this run took over from one that never said how it ended.
    unknown: bool,
    response: Option<Box<RawValue>>,
    expires_at: Instant,
}

impl MemoryStore {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything, for the next test.
    pub fn clear(&self) {
        self.records().clear();
    }

    fn records(&self) -> MutexGuard<'_, HashMap<String, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the record that `owner` has in progress.
    fn change(&self, key: &str, owner: &str, change: impl FnOnce(&mut Record)) -> bool {
        let mut records = self.records();
        let record = records.get_mut(key).filter(|record| record.is_owned(owner));
        record.map(change).is_some()
    }
}

impl Record {
    /// Whether `owner` has it in progress.
    fn is_owned(&self, owner: &str) -> bool {
        self.owner == owner && self.response.is_none()
    }

    fn ask(&self, claim: &Claim, now: Instant) -> Claimed {
        if self.fingerprint != claim.fingerprint {
            return Claimed::Reused;
        }
        if let Some(response) = &self.response {
            return Claimed::Completed(response.clone());
        }
        match self.in_progress_until.saturating_duration_since(now) {
            Duration::ZERO => Claimed::Mine { unknown: true },
            // Sent again, because its answer was lost.
            _ if self.owner == claim.owner => Claimed::Mine { unknown: self.unknown },
            left => Claimed::InProgress { left },
        }
    }
}

/// `now` and `time`; the far future is no time that a clock can tell.
fn after(now: Instant, time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
    now + time.min(10 * YEAR)
}

impl Store for MemoryStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let now = Instant::now();
        let mut records = self.records();
        let old = records.get(&claim.key).filter(|record| record.expires_at > now);
        let claimed = old.map_or(Claimed::Mine { unknown: false }, |old| old.ask(claim, now));
        if let Claimed::Mine { unknown } = claimed {
            let record = Record {
                fingerprint: claim.fingerprint.clone(),
                owner: claim.owner.clone(),
                in_progress_until: after(now, claim.in_progress),
                unknown,
                response: None,
                expires_at: after(now, claim.expires_in),
            };
            records.insert(claim.key.clone(), record);
        }
        Ok(claimed)
    }

    async fn complete(
        &self,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        Ok(self.change(key, owner, |record| {
            record.response = Some(response.to_owned());
            record.expires_at = after(Instant::now(), expires_in);
        }))
    }

    async fn leave(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        Ok(self.change(key, owner, |record| record.in_progress_until = Instant::now()))
    }

    async fn remove(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        let mut records = self.records();
        let Some(record) = records.get_mut(key).filter(|record| record.is_owned(owner)) else {
            return Ok(false);
        };
        if record.unknown {
            record.in_progress_until = Instant::now();
        } else {
            records.remove(key);
        }
        Ok(true)
    }
}
