//! How often a wrong key may be tried at the sign-in: ten times a minute from one address, and for
//! one key. Only wrong ones count, and whoever has a key can still send it with each call.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use halyard_core::id::KeyId;
use tokio::time::Instant;

/// Wrong keys in one window.
pub const WRONG_MAX: u32 = 10;
/// A window.
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses and keys that are counted; when so many are, nobody else is let try.
const COUNTED_MAX: usize = 10_000;

/// Whom a wrong try counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Against {
    /// Where it came from.
    Address(IpAddr),
    /// The key that it pretended to be.
    Key(KeyId),
}

/// The wrong tries of the last minute.
#[derive(Debug, Default)]
pub struct Attempts(Mutex<HashMap<Against, (Instant, u32)>>);

impl Attempts {
    /// Says how long to wait before another try; `None`: try now.
    pub fn wait(&self, against: Against, now: Instant) -> Option<Duration> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.retain(|_, (since, _)| now.duration_since(*since) < WINDOW);
        if counted.len() >= COUNTED_MAX {
            return Some(WINDOW);
        }
        let (since, wrong) = counted.get(&against)?;
        (*wrong >= WRONG_MAX).then(|| WINDOW.saturating_sub(now.duration_since(*since)))
    }

    /// A try was wrong.
    pub fn count(&self, against: Against, now: Instant) {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.entry(against).or_insert((now, 0)).1 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_a_minute_from_one_address() {
        let attempts = Attempts::default();
        let here = Against::Address([127, 0, 0, 1].into());
        let there = Against::Address([127, 0, 0, 2].into());
        let key = Against::Key(KeyId(7));
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        for second in 0..u64::from(WRONG_MAX) {
            assert_eq!(attempts.wait(here, after(second)), None);
            attempts.count(here, after(second));
        }
        assert_eq!(attempts.wait(here, after(10)), Some(Duration::from_secs(50)));
        assert_eq!(attempts.wait(there, after(10)), None);
        (0..WRONG_MAX).for_each(|_| attempts.count(key, after(20)));
        assert!(attempts.wait(key, after(20)).is_some(), "from anywhere");
        assert_eq!(attempts.wait(here, after(60)), None);
    }
}
