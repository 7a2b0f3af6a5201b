//! The story itself, chapter by chapter.

use std::time::Duration;

use anyhow::{Context, ensure};
use halyard::{Backoff, CreatedJob, JobDetail, NewJob, State};
use serde_json::json;

use super::cast::{CAST, CHARGE, CLOSE, Fate, Member, PERIOD, QUEUE};
use super::crash::CrashPoint;
use super::processes::retry_by_hand;
use super::stage::{PATIENCE, Stage};
use super::voices::Voice;

/// How long one attempt of a charge may take: longer than a lease, so that a killed worker is
/// noticed by its silence and a slow one by its deadline.
const CHARGE_TIMEOUT: Duration = Duration::from_secs(6);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The jobs of a month, once all have ended.
#[derive(Debug)]
pub(super) struct Told {
    /// One for each of the cast, in its order, and the one that closed the month.
    pub(super) jobs: Vec<JobDetail>,
    /// Creates that were answered with a job that was there.
    pub(super) replays: u64,
}

/// Tells it all. Whether everybody was charged once is counted afterwards, and not here.
///
/// # Errors
///
/// When the story does not go as it is written: something does not answer, or does not end.
pub(super) async fn tell(stage: &mut Stage) -> anyhow::Result<Told> {
    let (jobs, replays) = renew_twice(stage).await?;
    kill_after_the_charge(stage, &jobs).await?;
    everything_else(stage, &jobs).await?;
    let close = close_the_month(stage).await?;
    let mut told = Told { jobs: Vec::new(), replays };
    for job in jobs.iter().chain([&close]) {
        told.jobs.push(stage.halyard.jobs().get(&job.id).await?);
    }
    Ok(told)
}

async fn renew_twice(stage: &Stage) -> anyhow::Result<(Vec<CreatedJob>, u64)> {
    stage.narrator.chapter(
        "1. The renewal script runs, and by mistake runs again",
        "Each job has a key of subscription and month; the second run finds the first's.",
    );
    let first = renew(stage).await?;
    let second = renew(stage).await?;
    let same = first.iter().zip(&second).all(|(first, second)| first.id == second.id);
    ensure!(same, "the second run of the renewal got other jobs than the first");
    let replays = first.iter().chain(&second).filter(|job| job.replayed).count();
    Ok((first, u64::try_from(replays)?))
}

/// The guide's producer: a job for each subscription, under a key of subscription and month.
async fn renew(stage: &Stage) -> anyhow::Result<Vec<CreatedJob>> {
    let mut jobs = Vec::new();
    for member in &CAST {
        jobs.push(stage.halyard.jobs().create(renewal(member)).await?);
    }
    let there = jobs.iter().filter(|job| job.replayed).count();
    let made = jobs.len() - there;
    let text = format!("renewal {PERIOD}: {made} jobs created, {there} were there already");
    stage.narrator.say(Voice::Producer, text);
    Ok(jobs)
}

fn renewal(member: &Member) -> NewJob {
    let id = member.subscription_id();
    NewJob::new(CHARGE)
        .queue(QUEUE)
        .payload(&json!({"subscription_id": id, "period": PERIOD}))
        .idempotency_key(format!("charge:{id}:{PERIOD}"))
        .timeout(CHARGE_TIMEOUT)
        .backoff(short())
}

/// A moment rather than the usual five seconds: somebody is watching.
fn short() -> Backoff {
    Backoff { initial_ms: Some(200), jitter: Some(0.0), ..Backoff::default() }
}

async fn kill_after_the_charge(stage: &mut Stage, jobs: &[CreatedJob]) -> anyhow::Result<()> {
    stage.narrator.chapter(
        "2. A worker is killed after a charge, before it can tell anybody",
        "Only the provider has the charge, with the job's id as its Idempotency-Key.",
    );
    let (dora, job) = meets(Fate::Killed, jobs)?;
    let point = CrashPoint::after_charge_of(&dora.customer_id());
    stage.hire(1, 1, Some(point)).await?;
    stage.kill_at_crash_point("before the charge is noted anywhere", job, dora.name).await
}

async fn everything_else(stage: &mut Stage, jobs: &[CreatedJob]) -> anyhow::Result<()> {
    stage.narrator.chapter(
        "3. Another worker takes over, and meets all that can go wrong",
        "A job runs again only if that may help, and what was charged stays charged.",
    );
    stage.hire(2, 2, Some(CrashPoint::before_step("ledger"))).await?;
    know_the_unknown(stage, jobs).await?;
    for (job, member) in jobs.iter().zip(&CAST) {
        let ended = stage.halyard.jobs().wait(&job.id, PATIENCE).await?;
        let expected = if member.can_pay() { State::Completed } else { State::Failed };
        let state = ended.state;
        ensure!(state == expected, "{}'s job is {state}, not {expected}", member.name);
    }
    Ok(())
}

/// The subscription is not there when its job runs, and then it is.
async fn know_the_unknown(stage: &Stage, jobs: &[CreatedJob]) -> anyhow::Result<()> {
    let (hugo, job) = meets(Fate::Unknown, jobs)?;
    let failed = stage.halyard.jobs().wait(&job.id, PATIENCE).await?;
    ensure!(failed.state == State::Failed, "{}'s job is {}", hugo.name, failed.state);
    stage.billing.add_subscription(hugo)?;
    stage.narrator.say(Voice::You, format!("{}: subscription added, so by hand:", hugo.name));
    stage.narrator.say(Voice::You, format!("halyard jobs retry {}", job.id));
    retry_by_hand(stage.halyard.url(), &job.id).await
}

/// The one who meets this, and the job.
fn meets(fate: Fate, jobs: &[CreatedJob]) -> anyhow::Result<(&'static Member, &CreatedJob)> {
    let found = CAST.iter().zip(jobs).find(|(member, _)| member.fate == fate);
    found.with_context(|| format!("nobody meets {fate:?}"))
}

async fn close_the_month(stage: &mut Stage) -> anyhow::Result<CreatedJob> {
    stage.narrator.chapter(
        "4. Closing the month takes three steps; a worker dies after the first",
        "Each step ends with a checkpoint; the next attempt goes on after the last one.",
    );
    let job = NewJob::new(CLOSE)
        .queue(QUEUE)
        .payload(&json!({"period": PERIOD}))
        .idempotency_key(format!("close:{PERIOD}"))
        .timeout(CLOSE_TIMEOUT)
        .backoff(short());
    let job = stage.halyard.jobs().create(job).await?;
    stage.narrator.say(Voice::Producer, format!("{CLOSE} {PERIOD}: 1 job created"));
    stage.kill_at_crash_point("after the first step's checkpoint", &job, CLOSE).await?;
    stage.hire(3, 2, None).await?;
    let ended = stage.halyard.jobs().wait(&job.id, PATIENCE).await?;
    ensure!(ended.state == State::Completed, "{CLOSE} is {}", ended.state);
    Ok(job)
}
