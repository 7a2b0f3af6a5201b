//! What a claim hands out, and in which order.

use std::sync::Arc;

use halyard_core::admission::{Due, NewJob};
use halyard_core::error::{ErrorKind, ErrorReport};
use halyard_core::job::State;
use halyard_core::limits;
use halyard_core::outcome::Report;

use super::Trial;
use super::trial::{
    HOUR, MINUTE, START, a_claim, completed, id, job, lease_of, names, seed, with_payload,
};
use crate::verbs::{Acted, Claim, Claimed};

fn ids(jobs: &[Claimed]) -> Vec<halyard_core::id::JobId> {
    jobs.iter().map(|claimed| claimed.view.job.id).collect()
}

/// Priority, then `run_at`, then creation; the named queues count as one list.
pub async fn claims_in_order_over_all_named_queues(trial: Arc<Trial>) {
    // Number, queue, priority, due.
    let jobs = [
        (1, "a", 0, Due::Now),
        (2, "b", 5, Due::Now),
        (3, "a", 5, Due::Now),
        (4, "c", 100, Due::Now),
        (5, "b", 0, Due::Now),
        (6, "a", -100, Due::Now),
        (7, "b", 0, Due::After(1)),
        (8, "a", 0, Due::After(2)),
    ];
    for (number, queue, priority, due) in jobs {
        trial.make(NewJob { queue: queue.into(), priority, due, ..job(number) }).await;
    }
    trial.advance(3);
    trial.store.promote(10).await.unwrap();
    let claim = Claim { max: 3, ..a_claim(&["b", "a"], trial.seed()) };
    let first = trial.store.claim(claim).await.unwrap();
    assert_eq!(first.now, START + 3);
    assert_eq!(ids(&first.jobs), [id(2), id(3), id(1)]);
    let rest = trial.store.claim(a_claim(&["b", "a"], trial.seed())).await.unwrap();
    assert_eq!(ids(&rest.jobs), [id(5), id(7), id(8), id(6)]);
    assert_eq!(trial.state(id(4)).await, State::Queued);

    // Exactly the jobs in the answer are leased, each by a token of its own.
    let mut tokens: Vec<u128> =
        first.jobs.iter().chain(&rest.jobs).map(|it| lease_of(it).token.0).collect();
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), 7);
    for claimed in first.jobs.iter().chain(&rest.jobs) {
        let now = trial.get(claimed.view.job.id).await;
        assert_eq!(now.view, claimed.view);
        let start = claimed.view.job.running().unwrap();
        assert_eq!((&*start.worker, start.number, claimed.view.job.attempt), ("w", 1, 1));
        assert_eq!((start.started_at, start.expires_at), (START + 3, START + 3 + MINUTE));
        assert_eq!(start.deadline, START + 3 + 15 * MINUTE);
    }
    // A released job goes back to its place.
    trial.finish(lease_of(&first.jobs[2]), Report::Released).await;
    trial.make(NewJob { queue: "a".into(), ..job(9) }).await;
    assert_eq!(ids(&trial.claim("a", 10).await), [id(1), id(9)]);
}

/// Queues and tasks that were not named are not touched.
pub async fn claims_only_what_is_named(trial: Arc<Trial>) {
    let make = async |number, queue: &str, task: &str| {
        trial.make(NewJob { queue: queue.into(), task: task.into(), ..job(number) }).await;
    };
    make(1, "a", "t").await;
    make(2, "a", "u").await;
    make(3, "b", "t").await;
    make(4, "b", "v").await;
    let claim = async |queues: &[&str], tasks: Option<&[&str]>, max| {
        let claim = Claim { tasks: tasks.map(names), max, ..a_claim(queues, trial.seed()) };
        ids(&trial.store.claim(claim).await.unwrap().jobs)
    };
    assert_eq!(claim(&["c"], None, 10).await, []);
    assert_eq!(claim(&["a", "b"], Some(&["w"]), 10).await, []);
    assert_eq!(claim(&["a"], Some(&["u", "v"]), 10).await, [id(2)]);
    assert_eq!(claim(&["a", "a", "b"], Some(&["v", "t", "t"]), 2).await, [id(1), id(3)]);
    assert_eq!(claim(&["b", "a"], None, 10).await, [id(4)]);
    assert_eq!(claim(&["b", "a"], None, 10).await, []);
}

/// Until it is resumed; what runs goes on.
pub async fn a_paused_queue_is_passed_by(trial: Arc<Trial>) {
    let lease = trial.running(job(1)).await;
    trial.make(job(2)).await;
    trial.store.set_paused("q1", true, None).await.unwrap();
    trial.store.set_paused("q2", true, None).await.unwrap();
    trial.store.set_paused("q2", true, None).await.unwrap();
    let claim = async || {
        let claim = a_claim(&["q1", "q2"], trial.seed());
        ids(&trial.store.claim(claim).await.unwrap().jobs)
    };
    assert_eq!(claim().await, []);
    assert!(trial.beat(lease).await.is_some());
    trial.finish(lease, Report::Released).await;
    assert_eq!(claim().await, []);
    trial.store.set_paused("q1", false, None).await.unwrap();
    assert_eq!(claim().await, [id(1)]);
    trial.store.set_paused("q2", false, None).await.unwrap();
    assert_eq!(claim().await, [id(2)]);
}

/// It ends before the job that would bring it over the bound, but holds one.
pub async fn an_answer_ends_before_it_is_too_large(trial: Arc<Trial>) {
    let megabyte = 1 << 20;
    let sized = |number, bytes: usize| {
        let payload = format!("\"{}\"", "x".repeat(bytes - 2));
        with_payload(NewJob { queue: "q".into(), ..job(number) }, &payload)
    };
    for number in 1..=7 {
        trial.make(sized(number, megabyte)).await;
    }
    trial.make(sized(8, megabyte)).await;
    trial.make(sized(9, 2)).await;
    assert_eq!(ids(&trial.claim("q", 100).await).len(), 8, "eight fill the bound exactly");
    assert_eq!(ids(&trial.claim("q", 100).await), [id(9)]);

    // Checkpoints count; a job that is over the bound alone is given alone.
    let heavy = NewJob { queue: "r".into(), ..sized(10, megabyte) };
    trial.make(heavy).await;
    let lease = trial.start("r").await;
    let value = format!("\"{}\"", "x".repeat(limits::CHECKPOINT_BYTES_MAX - 2));
    for number in 0..16 {
        trial.save(lease, &format!("c{number}"), &value).await;
    }
    trial.finish(lease, Report::Released).await;
    for number in 11..=13 {
        let size = if number == 12 { megabyte } else { megabyte + 1 };
        trial.make(NewJob { queue: "r".into(), ..sized(number, size) }).await;
    }
    let answer = trial.claim("r", 100).await;
    assert_eq!(ids(&answer), [id(10), id(11), id(12)], "5 + 1 + 1 MiB and a byte");
    assert_eq!(answer[0].checkpoints.len(), 16);
    assert_eq!(ids(&trial.claim("r", 0).await), []);
    assert_eq!(ids(&trial.claim("r", 1).await), [id(13)]);
}

/// What went wrong last counts too, as JSON writes it: a control character takes six bytes.
pub async fn an_answer_of_failed_jobs_is_bounded_as_well(trial: Arc<Trial>) {
    const JOBS: usize = 50;
    let stack = "\u{1}".repeat(limits::ERROR_STACK_BYTES_MAX);
    let message = "\u{1}".repeat(limits::ERROR_MESSAGE_BYTES_MAX);
    let written = 6 * (stack.len() + message.len());
    let mut error = ErrorReport::recorded("Odd", message, ErrorKind::Error);
    error.stack = Some(stack);
    for number in 1..=JOBS as u64 {
        trial.make(NewJob { queue: "q".into(), ..job(number) }).await;
    }
    let leases: Vec<_> = trial.claim("q", JOBS).await.iter().map(lease_of).collect();
    assert_eq!(leases.len(), JOBS);
    for lease in leases {
        let report = Report::Failed { error: error.clone(), retry_after_ms: None };
        trial.finish(lease, report).await;
    }
    trial.advance(HOUR);
    trial.store.promote(JOBS).await.unwrap();
    let fit = limits::CLAIM_ANSWER_BYTES_MAX / written;
    let answer = trial.claim("q", JOBS).await;
    assert!((fit - 1..=fit).contains(&answer.len()), "{} of {fit}", answer.len());
    assert_eq!(trial.claim("q", JOBS).await.len(), JOBS - answer.len(), "the others come next");
}

/// Its leases that are still live, with the same tokens; without any it is a new claim.
pub async fn a_claim_sent_again_finds_its_leases(trial: Arc<Trial>) {
    for number in 1..=5 {
        trial.make(NewJob { queue: "q".into(), ..job(number) }).await;
    }
    let claim = async |mark: u8, repeat, max| {
        let claim = Claim { mark: Some([mark; 16]), repeat, max, ..a_claim(&["q"], trial.seed()) };
        trial.store.claim(claim).await.unwrap().jobs
    };
    let first = claim(1, false, 2).await;
    assert_eq!(ids(&first), [id(1), id(2)]);
    assert_eq!(ids(&claim(2, true, 1).await), [id(3)], "a mark that holds nothing");
    assert_eq!(claim(1, true, 100).await, first);
    assert_eq!(claim(1, true, 1).await, first);
    trial.store.set_paused("q", true, None).await.unwrap();
    assert_eq!(claim(1, true, 100).await, first);
    trial.store.set_paused("q", false, None).await.unwrap();
    assert_eq!(ids(&claim(1, false, 1).await), [id(4)], "not sent again: a new claim");
    assert_eq!(ids(&claim(1, true, 1).await), [id(1), id(2), id(4)]);

    trial.finish(lease_of(&first[0]), completed("1")).await;
    assert_eq!(ids(&claim(1, true, 1).await), [id(2), id(4)]);
    trial.serve(30_000).await;
    trial.beat(lease_of(&first[1])).await;
    trial.serve(30_000).await;
    assert_eq!(ids(&claim(1, true, 1).await), [id(2)], "4 has lapsed, reaped or not");
    trial.serve(30_000).await;
    assert_eq!(ids(&claim(1, true, 9).await), [id(5)]);
    let without = Claim { repeat: true, ..a_claim(&["q"], seed(99)) };
    assert_eq!(trial.store.claim(without).await.unwrap().jobs, []);
}

/// Neither what is scheduled, nor what waits for its next attempt, until the night watch came by.
pub async fn only_due_jobs_are_claimed(trial: Arc<Trial>) {
    trial.make(NewJob { due: Due::After(HOUR), ..job(1) }).await;
    assert!(trial.claim("q1", 9).await.is_empty());
    trial.advance(HOUR - 1);
    assert_eq!(trial.store.promote(9).await.unwrap(), 0);
    trial.advance(1);
    assert!(trial.claim("q1", 9).await.is_empty());
    assert_eq!(trial.store.promote(9).await.unwrap(), 1);
    let lease = trial.start("q1").await;
    trial.finish(lease, super::trial::failed()).await;
    assert!(trial.claim("q1", 9).await.is_empty());
    let run_now = trial.store.run_now(id(1), trial.seed(), None).await.unwrap();
    let Acted::Done { view: Some(view), repeated: false, .. } = run_now else {
        panic!("{run_now:?}")
    };
    assert_eq!((view.job.state, view.job.run_at), (State::Queued, trial.now()));
    let claimed = trial.claim("q1", 9).await;
    assert_eq!(claimed[0].view.job.attempt, 2);
    assert_eq!(claimed[0].view.error.as_ref().unwrap().error_type, "CardDeclined");
}
