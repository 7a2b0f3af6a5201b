//! Points of a handler, where a run of it can be stopped.

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

tokio::task_local! {
    static COURSE: Arc<Course>;
}

/// A place in a handler, and which time of passing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    place: Place,
    name: String,
    time: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Named,
    BeforeCheckpoint,
    AfterCheckpoint,
}

impl Point {
    fn named(name: &str) -> Self {
        Self { place: Place::Named, name: name.to_owned(), time: 1 }
    }

    pub(crate) fn before_checkpoint(name: &str) -> Self {
        Self { place: Place::BeforeCheckpoint, ..Self::named(name) }
    }

    pub(crate) fn after_checkpoint(name: &str) -> Self {
        Self { place: Place::AfterCheckpoint, ..Self::named(name) }
    }

    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        self.place == other.place && self.name == other.name
    }

    pub(super) fn is_after_checkpoint(&self) -> bool {
        self.place == Place::AfterCheckpoint
    }
}

/// `at `charged``, `before checkpoint `invoices``, `at `charged` (the 2nd time)`.
impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Named => "at",
            Place::BeforeCheckpoint => "before checkpoint",
            Place::AfterCheckpoint => "after checkpoint",
        };
        write!(formatter, "{place} `{}`", self.name)?;
        let ending = match self.time {
            1 => return Ok(()),
            2 => "nd",
            3 => "rd",
            _ => "th",
        };
        write!(formatter, " (the {}{ending} time)", self.time)
    }
}

/// A point of a fake, to be placed where a process could die: before and after what it does to the
/// world. In a proof the run may be killed or frozen here; anywhere else this does nothing.
///
/// A task that the handler spawned, and awaits or not, is not part of the run: it has no points.
pub async fn crash_point(name: &str) {
    pass(Point::named(name)).await;
}

/// Passes a point, or stays there.
pub(crate) async fn pass(point: Point) {
    let Ok(course) = COURSE.try_with(Arc::clone) else { return };
    let mut stays = course.arrive(point);
    poll_fn(|context| {
        stays = stays && course.stays(context.waker());
        if stays { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

/// An owner for the next claim of this run in a processed store.
pub(crate) fn next_owner() -> Option<String> {
    COURSE.try_with(|course| course.next_owner()).ok()
}

/// The owners of what runs of this job that were killed have claimed.
pub(crate) fn killed_owners() -> Vec<String> {
    let owners = |course: &Arc<Course>| course.killed.iter().flat_map(|run| run.owners()).collect();
    COURSE.try_with(owners).unwrap_or_default()
}

/// One run: the points that it has passed, and where it stops.
#[derive(Debug)]
pub(super) struct Course {
    owner: String,
    killed: Vec<Arc<Course>>,
    stop: Option<Point>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    passed: Vec<Point>,
    stopped: bool,
    /// How often it has claimed something in a processed store.
    claims: usize,
    /// Everyone who waits at a point: handlers may do several things at once.
    waiting: Vec<Waker>,
}

impl Course {
    /// `owner` is what the owners of its claims begin with; `killed` the runs that were.
    pub(super) fn new(owner: String, killed: Vec<Arc<Self>>, stop: Option<Point>) -> Arc<Self> {
        Arc::new(Self { owner, killed, stop, state: Mutex::default() })
    }

    /// `work` as this run.
    pub(super) fn scope<F: Future>(
        self: &Arc<Self>,
        work: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        COURSE.scope(Arc::clone(self), work)
    }

    fn next_owner(&self) -> String {
        let mut state = self.state();
        state.claims += 1;
        format!("{}_{}", self.owner, state.claims)
    }

    fn owners(&self) -> Vec<String> {
        let claims = self.state().claims;
        (1..=claims).map(|claim| format!("{}_{claim}", self.owner)).collect()
    }

    /// The points so far, in order.
    pub(super) fn passed(&self) -> Vec<Point> {
        self.state().passed.clone()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Lets a run go on that was stopped.
    pub(super) fn release(&self) {
        let waiting = {
            let mut state = self.state();
            state.stopped = false;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Comes to a point; whether the run stays there. When it has stopped at one, it stays at every
    /// other that something else in it comes to.
    fn arrive(&self, mut point: Point) -> bool {
        let mut state = self.state();
        point.time += state.passed.iter().filter(|other| other.is_same_place(&point)).count();
        state.stopped |= self.stop.as_ref() == Some(&point);
        state.passed.push(point);
        state.stopped
    }

    fn stays(&self, waker: &Waker) -> bool {
        let mut state = self.state();
        if state.stopped {
            state.waiting.push(waker.clone());
        }
        state.stopped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
