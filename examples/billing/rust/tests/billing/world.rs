//! The database and the provider of one test.

use std::process::Command;
use std::sync::Arc;

use halyard_example_billing::db::{Db, Postgres, Subscription};
use halyard_example_billing::payments::Stripe;
use serde_json::{Value, json};
use tokio_postgres::NoTls;

use crate::process::{Process, halyard};

/// The key that the provider takes.
pub(crate) const SECRET_KEY: &str = "sk_test_halyard_demo";

/// What a test may change, and how the handlers reach it.
pub(crate) struct World {
    pub(crate) database: Database,
    pub(crate) provider: Provider,
    pub(crate) db: Db,
    pub(crate) payments: Arc<Stripe>,
}

impl World {
    /// An empty database with its tables, and a provider without charges.
    pub(crate) async fn start() -> Self {
        let database = Database::create().await;
        let provider = Provider::start();
        let db = Db::new(Postgres::new(&database.url).unwrap());
        let payments = Arc::new(Stripe::new(&provider.url, SECRET_KEY).unwrap());
        Self { database, provider, db, payments }
    }

    /// A new customer with a working card, and its subscription.
    pub(crate) async fn seed_subscription(&self, price: i32) -> Subscription {
        let name = format!("{:08x}", rand::random::<u32>());
        self.seed(&name, price, json!({})).await
    }

    /// A subscription `sub_<name>` whose customer meets this at the provider.
    pub(crate) async fn seed(&self, name: &str, price: i32, behaviour: Value) -> Subscription {
        let sub =
            Subscription { id: format!("sub_{name}"), customer_id: format!("cus_{name}"), price };
        self.provider.script(&sub.customer_id, behaviour).await;
        self.db.subscriptions.insert(&sub).await.unwrap();
        sub
    }
}

/// A database of its own, which goes with the test.
pub(crate) struct Database {
    pub(crate) url: String,
    name: String,
}

impl Database {
    async fn create() -> Self {
        let name = format!("billing_rust_{:032x}", rand::random::<u128>());
        run(&server(), &format!("create database {name}")).await;
        let database = Self { url: in_server(&name), name };
        let mut migrate = Command::new(env!("CARGO_BIN_EXE_migrate"));
        let migrated = migrate.env("DATABASE_URL", &database.url).output().unwrap();
        assert!(migrated.status.success(), "{migrated:?}");
        database
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("drop database {} with (force)", self.name);
        // A test's own runtime may have ended.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(run(&server(), &drop));
        });
        let _ = dropping.join();
    }
}

fn server() -> String {
    std::env::var("HALYARD_TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!("no PostgreSQL: scripts/services run cargo test -p halyard-example-billing")
    })
}

fn in_server(name: &str) -> String {
    let server = server();
    let (address, _) = server.rsplit_once('/').expect("an address with a database");
    format!("{address}/{name}")
}

async fn run(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
}

/// `halyard demo-provider`.
pub(crate) struct Provider {
    _process: Process,
    pub(crate) url: String,
    http: reqwest::Client,
}

impl Provider {
    fn start() -> Self {
        let mut command = Command::new(halyard());
        command.args(["demo-provider", "--listen", "127.0.0.1:0", "--key", SECRET_KEY]);
        let (process, line) = Process::start(&mut command);
        let url = line.strip_prefix("listening on ").expect("where it listens").to_owned();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { _process: process, url, http }
    }

    /// Makes a customer; `{}` meets nothing out of the way.
    pub(crate) async fn script(&self, customer: &str, behaviour: Value) {
        let url = format!("{}/test/customers/{customer}", self.url);
        let answer = self.http.put(url).json(&behaviour).send().await.unwrap();
        answer.error_for_status().unwrap();
    }

    /// Ends the waits of the calls under way.
    pub(crate) async fn release(&self) {
        let answer = self.http.post(format!("{}/test/release", self.url)).send().await.unwrap();
        answer.error_for_status().unwrap();
    }

    /// A day and a little passes, so that no key is known any more.
    pub(crate) async fn forget_keys(&self) {
        let url = format!("{}/test/clock", self.url);
        let day = json!({"advance_ms": 25 * 3_600 * 1_000});
        self.http.post(url).json(&day).send().await.unwrap().error_for_status().unwrap();
    }

    /// Every charge of a customer, declined ones included, oldest first.
    pub(crate) async fn charges(&self, customer: &str) -> Vec<Value> {
        let Value::Array(charges) = self.get("charges").await else { panic!("no list") };
        charges.into_iter().filter(|charge| charge["customer"] == customer).collect()
    }

    /// How many calls there were for a customer.
    pub(crate) async fn calls(&self, customer: &str) -> u64 {
        self.get("summary").await["customers"][customer]["calls"].as_u64().unwrap()
    }

    async fn get(&self, what: &str) -> Value {
        let answer = self.http.get(format!("{}/test/{what}", self.url)).send().await.unwrap();
        answer.error_for_status().unwrap().json().await.unwrap()
    }
}
