//! What docs/testing.md shows.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use halyard::testing::{TestHalyard, crash_point, fake_job, prove_idempotent, start_server_from};
use halyard::{Error, Halyard, HandlerResult, Job, NewJob, State};
use serde_json::json;

/// What stands for the payment provider. It remembers its keys, as the real one does.
#[derive(Clone, Default)]
struct Payments {
    charges: Arc<Mutex<Vec<Charge>>>,
}

#[derive(Clone)]
struct Charge {
    id: String,
    key: Option<String>,
}

impl Payments {
    async fn charge(&self, key: Option<&str>) -> String {
        crash_point("charging").await;
        let id = self.remember(key);
        crash_point("charged").await;
        id
    }

    fn remember(&self, key: Option<&str>) -> String {
        let mut charges = self.charges.lock().unwrap();
        let known = charges.iter().find(|charge| key.is_some() && charge.key.as_deref() == key);
        if let Some(charge) = known {
            return charge.id.clone();
        }
        let id = format!("ch_{}", charges.len() + 1);
        charges.push(Charge { id: id.clone(), key: key.map(str::to_owned) });
        id
    }

    fn ids(&self) -> Vec<String> {
        self.charges.lock().unwrap().iter().map(|charge| charge.id.clone()).collect()
    }
}

/// The database of the program: which jobs were processed, and with what response.
#[derive(Clone, Default)]
struct Database {
    processed: Arc<Mutex<Vec<(String, String)>>>,
}

impl Database {
    fn find(&self, job: &str) -> Option<String> {
        let processed = self.processed.lock().unwrap();
        processed.iter().find(|(id, _)| id == job).map(|(_, response)| response.clone())
    }

    async fn insert(&self, job: &str, response: &str) {
        self.processed.lock().unwrap().push((job.to_owned(), response.to_owned()));
        crash_point("inserted").await;
    }
}

async fn process_payment(job: Job, db: Database, payments: Payments) -> HandlerResult<String> {
    if let Some(response) = db.find(job.id()) {
        return Ok(response);
    }
    let response = payments.charge(None).await;
    db.insert(job.id(), &response).await;
    Ok(response)
}

async fn process_payment_once(job: Job, db: Database, payments: Payments) -> HandlerResult<String> {
    if let Some(response) = db.find(job.id()) {
        return Ok(response);
    }
    let response = payments.charge(Some(job.id())).await;
    db.insert(job.id(), &response).await;
    Ok(response)
}

#[tokio::test]
async fn charging_twice_charges_once() {
    let (db, payments) = (Database::default(), Payments::default());
    let fake = fake_job("process-payment").id("job_3Rk9Tq7Xw2").payload(&json!({"amount": 4800}));
    let first = process_payment(fake.job(), db.clone(), payments.clone()).await.unwrap();
    let again = fake.next_attempt();
    let second = process_payment(again.job(), db, payments.clone()).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(payments.ids(), ["ch_1"]);
}

async fn renew(halyard: &Halyard, subscription: &str) -> Result<String, Error> {
    let job = NewJob::new("charge")
        .payload(&json!({"subscription_id": subscription}))
        .idempotency_key(format!("charge:{subscription}:2026-11"));
    Ok(halyard.jobs().create(job).await?.id)
}

async fn charge(job: Job) -> HandlerResult<String> {
    if job.attempt() < 3 {
        return Err("the provider is down".into());
    }
    Ok(format!("ch_{}", job.id()))
}

#[tokio::test]
async fn a_renewal_survives_an_outage_of_the_provider() {
    let test = TestHalyard::new().task("charge", charge);
    let begin = test.now();

    let id = renew(test.client(), "sub_1").await.unwrap();
    assert_eq!(renew(test.client(), "sub_1").await.unwrap(), id);
    assert_eq!(test.drain().await, 3);

    let job = test.client().jobs().get(&id).await.unwrap();
    assert_eq!(job.state, State::Completed);
    // Five seconds after the first attempt, ten after the second.
    assert_eq!(test.now().as_ms() - begin.as_ms(), 15_000);
}

/// Without a variable, the server that cargo built beside this test.
fn binary() -> std::path::PathBuf {
    let test = std::env::current_exe().expect("the test knows where it is");
    let beside = test.ancestors().nth(2).expect("the folder of the build").join("halyard");
    std::env::var_os("HALYARD_BIN").map_or(beside, Into::into)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_on_the_server() {
    let start_server = || start_server_from(binary());
    let server = start_server().await.unwrap();
    let halyard = server.client().unwrap();
    let worker = halyard
        .worker()
        .queues(["default"])
        .task("charge", async |_: Job| HandlerResult::Ok("ch_1"));
    let worker = worker.build().unwrap();
    worker.start().await.unwrap();

    let id = renew(&halyard, "sub_1").await.unwrap();
    let job = halyard.jobs().wait(&id, Duration::from_secs(30)).await.unwrap();
    assert_eq!(job.state, State::Completed);
    worker.stop().await;
}

async fn prove<F, Fut>(handler: F) -> halyard::testing::Report
where
    F: Fn(Job, Database, Payments) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<String>> + Send + 'static,
{
    let (db, payments) = (Database::default(), Payments::default());
    let (handler_db, handler_payments) = (db.clone(), payments.clone());
    let charges = payments.clone();
    prove_idempotent(move |job: Job| handler(job, handler_db.clone(), handler_payments.clone()))
        .payload(&json!({"amount": 4800}))
        .world(move || {
            let charges = charges.ids();
            async move { json!({"charges": charges}) }
        })
        .reset(move || {
            db.processed.lock().unwrap().clear();
            payments.charges.lock().unwrap().clear();
            async {}
        })
        .run()
        .await
}

#[tokio::test]
async fn processing_a_payment_is_idempotent() {
    let report = prove(process_payment_once).await;
    report.assert_idempotent();
}

#[tokio::test]
async fn the_report_is_the_one_in_the_guide() {
    let report = prove(process_payment).await.to_string();
    let page = crate::read("../../docs/testing.md");
    let shown = crate::blocks(&page, "text");
    // The page breaks long lines.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&report), words(shown.first().expect("the report")));
}
