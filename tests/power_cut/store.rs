//! Halyard's SQLite store through one power cut after another.
//!
//! Six callers make jobs, claim them, save checkpoints and report, until the power goes in the
//! middle of a write or, in every third life, in the middle of an orderly close. What a verb
//! answered with `Ok` must be there in the next life; what it did not answer may be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use halyard_core::admission::{Due, NewJob};
use halyard_core::backoff::Backoff;
use halyard_core::chance::Seed;
use halyard_core::checkpoint::Written;
use halyard_core::id::JobId;
use halyard_core::job::{Details, Name, State};
use halyard_core::key::IfFailed;
use halyard_core::outcome::{Finish, Report};
use halyard_json::Text;
use halyard_store::sqlite::{DATABASE_FILE, Options, Sqlite, Synchronous};
use halyard_store::verbs::{CheckpointWrite, Claim, Claimed, Outcome};
use halyard_store::{Answer, Store};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::seed;
use crate::vfs::PowerCut;

const CALLERS: u64 = 6;

/// What the store said of one job.
#[derive(Clone, Debug, Default)]
struct Told {
    payload: String,
    starts: u32,
    checkpoints: Vec<(Name, String)>,
    /// The result of a completion.
    result: Option<String>,
}

/// What the store said, and of which jobs since the last cut.
#[derive(Debug, Default)]
struct Ledger {
    jobs: BTreeMap<JobId, Told>,
    fresh: BTreeSet<JobId>,
}

/// How a run of lives went.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: usize,
    lost: Vec<String>,
}

fn options(power: &PowerCut, synchronous: Synchronous) -> Options {
    Options {
        on_fatal: Arc::new(|_| ()),
        synchronous,
        vfs: Some(power.name().to_owned()),
        ..Options::default()
    }
}

fn run_lives(lives: u64, synchronous: Synchronous, seed: u64) -> Tally {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let mut chance = StdRng::seed_from_u64(seed);
    let mut directory = tempfile::tempdir().unwrap();
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let mut tally = Tally::default();
    for life in 0..lives {
        let power = PowerCut::register(chance.random());
        let orderly = life % 3 == 0;
        // The first life makes the schema, which takes some hundred writes of its own.
        let steps = chance.random_range(1..if life == 0 { 2000 } else { 600 });
        if !orderly {
            power.disk().cut_after(steps);
        }
        if let Ok(store) = Sqlite::open(directory.path(), options(&power, synchronous)) {
            let store = Arc::new(store);
            tally.lost.extend(runtime.block_on(missing(&store, &ledger, &power, false)));
            tally.acknowledged += ledger.lock().unwrap().fresh.len();
            ledger.lock().unwrap().fresh.clear();
            let rounds = if orderly { chance.random_range(1..20) } else { usize::MAX };
            runtime.block_on(work(&store, &ledger, rounds, &mut chance));
            if orderly {
                power.disk().cut_after(chance.random_range(0..80));
            }
        }
        directory = after_the_cut(&power, life, synchronous);
    }
    let power = PowerCut::register(0);
    let store = Sqlite::open(directory.path(), options(&power, synchronous)).unwrap();
    let store = Arc::new(store);
    tally.lost.extend(runtime.block_on(missing(&store, &ledger, &power, true)));
    drop(store);
    tally
}

/// Cuts the power, and gives a directory with what is left.
fn after_the_cut(power: &PowerCut, life: u64, synchronous: Synchronous) -> TempDir {
    power.disk().cut();
    assert_eq!(power.open_files(), 0, "the store closes its files when it is dropped");
    let next = tempfile::tempdir().unwrap();
    power.disk().recover_into(next.path());
    if life.is_multiple_of(10) && synchronous == Synchronous::Full {
        is_sound(next.path());
    }
    next
}

fn is_sound(directory: &Path) {
    let database = rusqlite::Connection::open(directory.join(DATABASE_FILE)).unwrap();
    let verdict: String =
        database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

/// What was acknowledged and is not there; of all jobs, or of those of the last life.
async fn missing(
    store: &Arc<Sqlite>,
    ledger: &Mutex<Ledger>,
    power: &PowerCut,
    all: bool,
) -> Vec<String> {
    let jobs: Vec<(JobId, Told)> = {
        let ledger = ledger.lock().unwrap();
        let asked = ledger.jobs.iter().filter(|(id, _)| all || ledger.fresh.contains(id));
        asked.map(|(id, told)| (*id, told.clone())).collect()
    };
    let mut lost = Vec::new();
    for (id, told) in jobs {
        match store.get(id).await {
            Ok(Some(found)) => {
                let kept = |(name, value): &(Name, String)| {
                    let mut marks = found.checkpoints.iter();
                    marks.any(|mark| mark.name == *name && mark.value.as_str() == value)
                };
                let result = found.view.result.as_ref().map(Text::as_str);
                let completed = found.view.job.state == State::Completed;
                let whole = found.view.payload.as_str() == told.payload
                    && found.view.job.starts >= told.starts
                    && told.checkpoints.iter().all(kept)
                    && told.result.as_deref().is_none_or(|own| completed && result == Some(own));
                if !whole {
                    lost.push(format!("told {told:?}, found {found:?}"));
                }
            }
            Ok(None) => lost.push(format!("{id}: told {told:?}, found nothing")),
            // The power went again while the store was being asked.
            Err(_) if power.disk().dark() => break,
            Err(error) => panic!("{error}"),
        }
    }
    lost
}

/// All callers, each for so many rounds or until the power is gone.
async fn work(
    store: &Arc<Sqlite>,
    ledger: &Arc<Mutex<Ledger>>,
    rounds: usize,
    chance: &mut StdRng,
) {
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let (store, ledger) = (Arc::clone(store), Arc::clone(ledger));
        let mut chance = StdRng::seed_from_u64(chance.random::<u64>() ^ number);
        callers.spawn(async move {
            for _ in 0..rounds {
                if one_round(&store, &ledger, &mut chance).await.is_err() {
                    return;
                }
            }
        });
    }
    callers.join_all().await;
}

/// Makes some jobs, and brings some of what is there to an end.
async fn one_round(store: &Sqlite, ledger: &Mutex<Ledger>, chance: &mut StdRng) -> Answer<()> {
    let jobs: Vec<NewJob> =
        (0..chance.random_range(1..4)).map(|_| new_job(store.now(), chance)).collect();
    store.create(jobs.clone(), None).await?;
    for job in jobs {
        note(ledger, job.id, |told| told.payload = job.payload.as_str().to_owned());
    }
    let claim = Claim {
        worker: Name::from("wrk_1"),
        queues: vec![Name::from("default")],
        tasks: None,
        max: chance.random_range(1..4),
        lease_ms: 60_000,
        mark: None,
        repeat: false,
        invitation: None,
        seed: Seed(chance.random()),
    };
    for claimed in store.claim(claim).await?.jobs {
        let starts = claimed.view.job.starts;
        note(ledger, claimed.view.job.id, |told| told.starts = starts);
        one_start(store, ledger, &claimed, chance).await?;
    }
    Ok(())
}

/// What one worker does with one job.
async fn one_start(
    store: &Sqlite,
    ledger: &Mutex<Ledger>,
    claimed: &Claimed,
    chance: &mut StdRng,
) -> Answer<()> {
    let id = claimed.view.job.id;
    let token = claimed.view.job.start.as_ref().map(|start| start.marks.token);
    if chance.random_bool(0.5) {
        let name = Name::from(format!("{}", claimed.view.job.starts));
        let value = text(chance);
        let write = CheckpointWrite { id, token, name: Name::clone(&name), value: value.clone() };
        let written = store.checkpoint(write, Seed(chance.random())).await?;
        assert!(matches!(written, Written::New { .. }), "{written:?}");
        note(ledger, id, |told| told.checkpoints.push((name, value.as_str().to_owned())));
    }
    let result = text(chance);
    let report = match chance.random_range(0..10) {
        0 => return Ok(()),
        1..4 => Report::Released,
        _ => Report::Completed(Ok(Some(result.clone()))),
    };
    let completed = matches!(report, Report::Completed(_));
    let outcome = Outcome { id: Some(id), token, report };
    let told = store.finish(vec![outcome], Seed(chance.random())).await?;
    assert!(matches!(told[..], [Finish::Ok { repeated: false, .. }]), "{told:?}");
    if completed {
        note(ledger, id, |told| told.result = Some(result.as_str().to_owned()));
    }
    Ok(())
}

fn note(ledger: &Mutex<Ledger>, id: JobId, what: impl FnOnce(&mut Told)) {
    let mut ledger = ledger.lock().unwrap();
    ledger.fresh.insert(id);
    // A create without an answer may have made a job that nobody asks for.
    let known = ledger.jobs.contains_key(&id);
    let told = ledger.jobs.entry(id).or_default();
    what(told);
    if !known && told.payload.is_empty() {
        ledger.jobs.remove(&id);
    }
}

fn text(chance: &mut StdRng) -> Text {
    Text::trusted(format!("\"{}\"", "x".repeat(chance.random_range(0..3000))))
}

fn new_job(now: i64, chance: &mut StdRng) -> NewJob {
    NewJob {
        id: JobId::make(now, chance.random()),
        task: Name::from("t"),
        queue: Name::from("default"),
        details: Details {
            tags: Vec::new(),
            traceparent: None,
            idempotency_key: None,
            rerun_of: None,
        },
        payload: text(chance),
        fingerprint: None,
        if_failed: IfFailed::Return,
        key_ttl_ms: 60_000,
        due: Due::Now,
        priority: 0,
        max_attempts: 20,
        max_crashes: 5,
        timeout_ms: 900_000,
        backoff: Backoff::default(),
    }
}

#[test]
fn the_store_loses_no_acknowledged_call() {
    let lives = std::env::var("HALYARD_CUTS").ok().and_then(|text| text.parse().ok());
    let lives = lives.unwrap_or(150);
    let tally = run_lives(lives, Synchronous::Full, seed());
    assert!(tally.lost.is_empty(), "{} lost: {}", tally.lost.len(), tally.lost.join("\n"));
    println!("{} acknowledged calls on {lives} lives", tally.acknowledged);
    assert!(tally.acknowledged as u64 > 5 * lives, "little was tried: {tally:?}");
}

#[test]
fn without_a_sync_per_commit_the_store_must_lose_calls() {
    let tally = run_lives(30, Synchronous::Normal, seed());
    assert!(!tally.lost.is_empty(), "30 cuts and nothing was lost: {tally:?}");
}
