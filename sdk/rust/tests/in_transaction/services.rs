//! A database of the test's own, and a server that keeps its jobs in it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use halyard::{Halyard, Job, State};
use tokio_postgres::{Client, NoTls};

use crate::{PATIENCE, name};

/// A database with the tables of the example, and its server.
pub(crate) struct Services {
    pub(crate) database: String,
    pub(crate) url: String,
    pub(crate) halyard: Halyard,
    _server: Running,
}

impl Services {
    pub(crate) async fn start() -> Self {
        Self::start_in("halyard").await
    }

    /// With the jobs in this schema.
    pub(crate) async fn start_in(schema: &str) -> Self {
        let given = std::env::var("HALYARD_TEST_POSTGRES_URL").expect(
            "HALYARD_TEST_POSTGRES_URL names no server: \
             scripts/services run cargo test -p halyard --all-features",
        );
        let name = name("in_transaction");
        let (before, after) = given.rsplit_once('/').expect("an address with a database");
        let settings = after.split_once('?').map_or(String::new(), |(_, told)| format!("?{told}"));
        let database = format!("{before}/{name}{settings}");
        let admin = connect(&given).await;
        admin.batch_execute(&format!("create database {name}")).await.expect("a database");
        let tables = "create table orders (id text primary key, email text not null); \
            create table outgoing_mails (order_id text not null)";
        connect(&database).await.batch_execute(tables).await.expect("tables");
        let (server, url) = spawn(&database, schema);
        let builder = Halyard::builder().url(&url).retry_for(Duration::from_secs(30));
        Self { database, url, halyard: builder.build().expect("a client"), _server: server }
    }

    pub(crate) async fn client(&self) -> Client {
        connect(&self.database).await
    }

    /// Waits until PostgreSQL has ended the session of this name, and all that it was sent.
    pub(crate) async fn is_gone(&self, name: &str) {
        let client = self.client().await;
        let sessions = "select count(*) from pg_stat_activity where application_name = $1";
        let give_up = Instant::now() + PATIENCE;
        while client.query_one(sessions, &[&name]).await.expect("a count").get::<_, i64>(0) > 0 {
            assert!(Instant::now() < give_up, "the session of {name} does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Rows of the order.
    pub(crate) async fn orders(&self, order: &str) -> i64 {
        self.count("select count(*) from orders where id = $1", order).await
    }

    /// Mails of the order that are to be sent.
    pub(crate) async fn mails(&self, order: &str) -> i64 {
        self.count("select count(*) from outgoing_mails where order_id = $1", order).await
    }

    async fn count(&self, statement: &str, order: &str) -> i64 {
        self.client().await.query_one(statement, &[&order]).await.expect("a count").get(0)
    }

    /// Waits for the job's end; its state, its result and its attempt.
    pub(crate) async fn ended(&self, id: &str) -> (State, String, u64) {
        let job = self.halyard.jobs().wait(id, PATIENCE).await.expect("it ends");
        let result = job.result.map_or_else(String::new, |result| result.to_string());
        (job.state, result, job.attempt)
    }
}

/// A process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes that a mail about this job is to be sent, in the transaction.
pub(crate) async fn write_mail(
    transaction: &tokio_postgres::Transaction<'_>,
    job: &Job,
) -> Result<u64, tokio_postgres::Error> {
    let insert = "insert into outgoing_mails (order_id) values ($1)";
    transaction.execute(insert, &[&job.id()]).await
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.expect("a connection to PostgreSQL");
    tokio::spawn(connection);
    client
}

fn spawn(database: &str, schema: &str) -> (Running, String) {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HALYARD_") {
            command.env_remove(name);
        }
    }
    command.args(["serve", "--end-with-stdin", "--listen", "127.0.0.1:0"]);
    command.args(["--database-url", database, "--database-schema", schema]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Running(command.spawn().expect("the binary can be started"));
    let mut lines = BufReader::new(child.0.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("a line that says where it listens");
    let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| {
        panic!("the server began with {line:?}, not with where it listens");
    });
    let url = url.to_owned();
    // Somebody has to read what it says, or it waits for that.
    std::thread::spawn(move || lines.lines().for_each(drop));
    (child, url)
}

/// The binary under test: `HALYARD_BIN`, or the one that cargo built beside this test.
fn binary() -> PathBuf {
    match std::env::var_os("HALYARD_BIN") {
        Some(path) => path.into(),
        None => built("halyard"),
    }
}

/// A file that cargo builds beside this test.
pub(crate) fn built(path: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test knows where it is");
    let path = test.ancestors().nth(2).expect("the folder of the build").join(path);
    assert!(
        path.exists(),
        "no {path:?}: cargo build -p halyard --all-features --examples; the server is built by \
         `cargo build -p halyard-server`, or `make build` and HALYARD_BIN=target/release/halyard"
    );
    path
}
