//! A caller's own transaction, with a function of Halyard's in it, that is cut around its COMMIT.
//!
//! What the function did is there with the caller's row or not at all; the caller finds out by
//! doing all of it again, and gets the same answer.

use halyard_tests::postgres::{Database, Moment, Proxy, Url, query, tables_are_sound, value};
use halyard_tests::wire::Client as Http;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Error, NoTls};

use crate::trial::server_on;

const ROUNDS: usize = 10;

/// One thing that a function does.
struct Deed {
    /// The call, which gives a text and whether it is a repeat.
    call: String,
    /// Whether it is done, as a number.
    is_done: String,
}

type Prepare = fn(&mut Http, usize) -> Deed;

fn create(_: &mut Http, number: usize) -> Deed {
    Deed {
        call: format!(
            "SELECT id, replayed FROM halyard.create_job(
                'mail', '{{\"order\": {number}}}', '{{\"idempotency_key\": \"{number}\"}}')"
        ),
        is_done: format!("SELECT count(*) FROM halyard.bodies WHERE idempotency_key = '{number}'"),
    }
}

fn finish(client: &mut Http, _: usize) -> Deed {
    let (id, token) = lease(client);
    Deed {
        call: format!("SELECT state, repeated FROM halyard.finish_job('{id}', '{token}', '[7]')"),
        is_done: format!("SELECT count(*) FROM halyard.jobs WHERE token = '{token}' AND state = 4"),
    }
}

fn checkpoint(client: &mut Http, _: usize) -> Deed {
    let (id, token) = lease(client);
    Deed {
        call: format!(
            "SELECT 'written', repeated FROM halyard.checkpoint_job('{id}', '{token}', 'paid', '7')"
        ),
        is_done: format!("SELECT sum(checkpoints) FROM halyard.jobs WHERE token = '{token}'"),
    }
}

/// A job that runs, and its token.
fn lease(client: &mut Http) -> (String, String) {
    client.post("/v1/jobs", &json!({"task": "charge"})).expect(201);
    let claim = json!({"worker": {"id": "wrk_1"}, "queues": ["default"], "tasks": ["charge"]});
    let claimed = client.post("/v1/jobs/claim", &claim).expect(200);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    (text(&claimed["jobs"][0]["id"]), text(&claimed["jobs"][0]["lease"]["token"]))
}

async fn connect(url: &Url) -> Client {
    let (client, connection) = tokio_postgres::connect(&url.to_string(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// The caller's transaction: a row of its own, and the deed. Gives what the function said.
async fn run(url: &Url, number: usize, deed: &Deed) -> Result<(String, bool), Error> {
    let mut client = connect(url).await;
    let tx = client.transaction().await?;
    let insert = format!("INSERT INTO orders VALUES ({number}) ON CONFLICT DO NOTHING");
    tx.batch_execute(&insert).await?;
    let told = tx.query_one(&deed.call, &[]).await?;
    tx.commit().await?;
    Ok((told.get(0), told.get(1)))
}

/// Cuts at this moment; then `done` is 1 where the commit arrived, and 0 where it did not.
fn cut(moment: &Moment, done: &str) {
    let database = Database::new();
    let direct = database.url();
    let mut server = server_on(&direct);
    let (proxy, url) = Proxy::before(&direct);
    query(&direct, "CREATE TABLE orders (number bigint PRIMARY KEY)").unwrap();
    let runtime = Runtime::new().unwrap();
    let prepares: [Prepare; 3] = [create, finish, checkpoint];
    for number in 0..ROUNDS * prepares.len() {
        let deed = prepares[number % prepares.len()](&mut server.client(), number);
        let row = format!("SELECT count(*) FROM orders WHERE number = {number}");
        let cuts = proxy.cuts();
        proxy.cut_at(moment.clone());
        let told = runtime.block_on(run(&url, number, &deed));
        assert!(told.is_err(), "the caller was told that it is committed: {told:?}");
        assert_eq!(proxy.cuts(), cuts + 1);
        let both = (value(&direct, &row), value(&direct, &deed.is_done));
        assert_eq!(both, (done.to_owned(), done.to_owned()), "{}", deed.call);

        let again = runtime.block_on(run(&url, number, &deed)).unwrap();
        assert_eq!(again.1, done == "1", "{}", deed.call);
        let once_more = runtime.block_on(run(&url, number, &deed)).unwrap();
        assert_eq!(once_more, (again.0, true), "{}", deed.call);
        let both = (value(&direct, &row), value(&direct, &deed.is_done));
        assert_eq!(both, ("1".to_owned(), "1".to_owned()), "{}", deed.call);
    }
    let jobs = server.client().get("/v1/jobs?limit=200").expect(200);
    assert_eq!(jobs["data"].as_array().unwrap().len(), ROUNDS * prepares.len());
    server.kill();
    tables_are_sound(&direct);
}

#[test]
fn a_transaction_whose_commit_does_not_arrive_does_nothing() {
    cut(&Moment::BeforeCommit, "0");
}

#[test]
fn a_transaction_whose_answer_is_lost_is_done_with_all_that_is_in_it() {
    cut(&Moment::AfterCommit, "1");
}
