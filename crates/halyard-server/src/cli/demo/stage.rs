//! The stage: everything that runs while the story is told.
//!
//! The server and the workers are child processes, the payment provider lives in this one. What
//! they tell is printed here, and what must be counted at the end is counted here.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use halyard::{CreatedJob, Halyard};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Sabotage;
use super::billing::Billing;
use super::cast::{self, CAST, Fate};
use super::hearing::{Listener, Tally, told};
use super::processes::{Orders, Server, Worker};
use super::provider::Provider;
use super::voices::{Narrator, Voice};

/// How long the story waits for anything: far longer than anything in it takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How many lines of the server's log are shown when something is wrong.
const LAST_LINES: usize = 20;

const INTRODUCTION: &str = "\
Ten subscriptions are charged for a month, while everything goes wrong that
makes a job run twice. At the end the charges are counted where the money is.
";

/// What runs, and what is known of it.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) narrator: Arc<Narrator>,
    pub(super) halyard: Halyard,
    pub(super) billing: Billing,
    pub(super) provider_url: String,
    pub(super) runs: Arc<Tally>,
    sabotage: Option<Sabotage>,
    provider: Provider,
    server: Server,
    hired: Option<Hired>,
    /// Last, so that it goes when nobody writes there any more.
    pub(super) directory: TempDir,
}

/// The worker at work.
#[derive(Debug)]
struct Hired {
    number: u32,
    worker: Worker,
    reached: oneshot::Receiver<()>,
    listening: JoinHandle<()>,
}

impl Stage {
    /// Starts the server and the provider on an empty directory, with nobody to work yet.
    pub(super) async fn set(sabotage: Option<Sabotage>) -> anyhow::Result<Self> {
        let narrator = Arc::new(Narrator::new());
        let directory = tempfile::Builder::new().prefix("halyard-demo-").tempdir()?;
        let (data, log) = (directory.path().join("data"), directory.path().join("server.log"));
        narrator.print(INTRODUCTION);
        let server = Server::start(&data, &log).await?;
        narrator.say(Voice::Server, format!("listening on {}", server.url()));
        let halyard = Halyard::builder().url(server.url()).build()?;

        let behaviours = cast::behaviours().witness({
            let narrator = Arc::clone(&narrator);
            move |deed| narrator.say(Voice::Provider, told(&deed))
        });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let provider = Provider::start(listener, behaviours)?;
        let provider_url = format!("http://{}", provider.address());
        narrator.say(Voice::Provider, format!("listening on {provider_url}, in place of Stripe"));

        let billing = Billing::open(&directory.path().join("billing.db"))?;
        for member in CAST.iter().filter(|member| member.fate != Fate::Unknown) {
            billing.add_subscription(member)?;
        }
        Ok(Self {
            narrator,
            halyard,
            billing,
            provider_url,
            runs: Arc::default(),
            sabotage,
            provider,
            server,
            hired: None,
            directory,
        })
    }

    /// Starts worker `number`, which runs so many jobs at once and dies at the given point.
    pub(super) async fn hire(
        &mut self,
        number: u32,
        concurrency: usize,
        die_at: Option<String>,
    ) -> anyhow::Result<()> {
        let orders = Orders {
            server_url: self.server.url().to_owned(),
            provider_url: self.provider_url.clone(),
            billing: self.billing_file(),
            concurrency,
            die_at,
            sabotage: self.sabotage,
        };
        let (worker, dialogue) = Worker::start(&orders)?;
        let jobs = if concurrency == 1 { "one job at a time" } else { "two jobs at a time" };
        let text = format!("process {} starts, {jobs}", worker.pid());
        self.narrator.say(Voice::Worker(number), text);
        let (ready, is_ready) = oneshot::channel();
        let (reaches, reached) = oneshot::channel();
        let listener = Listener {
            voice: Voice::Worker(number),
            narrator: Arc::clone(&self.narrator),
            halyard: self.halyard.clone(),
            runs: Arc::clone(&self.runs),
            keyed: self.sabotage != Some(Sabotage::NoIdempotencyKey),
        };
        let listening = tokio::spawn(listener.listen(dialogue, ready, reaches));
        self.hired = Some(Hired { number, worker, reached, listening });
        let is_ready = tokio::time::timeout(PATIENCE, is_ready).await;
        is_ready.context("a worker does not come up")?.context("a worker ended at once")
    }

    /// Waits until the worker stands at its crash point, `when`, and kills it there. What it ran
    /// was `job`, about `subject`.
    pub(super) async fn kill_at_crash_point(
        &mut self,
        when: &str,
        job: &CreatedJob,
        subject: &str,
    ) -> anyhow::Result<()> {
        let Some(hired) = &mut self.hired else { bail!("there is no worker to kill") };
        let reached = tokio::time::timeout(PATIENCE, &mut hired.reached).await;
        reached
            .context("the worker does not come to the point at which it should die")?
            .context("the worker ended before the point at which it should die")?;
        let text = format!("kill -9 {}, {when}", hired.worker.pid());
        self.narrator.say(Voice::You, text);
        self.dismiss().await?;
        let state = self.halyard.jobs().get(&job.id).await?.state;
        let text = format!("{subject}: {state}, leased to the dead worker for up to 5 s");
        self.narrator.say(Voice::Server, text);
        Ok(())
    }

    pub(super) fn billing_file(&self) -> PathBuf {
        self.directory.path().join("billing.db")
    }

    /// The end of the server's log; `None` when it had nothing to say.
    pub(super) fn last_words(&self) -> Option<String> {
        let log = std::fs::read_to_string(self.directory.path().join("server.log")).ok()?;
        let lines: Vec<&str> = log.lines().rev().take(LAST_LINES).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// Ends every process. The directory goes too, unless it is to be kept.
    pub(super) async fn strike(mut self, keep: bool) -> anyhow::Result<()> {
        self.directory.disable_cleanup(keep);
        self.dismiss().await?;
        self.server.kill().await?;
        self.provider.stop().await?;
        Ok(())
    }

    async fn dismiss(&mut self) -> anyhow::Result<()> {
        let Some(hired) = self.hired.take() else { return Ok(()) };
        hired.worker.kill().await?;
        // Its last lines are still in the pipe.
        hired.listening.await.context(format!("worker {} cannot be heard", hired.number))
    }
}
