//! The story: a month is charged and closed by workers that are killed at the worst moments, and
//! each customer pays once.
//!
//! | | killed when | brought about by |
//! |---|---|---|
//! | 1 | the charge is made, its answer not read | the provider holds the answer |
//! | 2 | the answer is read, the invoice not paid | a lock on the invoice, taken meanwhile |
//! | 3 | the invoice is paid, the report not sent | the same, and the worker is stopped |
//! | 4 | before the charge | the provider takes its time |
//! | 5 | inside a step of `close-month` | a lock on a row of `ledger` |
//! | 6 | after a step's work, before its checkpoint | the same, and the worker stopped |
//! | 7 | SIGTERM in the middle: it ends by itself | the provider takes its time |
//!
//! Workers that are killed run one job at a time, so it is known what dies with them. Nothing waits
//! for a time. A stopped server would not do for 3 and 6: what the worker has sent it would read
//! when it goes on, although the worker is dead.

use std::process::Command;
use std::time::Duration;

use halyard::testing::{TestServer, start_server_from};
use halyard::{Backoff, Halyard, JobDetail, NewJob, State};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_postgres::{Client, NoTls};

use crate::process::{Process, halyard, until};
use crate::world::{SECRET_KEY, World};

const PRICE: i32 = 4800;
/// Longer than any wait here: it ends when the test ends it.
const HELD_MS: u64 = 600_000;
/// More than the backoff after a first attempt, 5 s and a fifth of it.
const RETRY_AFTER_S: i64 = 7;
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_customer_pays_once() {
    let mut story = Story::begin().await;
    let jobs = story.renew_twice().await;

    story.dies_with_the_answer_held("01").await;
    story.dies_before_the_update("02").await;
    story.dies_before_the_report("03").await;
    story.dies_before_the_charge("04").await;
    story.is_asked_to_end("05").await;

    let worker = story.worker(10);
    let mut ended = Vec::new();
    for id in &jobs {
        ended.push(story.halyard.jobs().wait(id, PATIENCE).await.unwrap());
    }
    worker.signal(Signal::TERM);
    assert!(worker.end().await.success());

    story.close_the_month().await;
    story.count(&ended).await;
}

/// What the story is played on.
struct Story {
    world: World,
    server: TestServer,
    halyard: Halyard,
    /// A connection that locks and watches.
    operator: Client,
    kills: u64,
}

impl Story {
    /// Ten subscriptions; what each meets at the provider decides how far its worker gets.
    async fn begin() -> Self {
        let world = World::start().await;
        let server = start_server_from(halyard()).await.unwrap();
        let halyard = server.client().unwrap();
        let held = json!({"hold_ms": HELD_MS, "hold_first": 1});
        let meets = [
            ("01", held.clone()),
            ("02", held.clone()),
            ("03", held),
            ("04", json!({"work_ms": HELD_MS})),
            ("05", json!({"work_ms": HELD_MS})),
            ("06", json!({})),
            ("07", json!({"error_first": 1})),
            ("08", json!({})),
            ("09", json!({"rate_limit_first": 1, "retry_after_s": RETRY_AFTER_S})),
            ("10", json!({"decline": "insufficient_funds"})),
        ];
        for (name, behaviour) in meets {
            world.seed(name, PRICE, behaviour).await;
        }
        let (operator, connection) =
            tokio_postgres::connect(&world.database.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        Self { world, server, halyard, operator, kills: 0 }
    }

    /// The program that asks for the charges, run twice: the ids of the ten jobs.
    async fn renew_twice(&self) -> Vec<String> {
        let runs = [false, true].map(|replayed| {
            let mut command = self.program(env!("CARGO_BIN_EXE_renewals"));
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let said = String::from_utf8(output.stdout).unwrap();
            let ids = said.lines().map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                let &[_, id, last] = words.as_slice() else { panic!("{line}") };
                assert_eq!(last, format!("replayed={replayed}"));
                id.to_owned()
            });
            ids.collect::<Vec<_>>()
        });
        let [first, second] = runs;
        assert_eq!((first.len(), &first), (10, &second));
        first
    }

    async fn dies_with_the_answer_held(&mut self, name: &str) {
        let worker = self.worker(1);
        self.until_charged(name).await;
        self.kill(worker);
        self.world.provider.release().await;
    }

    async fn dies_before_the_update(&mut self, name: &str) {
        let worker = self.worker(1);
        self.until_charged(name).await;
        self.lock_invoice(name).await;
        self.world.provider.release().await;
        let waiting = self.until_locked_out().await;
        self.kill(worker);
        // Its connection would go on waiting for a while, and update then.
        self.operator.execute("select pg_terminate_backend($1, 10000)", &[&waiting]).await.unwrap();
        self.unlock().await;
        assert_eq!(self.status(name).await, "open");
    }

    async fn dies_before_the_report(&mut self, name: &str) {
        let worker = self.worker(1);
        self.until_charged(name).await;
        self.lock_invoice(name).await;
        self.world.provider.release().await;
        self.until_locked_out().await;
        worker.signal(Signal::STOP);
        self.unlock().await;
        until("the invoice is paid", async || self.status(name).await == "paid").await;
        self.kill(worker);
    }

    async fn dies_before_the_charge(&mut self, name: &str) {
        let worker = self.worker(1);
        self.until_called(name).await;
        self.kill(worker);
        assert!(self.charges(name).await.is_empty());
        self.world.provider.release().await;
    }

    async fn is_asked_to_end(&self, name: &str) {
        let worker = self.worker(1);
        self.until_called(name).await;
        worker.signal(Signal::TERM);
        self.world.provider.release().await;
        assert!(worker.end().await.success());
        assert_eq!(self.status(name).await, "paid");
    }

    async fn close_the_month(&mut self) {
        let close = NewJob::new("close-month")
            .queue("billing")
            .payload(&json!({"period": "2026-11"}))
            .idempotency_key("close:2026-11")
            .backoff(Backoff { initial_ms: Some(1_000), ..Backoff::default() });
        let job = self.halyard.jobs().create(close).await.unwrap();

        self.lock_ledger().await;
        let worker = self.worker(1);
        let waiting = self.until_locked_out().await;
        self.kill(worker);
        self.operator.execute("select pg_terminate_backend($1, 10000)", &[&waiting]).await.unwrap();
        self.unlock().await;
        assert_eq!(self.number("select count(*) from ledger").await, 0);

        self.lock_ledger().await;
        let worker = self.worker(1);
        self.until_locked_out().await;
        worker.signal(Signal::STOP);
        self.unlock().await;
        let posted = async || self.number("select count(*) from ledger").await == 9;
        until("the ledger is written", posted).await;
        self.kill(worker);

        let worker = self.worker(1);
        let job = self.halyard.jobs().wait(&job.id, PATIENCE).await.unwrap();
        worker.signal(Signal::TERM);
        assert!(worker.end().await.success());
        assert_eq!((job.state, job.attempt), (State::Completed, 3));
        let starts: Vec<(&str, u64)> =
            job.checkpoints.iter().map(|point| (point.name.as_str(), point.start)).collect();
        assert_eq!(starts, [("invoices", 1), ("ledger", 3), ("statements", 3)]);
    }

    /// One charge and one paid invoice for each customer that can pay, under the job's id.
    async fn count(&self, jobs: &[JobDetail]) {
        for (job, n) in jobs.iter().zip(1..) {
            let name = format!("{n:02}");
            let charges = self.charges(&name).await;
            let paid: Vec<&Value> =
                charges.iter().filter(|charge| charge["status"] == "succeeded").collect();
            if n == 10 {
                assert_eq!((job.state, job.attempt), (State::Failed, 1), "{job:?}");
                let error = job.error.as_ref().unwrap();
                assert_eq!(error.message, "Your card has insufficient funds.");
                assert_eq!((paid.len(), self.status(&name).await.as_str()), (0, "open"));
                continue;
            }
            assert_eq!(job.state, State::Completed, "{job:?}");
            let [charge] = paid.as_slice() else { panic!("{name}: {charges:?}") };
            assert_eq!(charge["idempotency_key"].as_str(), Some(job.id.as_str()));
            assert_eq!(charge["amount"].as_i64(), Some(i64::from(PRICE)));
            let sql = "select charge_id, final from invoices
                where subscription_id = 'sub_' || $1 and status = 'paid'";
            let invoice = self.world.db.one(sql, &[&name]).await.unwrap();
            assert_eq!(charge["id"].as_str(), invoice.get(0));
            assert!(invoice.get::<_, bool>(1));
        }
        let looked = jobs[2].result.as_ref().unwrap().get();
        assert!(looked.contains("already paid"), "{looked}");
        self.waited_as_it_was_asked(&jobs[8]);
        for table in ["ledger", "statements"] {
            assert_eq!(self.number(&format!("select count(*) from {table}")).await, 9, "{table}");
        }
        let totals = self.halyard.stats().await.unwrap().totals;
        assert_eq!((totals.created, totals.replayed), (11, 10));
        assert_eq!((totals.completed, totals.failed), (10, 1));
        assert_eq!(self.kills, 6);
        assert!(totals.leases_lost >= self.kills, "{totals:?}");
    }

    fn waited_as_it_was_asked(&self, job: &JobDetail) {
        let [second, first] = job.attempts.as_slice() else { panic!("{job:?}") };
        let waited_ms = second.started_at.as_ms() - first.finished_at.unwrap().as_ms();
        assert!(waited_ms >= RETRY_AFTER_S * 1_000, "{waited_ms}");
    }

    fn program(&self, path: &str) -> Command {
        let mut command = Command::new(path);
        command.env("HALYARD_URL", self.server.url()).env_remove("HALYARD_API_KEY");
        command.env("DATABASE_URL", &self.world.database.url);
        command
    }

    fn worker(&self, concurrency: usize) -> Process {
        let mut command = self.program(env!("CARGO_BIN_EXE_worker"));
        command.env("STRIPE_API_URL", &self.world.provider.url);
        command.env("STRIPE_SECRET_KEY", SECRET_KEY);
        command.env("CONCURRENCY", concurrency.to_string()).env("LEASE", "5s");
        Process::start(&mut command).0
    }

    fn kill(&mut self, worker: Process) {
        worker.kill();
        self.kills += 1;
    }

    async fn charges(&self, name: &str) -> Vec<Value> {
        self.world.provider.charges(&format!("cus_{name}")).await
    }

    async fn until_charged(&self, name: &str) {
        until("the provider lists the charge", async || !self.charges(name).await.is_empty()).await;
    }

    async fn until_called(&self, name: &str) {
        let customer = format!("cus_{name}");
        let called = async || self.world.provider.calls(&customer).await > 0;
        until("the provider is called", called).await;
    }

    async fn lock_invoice(&self, name: &str) {
        let row = format!("subscription_id = 'sub_{name}'");
        self.lock(&format!("select from invoices where {row} for update")).await;
    }

    /// Whoever posts the first invoice waits for a posting of it that is not committed.
    async fn lock_ledger(&self) {
        self.lock("insert into ledger (invoice_id, amount) select min(id), 1 from invoices").await;
    }

    async fn lock(&self, sql: &str) {
        self.operator.batch_execute(&format!("begin; {sql}")).await.unwrap();
    }

    async fn unlock(&self) {
        self.operator.batch_execute("rollback").await.unwrap();
    }

    /// The process of the connection that waits for a lock.
    async fn until_locked_out(&self) -> i32 {
        let sql = "select pid from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'";
        let mut waiting = None;
        let waits = async || {
            waiting = self.world.db.all(sql, &[]).await.unwrap().first().map(|row| row.get(0));
            waiting.is_some()
        };
        until("the worker waits for the lock", waits).await;
        waiting.unwrap()
    }

    async fn status(&self, name: &str) -> String {
        let sql = "select status from invoices where subscription_id = 'sub_' || $1";
        self.world.db.one(sql, &[&name]).await.unwrap().get(0)
    }

    async fn number(&self, sql: &str) -> i64 {
        self.world.db.one(sql, &[]).await.unwrap().get(0)
    }
}
