//! A job that kills its worker, and those that ran beside it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halyard::{HandlerResult, Job, State};
use halyard_tests::server::Server;
use tempfile::TempDir;

use crate::process::{Process, say};
use crate::work::{client, create, ended, ends, new_job, url};

/// How many good jobs run beside it.
const NEIGHBOURS: usize = 20;
/// How often it kills its worker: the limit when none is named.
const CRASHES: u64 = 5;

/// Neighbours in this process that have come one checkpoint further.
static FURTHER: AtomicUsize = AtomicUsize::new(0);

/// The poison ends its process once all others have come further; they write a checkpoint in every
/// start, and have done their work in the one after the last crash.
pub(crate) async fn play(job: Job) -> HandlerResult<String> {
    if job.payload()? {
        while FURTHER.load(Ordering::SeqCst) < NEIGHBOURS {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        std::process::abort();
    }
    job.checkpoint(&format!("start {}", job.start())).await?;
    FURTHER.fetch_add(1, Ordering::SeqCst);
    say("further");
    if job.start() <= CRASHES {
        std::future::pending::<()>().await;
    }
    Ok("unharmed".to_owned())
}

/// Case 29 · Innocent neighbours of a poison job
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_29_innocent_neighbours_of_a_poison_job() {
    let server = Server::start();
    let halyard = client(&url(&server));
    let folder = TempDir::new().unwrap();
    let poison = create(&halyard, new_job("t").payload(&true)).await;
    let mut good = Vec::new();
    for _ in 0..NEIGHBOURS {
        good.push(create(&halyard, new_job("t").payload(&false)).await);
    }
    for _ in 0..CRASHES {
        let mut worker = Process::start(&server, "poison", &folder);
        assert!(!worker.ended().await.success(), "the poison does not kill its worker");
    }
    let _last = Process::start(&server, "poison", &folder);
    let job = ended(&halyard, &poison).await;
    assert_eq!((job.state, job.starts, job.crashes), (State::Failed, CRASHES, CRASHES));
    assert_eq!(job.error.as_ref().map(|error| error.kind.as_str()), Some("lost"));
    assert_eq!(ends(&job), ["lost"; CRASHES as usize]);
    for id in &good {
        let job = ended(&halyard, id).await;
        assert_eq!((job.state, job.starts), (State::Completed, CRASHES + 1), "{job:?}");
        assert_eq!(job.checkpoints.len(), CRASHES as usize + 1);
        // Every restart is to be seen.
        assert_eq!(ends(&job)[1..], ["lost"; CRASHES as usize]);
    }
}
