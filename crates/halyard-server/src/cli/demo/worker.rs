//! `halyard demo-worker`: the worker process of the story, with the guide's handlers.
//!
//! It tells its parent what it does, a [`Note`] a line, and ends with it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use halyard::{Halyard, HandlerResult, Job, NonRetryable, RetryAfter};
use serde_json::Value;
use tokio::sync::{Mutex, mpsc};

use super::Sabotage;
use super::billing::Billing;
use super::books::Books;
use super::cast::{CHARGE, CLOSE, QUEUE};
use super::crash::CrashPoint;
use super::handlers::{Month, Renewal, charge_subscription, close_month};
use super::note::Note;
use super::payments::Payments;
use super::processes::follow_parent;
use super::provider::SECRET_KEY_DEFAULT;

/// The shortest lease there is, so that a killed worker is missed soon.
const LEASE: Duration = Duration::from_secs(5);

/// The worker of `halyard demo`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the server is.
    #[arg(long)]
    server: String,
    /// Where the payment provider is.
    #[arg(long)]
    provider: String,
    /// The company's database.
    #[arg(long)]
    billing: PathBuf,
    /// How many jobs it runs at once.
    #[arg(long)]
    concurrency: usize,
    /// The point at which it stands still, to be killed.
    #[arg(long)]
    die_at: Option<String>,
    /// What is wrong with it.
    #[arg(long)]
    sabotage: Option<Sabotage>,
}

/// Works until it is killed, or its parent ends.
///
/// # Errors
///
/// When it cannot start.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let cues = Cues(Mutex::new(follow_parent()));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(work(args, cues))
}

async fn work(args: Args, cues: Cues) -> anyhow::Result<ExitCode> {
    let halyard = Halyard::builder().url(args.server).build()?;
    let crash = CrashPoint::new(args.die_at);
    let keyed = args.sabotage != Some(Sabotage::NoIdempotencyKey);
    let billing = Arc::new(Billing::open(&args.billing)?);
    let hands = Arc::new(Hands {
        books: Books::new(Arc::clone(&billing), crash.clone()),
        billing,
        payments: Payments::new(args.provider, SECRET_KEY_DEFAULT, crash, keyed)?,
        cues,
    });
    let (charging, closing) = (Arc::clone(&hands), hands);
    let worker = halyard
        .worker()
        .queues([QUEUE])
        .concurrency(args.concurrency)
        .lease(LEASE)
        // A charge that outlives its attempt is of no use to it.
        .abort_grace(Duration::ZERO)
        .task(CHARGE, move |job, renewal| Arc::clone(&charging).charge(job, renewal))
        .task(CLOSE, move |job, month| Arc::clone(&closing).close(job, month))
        .build()?;
    worker.start().await?;
    Note::Ready.send();
    // Its end comes from outside.
    std::future::pending().await
}

/// What the handlers need, and how the parent hears of them.
#[derive(Debug)]
struct Hands {
    billing: Arc<Billing>,
    payments: Payments,
    books: Books,
    cues: Cues,
}

impl Hands {
    async fn charge(self: Arc<Self>, job: Job, renewal: Renewal) -> HandlerResult<Value> {
        let name = renewal.subscription_id.trim_start_matches("sub_");
        self.cues.begin(&job, name).await;
        let done = charge_subscription(&job, &renewal, &self.billing, &self.payments).await;
        end(name, done, charged)
    }

    async fn close(self: Arc<Self>, job: Job, month: Month) -> HandlerResult<()> {
        self.cues.begin(&job, CLOSE).await;
        let done = close_month(&job, &month, &self.books).await;
        end(CLOSE, done, |()| format!("{} is closed, job completed", month.period))
    }
}

/// What the parent says when it has printed that a handler runs, so that what the handler does is
/// printed after it.
#[derive(Debug)]
struct Cues(Mutex<mpsc::UnboundedReceiver<()>>);

impl Cues {
    /// Tells that a handler runs, and waits for its cue. One handler at a time does so.
    async fn begin(&self, job: &Job, subject: &str) {
        let mut cues = self.0.lock().await;
        let note = Note::Run {
            job_id: job.id().to_owned(),
            subject: subject.to_owned(),
            attempt: job.attempt(),
            life: job.life(),
            checkpoints: job.checkpoints(),
        };
        note.send();
        cues.recv().await;
    }
}

/// Tells how a handler ended, and hands its result on.
fn end<T>(
    subject: &str,
    done: HandlerResult<T>,
    well: impl FnOnce(&T) -> String,
) -> HandlerResult<T> {
    let text = match &done {
        Ok(result) => well(result),
        Err(error) if error.find::<NonRetryable>().is_some() => {
            format!("job fails at once: {error}")
        }
        Err(error) => match error.find::<RetryAfter>() {
            Some(after) => format!("job waits {} s, as the provider asks", after.delay().as_secs()),
            None => format!("{error}: to be retried"),
        },
    };
    Note::Said { subject: subject.to_owned(), text }.send();
    done
}

fn charged(result: &Value) -> String {
    match result.get("skipped").and_then(Value::as_str) {
        Some(why) => format!("{why}, skipped"),
        None => "invoice paid, job completed".to_owned(),
    }
}
