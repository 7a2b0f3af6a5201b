//! Claims whose leases are not with their client yet, and what a repeat of one means for it.
//!
//! Whose answer was lost may be gone, or may be about to send the claim again. What the repeat is
//! given must not be given back behind its back, and a first sending that is read after its repeat
//! must not lease more. So the sendings of one claim take turns:
//!
//! - a repeat is alone; when it has its leases, it calls off the giving back of the first sending;
//! - a first sending, and who gives back, come before it (it sees what they did) or after it (and
//!   then do nothing). One that still waits for a job when its repeat comes waits in vain: nobody
//!   may be there any more. So does a repeat when one that was read after it has come;
//! - a repeat itself gives nothing back: what it found may be with the client already, by a sending
//!   whose answer arrived. If nobody is there any more, those leases lapse.
//!
//! Deliberately absent: claims without a `claim_id`, which cannot be repeated, and anything that
//! outlives this process: with it go the connections that claims came on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halyard_core::job::ClaimMark;
use halyard_core::limits;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::Instant;

/// For so long after a repeat a first sending of its mark is taken for a late one. The client cut
/// the first one's connection before it sent the repeat on another, so they are read close
/// together.
const LATE: Duration = Duration::from_secs(1);

/// For so long repeats are remembered: a little longer than any sending waits.
const REMEMBERED: Duration = Duration::from_millis(limits::WAIT_MS_MAX.unsigned_abs() + 5_000);

/// Repeats are looked through for old ones when they are so many, or twice as many as were left the
/// last time.
const REPEATS_MIN: usize = 64;

/// Marks with the same remainder share a turn: repeats of many claims at once hardly meet.
const TURNS: usize = 64;

/// All of them.
#[derive(Debug)]
pub struct Deliveries {
    marks: Mutex<Marks>,
    turns: Vec<Arc<RwLock<()>>>,
}

#[derive(Debug, Default)]
struct Marks {
    /// Of each first sending under way whether a repeat has answered with its leases. A client that
    /// has few names for its claims may have several of one mark.
    under_way: HashMap<ClaimMark, Vec<Arc<AtomicBool>>>,
    /// When the newest repeat of a mark was read.
    repeated: HashMap<ClaimMark, Instant>,
    /// At so many repeats old ones are forgotten.
    repeats_max: usize,
}

/// One of them: that of a first sending, which may still give its leases back.
#[derive(Debug)]
pub struct Delivery {
    all: Arc<Deliveries>,
    mark: Option<ClaimMark>,
    taken_over: Arc<AtomicBool>,
}

/// While a claim has its turn, no other sending of it is run.
#[derive(Debug)]
pub enum Turn {
    /// It cannot be repeated.
    Free,
    /// A first sending, or a giving back.
    Shared(OwnedRwLockReadGuard<()>),
    /// A repeat.
    Alone(OwnedRwLockWriteGuard<()>),
}

impl Default for Deliveries {
    fn default() -> Self {
        let turns = (0..TURNS).map(|_| Arc::default()).collect();
        Self { marks: Mutex::default(), turns }
    }
}

impl Deliveries {
    /// Waits for the turn of a claim that was read at `read`. `None` for a first sending whose
    /// repeat was read before it, and for any sending whose repeat came while it waited: nobody
    /// waits for its answer. A repeat has no delivery of its own.
    pub async fn begin(
        self: &Arc<Self>,
        mark: Option<ClaimMark>,
        repeat: bool,
        read: Instant,
    ) -> Option<(Option<Delivery>, Turn)> {
        let turn = self.turn(mark, repeat).await;
        let taken_over = Arc::default();
        if let Some(mark) = mark {
            let (mut marks, now) = (self.lock(), Instant::now());
            if marks.is_stale(mark, repeat, read, now) {
                return None;
            }
            if repeat {
                marks.repeat(mark, read, now);
                return Some((None, turn));
            }
            marks.under_way.entry(mark).or_default().push(Arc::clone(&taken_over));
        }
        Some((Some(Delivery { all: Arc::clone(self), mark, taken_over }), turn))
    }

    /// A repeat of `mark` has its leases: those of every first sending are among them.
    pub fn take_over(&self, mark: ClaimMark) {
        for first in self.lock().under_way.get(&mark).into_iter().flatten() {
            first.store(true, Ordering::Relaxed);
        }
    }

    async fn turn(&self, mark: Option<ClaimMark>, alone: bool) -> Turn {
        let place = mark.and_then(|mark| self.turns.get(usize::from(mark[0]) % TURNS));
        let Some(turn) = place.map(Arc::clone) else { return Turn::Free };
        match alone {
            true => Turn::Alone(turn.write_owned().await),
            false => Turn::Shared(turn.read_owned().await),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marks {
    fn repeat(&mut self, mark: ClaimMark, read: Instant, now: Instant) {
        if self.repeated.len() >= self.repeats_max.max(REPEATS_MIN) {
            self.repeated.retain(|_, at| now.duration_since(*at) < REMEMBERED);
            self.repeats_max = 2 * self.repeated.len();
        }
        self.repeated.insert(mark, read);
    }

    /// Whether nobody waits for the answer of a sending that was read at `read`.
    fn is_stale(&self, mark: ClaimMark, repeat: bool, read: Instant, now: Instant) -> bool {
        let Some(repeated) = self.repeated.get(&mark) else { return false };
        match repeat {
            true => *repeated > read,
            false => *repeated >= read || now.duration_since(*repeated) < LATE,
        }
    }
}

impl Delivery {
    /// Waits for the turn to give the leases back; `None` when a repeat has answered with them.
    pub async fn give_back(&self) -> Option<Turn> {
        let turn = self.all.turn(self.mark, false).await;
        (!self.taken_over.load(Ordering::Relaxed)).then_some(turn)
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        let Some(mark) = self.mark else { return };
        let mut marks = self.all.lock();
        if let Entry::Occupied(mut same_mark) = marks.under_way.entry(mark) {
            same_mark.get_mut().retain(|other| !Arc::ptr_eq(other, &self.taken_over));
            if same_mark.get().is_empty() {
                same_mark.remove();
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::{Deliveries, LATE, Marks, REMEMBERED, Turn};
    use std::sync::Arc;
    use tokio::time::Instant;

    const MARK: Option<[u8; 16]> = Some([7; 16]);

    #[tokio::test]
    async fn a_repeat_calls_off_the_giving_back_of_other_sendings() {
        let all = Arc::new(Deliveries::default());
        let (first, turn) = all.begin(MARK, false, Instant::now()).await.unwrap();
        drop(turn);
        let (other, turn) = all.begin(Some([8; 16]), false, Instant::now()).await.unwrap();
        drop(turn);
        let (repeat, turn) = all.begin(MARK, true, Instant::now()).await.unwrap();
        assert!(repeat.is_none(), "it has nothing to give back");
        all.take_over([7; 16]);
        drop(turn);
        let (first, other) = (first.unwrap(), other.unwrap());
        assert!(first.give_back().await.is_none());
        assert!(other.give_back().await.is_some());
        drop((first, other));
        assert!(all.lock().under_way.is_empty());
    }

    #[tokio::test]
    async fn a_first_sending_behind_its_repeat_does_nothing() {
        let all = Arc::new(Deliveries::default());
        assert!(all.begin(MARK, true, Instant::now()).await.is_some());
        assert!(all.begin(MARK, false, Instant::now()).await.is_none());
        assert!(all.begin(MARK, true, Instant::now()).await.is_some());
        assert!(all.begin(Some([8; 16]), false, Instant::now()).await.is_some());
        assert!(matches!(all.begin(None, false, Instant::now()).await, Some((_, Turn::Free))));
    }

    #[tokio::test]
    async fn the_sendings_of_a_claim_take_turns() {
        let all = Arc::new(Deliveries::default());
        let (first, turn) = all.begin(MARK, false, Instant::now()).await.unwrap();
        let repeat = tokio::spawn({
            let all = Arc::clone(&all);
            async move { all.begin(MARK, true, Instant::now()).await }
        });
        tokio::task::yield_now().await;
        assert!(!repeat.is_finished(), "the first sending has its turn");
        drop(turn);
        let (_, turn) = repeat.await.unwrap().unwrap();
        let giving_back = tokio::spawn(async move { first.unwrap().give_back().await.is_none() });
        tokio::task::yield_now().await;
        assert!(!giving_back.is_finished(), "the repeat has its turn");
        all.take_over([7; 16]);
        drop(turn);
        assert!(giving_back.await.unwrap());
    }

    #[test]
    fn a_first_sending_that_waits_ends_with_its_repeat() {
        let (mut marks, read, mark) = (Marks::default(), Instant::now(), [7; 16]);
        let repeated = read + 2 * LATE;
        assert!(!marks.is_stale(mark, false, read, repeated));
        marks.repeat(mark, repeated, repeated);
        assert!(marks.is_stale(mark, false, read, repeated + 10 * LATE));
        assert!(marks.is_stale(mark, false, repeated + LATE / 2, repeated + LATE / 2), "read late");
        // One that was read later still is another claim, of a client that has few names for them.
        assert!(!marks.is_stale(mark, false, repeated + LATE, repeated + LATE));
        assert!(!marks.is_stale([8; 16], false, read, repeated));
    }

    #[test]
    fn the_repeat_that_was_read_last_is_the_one_that_counts() {
        let (mut marks, read, mark) = (Marks::default(), Instant::now(), [7; 16]);
        let later = read + LATE / 10;
        marks.repeat(mark, later, later);
        assert!(marks.is_stale(mark, true, read, later), "its client has sent another one since");
        assert!(!marks.is_stale(mark, true, later, later + 10 * LATE), "it waits, and asks again");
    }

    #[test]
    fn old_repeats_are_forgotten() {
        let (mut marks, mut now) = (Marks::default(), Instant::now());
        for round in 0..10_u8 {
            for number in 0..=255 {
                marks.repeat([[round, number]; 8].concat().try_into().unwrap(), now, now);
            }
            assert!(marks.repeated.len() <= 512, "{} in round {round}", marks.repeated.len());
            now += REMEMBERED;
        }
    }
}
