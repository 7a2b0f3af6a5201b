//! A store that asks the functions first, and holds the verbs against them.

mod delegate;
mod look;

use halyard_core::admission::{Due, NewJob};
use halyard_core::checkpoint::Written;
use halyard_core::id::JobId;
use halyard_core::key::IfFailed;
use halyard_core::outcome::{Finish, Report};
use halyard_core::{TimeMs, limits};
use halyard_store::Store;
use halyard_store::postgres::Postgres;
use halyard_store::verbs::{CheckpointWrite, Created, Outcome};
use serde_json::{Value, json};
use tokio::sync::{Mutex, MutexGuard};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Row};

use self::look::alike;

/// The store, and a connection that calls the functions. Verbs run one at a time.
pub(crate) struct Compared {
    store: Postgres,
    schema: String,
    client: Mutex<Client>,
}

/// What a function said: its row, or the code of its refusal and the job that this names.
type Said = Result<Row, (String, Option<String>)>;

/// A transaction of the caller, looked at before it is rolled back.
struct Tried {
    /// When it was tried.
    at: TimeMs,
    said: Vec<Said>,
    ids: Vec<JobId>,
    before: Value,
    after: Value,
}

impl Compared {
    pub(crate) async fn open(store: Postgres, url: &str, schema: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        // The functions have the store's clock.
        let clock = "CREATE OR REPLACE FUNCTION halyard.now_ms() RETURNS bigint LANGUAGE sql AS
                     $$ SELECT current_setting('test.now')::bigint $$";
        client.batch_execute(&clock.replace("halyard.", &format!("{schema}."))).await.unwrap();
        // Lifetimes of keys in the contract are shorter than the edge lets them be.
        let briefly = "DO $do$ BEGIN EXECUTE replace(
                       pg_get_functiondef('halyard.admit_job'::regproc), '60000,', '0,'); END $do$";
        client.batch_execute(&briefly.replace("halyard.", &format!("{schema}."))).await.unwrap();
        Self { store, schema: schema.to_owned(), client: Mutex::new(client) }
    }

    fn sql(&self, text: &str) -> String {
        text.replace("halyard.", &format!("{}.", self.schema))
    }

    async fn alone(&self) -> MutexGuard<'_, Client> {
        self.client.lock().await
    }

    /// Calls a function in the transaction, and takes back what an error broke.
    async fn call(&self, client: &Client, sql: &str, values: &[&str]) -> Said {
        let text = Type::TEXT;
        let values: Vec<(&(dyn ToSql + Sync), Type)> =
            values.iter().map(|value| (value as &(dyn ToSql + Sync), text.clone())).collect();
        client.batch_execute("SAVEPOINT one").await.unwrap();
        match client.query_typed_one(&self.sql(sql), &values).await {
            Ok(row) => Ok(row),
            Err(error) => {
                client.batch_execute("ROLLBACK TO one").await.unwrap();
                let Some(told) = error.as_db_error() else { panic!("{error}") };
                let detail: Value = serde_json::from_str(told.detail().unwrap_or("null"))
                    .unwrap_or_else(|_| panic!("{told:?}"));
                let job = detail["about"]["job"].as_str().map(str::to_owned);
                Err((told.code().code().to_owned(), job))
            }
        }
    }

    async fn begin(&self, client: &Client) -> TimeMs {
        let at = self.store.now();
        let begin = format!("BEGIN; SET LOCAL test.now = '{at}'");
        client.batch_execute(&begin).await.unwrap();
        // A sequence does not roll back.
        let numbers = "SELECT set_config('test.number', last_value::text, false),
                       set_config('test.called', is_called::text, false) FROM halyard.jobs_seq";
        client.query_typed(&self.sql(numbers), &[]).await.unwrap();
        at
    }

    /// Ends a trial: looks, rolls back, and looks whether nothing is left.
    async fn end(
        &self,
        client: &Client,
        at: TimeMs,
        ids: Vec<JobId>,
        before: Value,
        said: Vec<Said>,
    ) -> Tried {
        let after = self.look(client, &ids).await;
        let numbers = "SELECT setval('halyard.jobs_seq', current_setting('test.number')::bigint,
                       current_setting('test.called')::boolean)";
        client.query_typed(&self.sql(numbers), &[]).await.unwrap();
        client.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(self.look(client, &ids).await, before, "what was rolled back is left");
        Tried { at, said, ids, before, after }
    }

    async fn try_creates(&self, client: &Client, jobs: &[NewJob]) -> Tried {
        let mut ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
        for job in jobs {
            let Some(key) = job.details.idempotency_key.as_deref() else { continue };
            ids.extend(self.store.holder(&job.task, key).await.unwrap().map(|it| it.job_id));
        }
        let before = self.look(client, &ids).await;
        let at = self.begin(client).await;
        let mut said = Vec::new();
        for job in jobs {
            let options = options_of(job).to_string();
            let create = "SELECT * FROM halyard.create_job($1, $2::json, $3::json)";
            said.push(
                self.call(client, create, &[&job.task, job.payload.as_str(), &options]).await,
            );
        }
        self.end(client, at, ids, before, said).await
    }

    async fn try_finish(&self, client: &Client, outcomes: &[Outcome]) -> Option<Tried> {
        let mut results = Vec::new();
        for outcome in outcomes {
            let Report::Completed(Ok(result)) = &outcome.report else { return None };
            results.push(result.as_ref().map_or("null", |text| text.as_str()));
        }
        let ids: Vec<JobId> = outcomes.iter().filter_map(|it| it.id).collect();
        let before = self.look(client, &ids).await;
        let at = self.begin(client).await;
        let mut said = Vec::new();
        for (outcome, result) in outcomes.iter().zip(results) {
            let id = outcome.id.map_or_else(String::new, |id| id.to_string());
            let token = outcome.token.map_or_else(String::new, |token| token.to_string());
            let finish = "SELECT * FROM halyard.finish_job($1, $2, $3::json)";
            said.push(self.call(client, finish, &[&id, &token, result]).await);
        }
        Some(self.end(client, at, ids, before, said).await)
    }

    async fn try_checkpoint(&self, client: &Client, write: &CheckpointWrite) -> Tried {
        let ids = vec![write.id];
        let before = self.look(client, &ids).await;
        let at = self.begin(client).await;
        let token = write.token.map_or_else(String::new, |token| token.to_string());
        let save = "SELECT * FROM halyard.checkpoint_job($1, $2, $3, $4::json)";
        let values = [&write.id.to_string(), token.as_str(), &write.name, write.value.as_str()];
        let said = vec![self.call(client, save, &values).await];
        self.end(client, at, ids, before, said).await
    }

    /// Says whether the verb ran at the same time: another caller may have moved the clock.
    fn compares(&self, tried: &Tried) -> bool {
        tried.at == self.store.now()
    }

    /// Holds the rows that the verb left against those that the functions made.
    async fn compare(&self, client: &Client, tried: &Tried) {
        if tried.said.iter().all(Result::is_ok) {
            let left = self.look(client, &tried.ids).await;
            let stamp = tried.before["stamp"].as_i64().unwrap();
            let is_outage = self.store.now() - stamp > limits::OUTAGE_MS;
            let (made, left) = (alike(tried.after.clone(), is_outage), alike(left, is_outage));
            assert_eq!(made, left, "functions, and verbs; before: {}", tried.before);
        }
    }
}

/// The other members of the body that asks for this job.
fn options_of(job: &NewJob) -> Value {
    let mut options = json!({
        "id": job.id.to_string(),
        "queue": &*job.queue,
        "idempotency_key": job.details.idempotency_key.as_deref(),
        "if_failed": match job.if_failed {
            IfFailed::Return => "return",
            IfFailed::Retry => "retry",
            IfFailed::Replace => "replace",
        },
        "idempotency_ttl_ms": job.key_ttl_ms,
        "priority": job.priority,
        "max_attempts": job.max_attempts,
        "max_crashes": job.max_crashes,
        "timeout_ms": job.timeout_ms,
        "backoff": {
            "initial_ms": job.backoff.initial_ms,
            "factor": job.backoff.factor,
            "max_ms": job.backoff.max_ms,
            "jitter": job.backoff.jitter,
        },
        "tags": job.details.tags.iter().map(|tag| &**tag).collect::<Vec<_>>(),
        "traceparent": job.details.traceparent,
    });
    match job.due {
        Due::Now => {}
        Due::At(at) => options["run_at"] = look::rfc3339(at).into(),
        Due::After(delay_ms) => options["delay_ms"] = delay_ms.into(),
    }
    options
}

#[track_caller]
fn compare_created(said: &Said, created: &Created) {
    let row = match said {
        Ok(row) => row,
        // The edge's limits are no matter of a verb.
        Err((code, _)) if code == "YH007" => return,
        Err((code, job)) => {
            let expected = match created {
                Created::KeyReused { job_id, .. } => ("YH001", job_id),
                Created::IdTaken { id, .. } => ("YH002", id),
                other => {
                    panic!("the function refused with {code} {job:?}, the verb said {other:?}")
                }
            };
            assert_eq!((code.as_str(), job.clone()), (expected.0, Some(expected.1.to_string())));
            return;
        }
    };
    let found: (String, String, i32, bool, bool, bool) =
        (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4), row.get(5));
    let expected = match created {
        Created::New(view) => (&view.job, false, false),
        Created::Replayed { view, revived } => (&view.job, true, *revived),
        Created::Purged(stone) => {
            let state = stone.state.as_str().to_owned();
            assert_eq!(found, (stone.job_id.to_string(), state, 1, true, false, true));
            return;
        }
        other => panic!("the function said {found:?}, the verb {other:?}"),
    };
    let (job, replayed, revived) = expected;
    let life = i32::try_from(job.life).unwrap();
    let state = job.state.as_str().to_owned();
    assert_eq!(found, (job.id.to_string(), state, life, replayed, revived, false));
}

#[track_caller]
fn compare_finished(said: &Said, finish: &Finish) {
    match (said, finish) {
        (Ok(row), Finish::Ok { state, repeated }) => {
            let found: (String, bool) = (row.get(0), row.get(1));
            assert_eq!(found, (state.as_str().to_owned(), *repeated));
        }
        (Err((code, _)), Finish::LeaseLost { .. } | Finish::Conflict { .. }) => {
            assert_eq!(code, "YH003");
        }
        (Err((code, _)), Finish::NotFound) => assert_eq!(code, "YH005"),
        (said, finish) => panic!("the function said {said:?}, the verb {finish:?}"),
    }
}

#[track_caller]
fn compare_written(said: &Said, written: &Written) {
    match (said, written) {
        (
            Ok(row),
            Written::New { cancel_requested, .. } | Written::Repeated { cancel_requested, .. },
        ) => {
            let repeated = matches!(written, Written::Repeated { .. });
            assert_eq!((row.get::<_, bool>(0), row.get(1)), (repeated, *cancel_requested));
        }
        (Err((code, _)), written) => {
            let expected = match written {
                Written::LeaseLost => "YH003",
                Written::Conflict(_) => "YH004",
                Written::NotFound => "YH005",
                Written::TooLarge(_) => "YH007",
                other => panic!("the function refused with {code}, the verb said {other:?}"),
            };
            assert_eq!(code, expected);
        }
        (said, written) => panic!("the function said {said:?}, the verb {written:?}"),
    }
}
