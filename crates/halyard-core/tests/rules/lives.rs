//! Any sequence of rules: the invariants of a job hold after each.

use halyard_core::TimeMs;
use halyard_core::checkpoint::{self, Standing, Written};
use halyard_core::job::{Attempt, Job, State};
use halyard_core::lease;
use halyard_core::operate::{self, Retried, Retry};
use halyard_core::outcome::{self, Finish, Report};
use proptest::prelude::*;

use crate::nouns::{
    NOW, claim_for, completed, failed, failed_until, hopeless, new_job, snoozed, text, unfit,
};

#[derive(Clone, Debug)]
enum Act {
    Pass(i64),
    Promote,
    Claim(i64),
    Renew(i64),
    Outage(i64),
    Report(Report),
    Lapse,
    Checkpoint(u8),
    Cancel,
    RunNow,
    Retry(bool),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let report = prop_oneof![
        Just(completed("1")),
        Just(unfit()),
        Just(failed()),
        (0_i64..100_000).prop_map(failed_until),
        Just(hopeless()),
        Just(Report::Released),
        (1_000_i64..100_000).prop_map(snoozed),
        Just(Report::Cancelled),
    ];
    let act = prop_oneof![
        3 => (0_i64..20_000).prop_map(Act::Pass),
        3 => Just(Act::Promote),
        6 => (5_000_i64..100_000).prop_map(Act::Claim),
        1 => (5_000_i64..100_000).prop_map(Act::Renew),
        1 => (0_i64..100_000).prop_map(Act::Outage),
        5 => report.prop_map(Act::Report),
        3 => Just(Act::Lapse),
        2 => (0_u8..4).prop_map(Act::Checkpoint),
        1 => Just(Act::Cancel),
        1 => Just(Act::RunNow),
        2 => any::<bool>().prop_map(Act::Retry),
    ];
    proptest::collection::vec(act, 0..120)
}

/// A job with what a store keeps beside it.
struct Kept {
    job: Job,
    now: TimeMs,
    records: Vec<Attempt>,
    checkpoints: Vec<checkpoint::Checkpoint>,
}

impl Kept {
    fn act(&mut self, act: &Act, unit: f64) {
        let Self { job, now, .. } = self;
        match act {
            Act::Pass(ms) => *now += ms,
            Act::Promote => {
                if matches!(job.state, State::Scheduled | State::Retrying) && job.run_at <= *now {
                    operate::enqueue(job, *now);
                }
            }
            Act::Claim(lease_ms) => {
                if job.state == State::Queued {
                    claim_for(job, *lease_ms, *now);
                }
            }
            Act::Renew(lease_ms) => {
                let live = job.start.as_mut().filter(|_| job.state == State::Running);
                if let Some(start) = live.filter(|start| !start.has_lapsed(*now)) {
                    lease::renew(start, *lease_ms, *now);
                }
            }
            Act::Outage(ms) => {
                let stamp = *now;
                *now += ms;
                if let Some(start) = &mut job.start {
                    lease::extend_over_outage(start, stamp, *now);
                }
            }
            Act::Report(report) => {
                self.lapse(unit);
                if self.job.state == State::Running {
                    self.report(report.clone(), unit);
                }
            }
            Act::Lapse => self.lapse(unit),
            Act::Checkpoint(name) => {
                self.lapse(unit);
                self.save(&name.to_string());
            }
            Act::Cancel => {
                self.lapse(unit);
                let _ = operate::cancel(&mut self.job, self.now);
            }
            Act::RunNow => {
                self.lapse(unit);
                let _ = operate::run_now(&mut self.job, self.now);
            }
            Act::Retry(fresh) => {
                self.lapse(unit);
                self.retry(*fresh);
            }
        }
    }

    fn lapse(&mut self, unit: f64) {
        self.records.extend(outcome::lapse(&mut self.job, self.now, unit));
    }

    fn report(&mut self, report: Report, unit: f64) {
        let before = self.job.clone();
        let (finish, ended) = outcome::report(&mut self.job, report, self.now, unit);
        self.records.extend(ended.attempt);
        match finish {
            Finish::Ok { state, repeated: false } => assert_eq!(state, self.job.state),
            other => {
                assert_eq!(other, Finish::Conflict { state: State::Running, recorded: None });
                assert_eq!(self.job, before);
            }
        }
    }

    fn save(&mut self, name: &str) {
        let running = self.job.state == State::Running;
        let standing = if running { Standing::Live } else { Standing::Dead };
        let known = self.checkpoints.iter().find(|known| *known.name == *name).cloned();
        let written = checkpoint::write(&mut self.job, standing, known, name, text("1"), self.now);
        if let Written::New { checkpoint, .. } = written {
            self.checkpoints.push(checkpoint);
        }
    }

    fn retry(&mut self, fresh: bool) {
        let how = Retry { fresh, allow_completed: true, ..Retry::default() };
        let result = text("1");
        let opened =
            operate::retry(&mut self.job, &how, &self.checkpoints, Some(&result), self.now);
        if let Ok(Retried::Opened { attempt, keep }) = opened {
            self.records.extend(attempt.map(|attempt| *attempt));
            self.checkpoints.truncate(keep);
        }
    }

    /// What must hold from one step to the next.
    fn check(&self, before: &Job, act: &Act) {
        let job = &self.job;
        job.assert_sound();
        assert!(job.starts >= before.starts && job.starts <= before.starts + 1, "{act:?}");
        let claimed = job.starts > before.starts;
        assert_eq!(claimed, matches!(act, Act::Claim(_)) && before.state == State::Queued);
        if claimed {
            assert_eq!(job.attempt, before.attempt + 1);
        }
        match job.life - before.life {
            0 => assert!(
                !before.state.is_terminal() || job.state == before.state,
                "{:?} of a life came after {:?}",
                job.state,
                before.state
            ),
            1 => {
                let ended = before.state.is_terminal() || before.state == State::Running;
                assert!(ended && matches!(act, Act::Retry(_)), "{:?}", before.state);
                assert_eq!((job.state, job.attempt), (State::Queued, 0));
            }
            more => panic!("{more} lives at once"),
        }
        // Every start is recorded once: in a row of its own, or in the job while it is the newest.
        let own = u32::from(operate::keeps_own_record(job));
        assert_eq!(self.records.len() as u32 + own, job.starts, "{act:?}");
        assert!(self.records.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert_eq!(self.checkpoints.len(), job.checkpoints as usize);
        // What waits is waiting for a time that comes.
        let waits = matches!(job.state, State::Scheduled | State::Retrying);
        assert!(!waits || job.run_at - self.now < 40 * 86_400_000, "{}", job.run_at - self.now);
        if let Some(start) = job.running() {
            assert!(start.expires_at >= start.started_at && start.expires_at <= start.deadline);
        }
        if let (Some(old), Some(new)) = (before.running(), job.running()) {
            assert!(new.expires_at >= old.expires_at, "{act:?}: a lease never gets shorter");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_job_stays_sound(
        acts in acts(),
        max_attempts in 1_u32..5,
        max_crashes in 1_u32..4,
        timeout_ms in 100_i64..100_000,
        unit in 0.0..1.0,
    ) {
        let new = halyard_core::admission::NewJob {
            max_attempts,
            max_crashes,
            timeout_ms,
            ..new_job()
        };
        let job = new.begin(1, NOW);
        let mut kept = Kept { job, now: NOW, records: Vec::new(), checkpoints: Vec::new() };
        for act in &acts {
            let before = kept.job.clone();
            kept.act(act, unit);
            kept.check(&before, act);
        }
    }
}
