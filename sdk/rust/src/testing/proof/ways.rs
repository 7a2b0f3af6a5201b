//! The ways in which at-least-once delivery can run a job.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::point::Point;
use super::running::{End, Halt, Lives, Subject};

/// How long a second run may wait for a frozen one, perhaps for a lock that it holds, before that
/// one goes on.
const BESIDE_MAX: Duration = Duration::from_secs(1);

/// One way to run a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Once, from its start to its end.
    Clean,
    /// To the end, and again: the report was lost.
    Twice,
    /// Killed at a point, and run again.
    Killed(Point),
    /// Frozen at a point or before its first line, while another run goes to the end.
    Overlapping(Option<Point>),
    /// Completed, retried by hand, run again.
    ByHand,
    /// Killed at a point in both of the first two runs, and run again.
    KilledTwice(Point),
    /// Killed at a point in the last attempt, failed as lost, retried by hand, run again.
    LastKilled(Point),
    /// Killed at a point, the run that followed at one of its own, and run again.
    RecoveryKilled(Point, Point),
}

/// What a way came to.
pub(super) struct Course {
    pub(super) end: End,
    /// The points of the first run.
    pub(super) first: Vec<Point>,
    /// The points of the run that followed.
    pub(super) second: Vec<Point>,
}

impl Way {
    /// Every way for a handler with these points, the shorter ones first.
    pub(super) fn all(points: &[Point]) -> Vec<Self> {
        let at_each = |way: fn(Point) -> Self| points.iter().cloned().map(way);
        let mut all = vec![Self::Twice];
        all.extend(at_each(Self::Killed));
        all.push(Self::Overlapping(None));
        all.extend(at_each(|point| Self::Overlapping(Some(point))));
        all.push(Self::ByHand);
        all.extend(at_each(Self::KilledTwice));
        all.extend(at_each(Self::LastKilled));
        all
    }

    /// The ways to kill the run that follows a kill as well, at each point that the killed one has
    /// not passed. One that goes on as the clean run does, from some point of it to the end, is
    /// none that recovers: a kill in there was tried.
    pub(super) fn recoveries(&self, course: &Course, clean: &[Point]) -> Vec<Self> {
        let Course { first, second, .. } = course;
        let goes_on = second.len() <= clean.len()
            && second.iter().rev().zip(clean.iter().rev()).all(|(one, of)| one.is_same_place(of));
        match self {
            Self::Killed(point) if !goes_on => second
                .iter()
                .filter(|passed| !first.contains(passed))
                .map(|passed| Self::RecoveryKilled(point.clone(), passed.clone()))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Its name in the shared list of proofs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Twice => "twice",
            Self::Killed(_) => "killed",
            Self::Overlapping(_) => "overlapping",
            Self::ByHand => "retried by hand",
            Self::KilledTwice(_) => "killed twice",
            Self::LastKilled(_) => "killed in the last attempt",
            Self::RecoveryKilled(..) => "killed in recovery",
        }
    }

    /// Runs the job this way.
    pub(super) async fn play(&self, subject: &Subject) -> Course {
        let mut lives = Lives::new(subject);
        match self {
            Self::Clean => {
                let (end, first) = lives.run_to_end().await;
                Course { end, first, second: Vec::new() }
            }
            Self::Twice | Self::ByHand => {
                let (_, first) = lives.run_to_end().await;
                if *self == Self::ByHand {
                    lives.retry_by_hand();
                }
                let (end, second) = lives.run_to_end().await;
                Course { end, first, second }
            }
            Self::Killed(point) => {
                let first = killed(&mut lives, point, subject).await;
                let (end, second) = lives.run_to_end().await;
                Course { end, first, second }
            }
            Self::KilledTwice(point) => {
                let first = killed(&mut lives, point, subject).await;
                let second = killed(&mut lives, point, subject).await;
                let (end, _) = lives.run_to_end().await;
                Course { end, first, second }
            }
            Self::RecoveryKilled(before, point) => {
                let first = killed(&mut lives, before, subject).await;
                killed(&mut lives, point, subject).await;
                let (end, second) = lives.run_to_end().await;
                Course { end, first, second }
            }
            Self::LastKilled(point) => {
                lives.last_attempt();
                let first = killed(&mut lives, point, subject).await;
                lives.retry_by_hand();
                let (end, second) = lives.run_to_end().await;
                Course { end, first, second }
            }
            Self::Overlapping(point) => overlapping(lives, point.clone(), subject).await,
        }
    }
}

/// A run that is killed at a point, and the points up to there. One that does not come there ends.
async fn killed(lives: &mut Lives<'_>, point: &Point, subject: &Subject) -> Vec<Point> {
    let mut running = lives.begin(Some(point.clone()));
    let halt = running.drive(subject.patience).await;
    let passed = running.course.passed();
    if !matches!(halt, Halt::Ended(_)) {
        lives.kill(running).await;
    }
    passed
}

async fn overlapping(mut lives: Lives<'_>, point: Option<Point>, subject: &Subject) -> Course {
    let mut frozen = lives.begin(point.clone());
    let first = Arc::clone(&frozen.course);
    if point.is_some() && matches!(frozen.drive(subject.patience).await, Halt::Ended(_)) {
        // It did not come to the point this time.
        let (end, second) = lives.run_to_end().await;
        return Course { end, first: first.passed(), second };
    }
    let first = first.passed();
    let mut beside = lives.begin(None);
    let course = Arc::clone(&beside.course);
    let halt = beside.drive(BESIDE_MAX.min(subject.patience)).await;
    let mut end = match halt {
        // One that was told to wait for the first, or failed because of it, is run again later.
        Halt::Ended(ending) => lives.rest(ending).ok(),
        Halt::Stopped | Halt::Stuck => {
            // It waits for the first, which holds something: in this order they cannot be run.
            frozen.wake();
            let (_, end) = tokio::join!(frozen.drive(subject.patience), lives.finish(beside));
            return Course { end, first, second: course.passed() };
        }
    };
    frozen.wake();
    if matches!(frozen.drive(subject.patience).await, Halt::Stuck) {
        lives.kill(frozen).await;
        end = Some(End::Never("the run that was frozen is still waiting".to_owned()));
    }
    let end = match end {
        Some(end) => end,
        None => lives.run_to_end().await.0,
    };
    Course { end, first, second: course.passed() }
}

/// What was done, for people.
impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => formatter.write_str("run"),
            Self::Twice => formatter.write_str("run, run again"),
            Self::Killed(point) => write!(formatter, "run, killed {point}, run again"),
            Self::Overlapping(None) => formatter.write_str(
                "run, frozen before its first line, run beside it to the end, the first goes on",
            ),
            Self::Overlapping(Some(point)) => write!(
                formatter,
                "run, frozen {point}, run beside it to the end, the first goes on"
            ),
            Self::ByHand => formatter.write_str("run, retried by hand, run again"),
            Self::KilledTwice(point) => {
                write!(formatter, "run, killed {point}, run, killed {point} again, run again")
            }
            Self::RecoveryKilled(before, point) => {
                write!(formatter, "run, killed {before}, run, killed {point}, run again")
            }
            Self::LastKilled(point) => write!(
                formatter,
                "run in the last attempt, killed {point}, retried by hand, run again"
            ),
        }
    }
}
