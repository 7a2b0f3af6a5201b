//! The example's producer or worker as a process: this test program, started again.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use halyard::{Halyard, Job};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::sync::mpsc;

use crate::PATIENCE;
use crate::doomed::{self, Fate};
use crate::outbox::{confirm_order, place_order};
use crate::services::{Running, Services};

const ROLE: &str = "OUTBOX_ROLE";
const FATE: &str = "OUTBOX_FATE";
const DATABASE: &str = "OUTBOX_DATABASE";
const URL: &str = "OUTBOX_URL";
/// What its words begin with, among those of the test harness.
const SAYS: &str = "says: ";

/// What a process does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role<'a> {
    /// Places this order.
    Order(&'a str),
    /// Runs one job of this queue.
    Work(&'a str),
}

/// The process.
pub(crate) struct Program {
    running: Running,
    /// Reads what it says until it ends.
    said: Option<JoinHandle<Vec<String>>>,
}

impl Program {
    pub(crate) fn start(services: &Services, role: Role<'_>, fate: Fate) -> Self {
        let test = std::env::current_exe().expect("the test knows where it is");
        let role = match role {
            Role::Order(order) => format!("order {order}"),
            Role::Work(queue) => format!("work {queue}"),
        };
        let child = Command::new(test)
            .args(["program::process", "--exact", "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(FATE, fate.write())
            .env(DATABASE, &services.database)
            .env(URL, &services.url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.expect("the test can be started again");
        let stdout = child.stdout.take().expect("stdout is piped");
        let said = std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            let words = |line: String| line.split_once(SAYS).map(|(_, words)| words.to_owned());
            lines.filter_map(words).collect()
        });
        Self { running: Running(child), said: Some(said) }
    }

    /// Waits until it is stopped.
    pub(crate) async fn sleeps(&self) {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        until("it sleeps", || {
            let status = waitid(WaitId::Pid(Pid::from_child(&self.running.0)), options);
            status.expect("a child").filter(|status| status.stopped()).map(|_| ())
        })
        .await;
    }

    pub(crate) fn wake(&mut self) {
        kill_process(Pid::from_child(&self.running.0), Signal::CONT).expect("the process is there");
        self.running.0.stdin.take();
    }

    /// Waits for its end: how it ended, and what it said.
    pub(crate) async fn ended(mut self) -> (ExitStatus, Vec<String>) {
        let status = until("it ends", || self.running.0.try_wait().expect("a child")).await;
        let said = self.said.take().map(|said| said.join().expect("no panic"));
        (status, said.unwrap_or_default())
    }
}

pub(crate) async fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < give_up, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn say(words: &str) {
    println!("{SAYS}{words}");
}

/// Plays a role in a process of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it is a process that the tests start"]
async fn process() {
    let told = |name: &str| std::env::var(name).expect("a role");
    let (database, fate) = (told(DATABASE), Fate::read(&told(FATE)));
    let halyard = Halyard::builder().url(told(URL)).build().expect("a client");
    match told(ROLE).split_once(' ').expect("what to do with what") {
        ("order", order) => {
            let mut client = doomed::connect(&database, order, fate).await;
            let placed = place_order(&halyard, &mut client, order, "a@example.com").await;
            placed.expect("an order");
        }
        (_, queue) => work(&halyard, queue, database, fate).await,
    }
    say(&format!("{}", doomed::writes()));
}

/// Runs one job.
async fn work(halyard: &Halyard, queue: &str, database: String, fate: Fate) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let worker = halyard
        .worker()
        .queues([queue])
        .concurrency(1)
        .lease(Duration::from_secs(5))
        .task("confirm-order", move |job: Job| {
            let (database, tell) = (database.clone(), tell.clone());
            async move {
                let mut client = doomed::connect(&database, job.queue(), fate).await;
                let confirmed = confirm_order(job, &mut client).await;
                say(&confirmed.as_ref().map_or_else(ToString::to_string, |()| "confirmed".into()));
                let _ = tell.send(());
                confirmed
            }
        })
        .build()
        .expect("a worker");
    worker.start().await.expect("it works");
    told.recv().await;
    worker.stop().await;
}
