//! The statements, and what their refusals mean.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::abort::AbortReason;
use crate::error::{ApiError, CheckpointConflict, Error, IdempotencyConflict};

use super::{CreatedIn, DatabaseError, PostgresTransaction, SCHEMA};

const CREATE: &str = include_str!("create.sql");
const FINISH: &str = include_str!("finish.sql");
const CHECKPOINT: &str = include_str!("checkpoint.sql");

/// Letters of a schema's name; the server takes no longer one.
const SCHEMA_CHARS_MAX: usize = 40;

/// Which start of which job acts.
#[derive(Clone, Copy)]
pub(crate) struct Lease<'a> {
    pub(crate) id: &'a str,
    pub(crate) token: &'a str,
}

/// Creates; `body` is the job as JSON.
pub(crate) async fn create(
    transaction: impl PostgresTransaction,
    body: &RawValue,
) -> Result<CreatedIn, Error> {
    call(transaction, CREATE, &[body.get()]).await
}

/// Completes.
pub(crate) async fn finish(
    transaction: impl PostgresTransaction,
    lease: Lease<'_>,
    result: &RawValue,
) -> Result<(), Error> {
    /// It holds nothing that the caller does not know.
    #[derive(Deserialize)]
    struct Finished {}
    let values = [lease.id, lease.token, result.get()];
    call(transaction, FINISH, &values).await.map(|Finished {}| ())
}

/// Saves a checkpoint, and answers whether a cancel was requested.
pub(crate) async fn checkpoint(
    transaction: impl PostgresTransaction,
    lease: Lease<'_>,
    name: &str,
    value: &RawValue,
) -> Result<bool, Error> {
    #[derive(Deserialize)]
    struct Written {
        cancel_requested: bool,
    }
    let values = [lease.id, lease.token, name, value.get()];
    let written: Written = call(transaction, CHECKPOINT, &values).await?;
    Ok(written.cancel_requested)
}

async fn call<A: DeserializeOwned>(
    mut transaction: impl PostgresTransaction,
    statement: &str,
    values: &[&str],
) -> Result<A, Error> {
    let schema = transaction.schema().to_owned();
    if !can_name(&schema) {
        return Err(Error::Settings(format!("{schema:?} cannot name the schema")));
    }
    let statement = statement.replace(&format!("{SCHEMA}."), &format!("\"{schema}\"."));
    let answer = transaction.text(&statement, values).await;
    let text = answer.map_err(|error| refusal(error, &schema))?;
    serde_json::from_str(&text).map_err(|error| {
        Error::Settings(format!("the functions of the schema {schema:?} answer {text}: {error}"))
    })
}

fn can_name(schema: &str) -> bool {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    schema.len() <= SCHEMA_CHARS_MAX
        && schema.starts_with(|first: char| is_word(first) && !first.is_ascii_digit())
        && schema.chars().all(is_word)
}

/// The detail of a refusal.
#[derive(Deserialize)]
struct Detail {
    code: String,
    about: About,
}

#[derive(Deserialize)]
struct About {
    job: Option<String>,
    checkpoint: Option<String>,
    value: Option<Box<RawValue>>,
}

/// What an error of the database says; the database's own errors stay what they are.
fn refusal(error: DatabaseError, schema: &str) -> Error {
    let detail = error.message().to_owned();
    let api = |status, code: String, job_id| {
        let (detail, request_id) = (detail.clone(), String::new());
        Error::Api(Box::new(ApiError { status, code, detail, request_id, job_id, errors: vec![] }))
    };
    match error.sqlstate() {
        Some("42883" | "3F000") => Error::Settings(format!(
            "the schema {schema:?} of this database has no functions of a Halyard server: {detail}"
        )),
        // JSON with what PostgreSQL cannot keep: half a surrogate pair, NUL.
        Some("22P02" | "22P05" | "22021") => api(400, "invalid_field".to_owned(), None),
        Some(state) if state.starts_with("YH") => {
            let told = error.detail().map(serde_json::from_str);
            let Some(Ok(Detail { code, about })) = told else { return Error::Database(error) };
            match (code.as_str(), about) {
                ("lease_lost", _) => Error::Aborted(AbortReason::LeaseLost),
                ("idempotency_key_reused", About { job: Some(existing_job_id), .. }) => {
                    Error::IdempotencyConflict(Box::new(IdempotencyConflict {
                        existing_job_id,
                        changed: None,
                        detail,
                        request_id: String::new(),
                    }))
                }
                ("checkpoint_conflict", About { checkpoint: Some(name), value, .. }) => {
                    Error::CheckpointConflict(Box::new(CheckpointConflict { name, value }))
                }
                (_, About { job, .. }) => api(status_of(&code), code, job),
            }
        }
        _ => Error::Database(error),
    }
}

/// The status that a code has in the HTTP API.
fn status_of(code: &str) -> u16 {
    match code {
        "idempotency_key_reused" => 422,
        "id_taken" | "checkpoint_conflict" => 409,
        "job_not_found" => 404,
        "payload_too_large" => 413,
        _ => 400,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_transaction::InSchema;

    /// Answers this, whatever it is asked, and remembers what that was.
    struct Answers<'a>(Result<&'a str, DatabaseError>, &'a mut Vec<String>);

    impl PostgresTransaction for Answers<'_> {
        async fn text(
            &mut self,
            statement: &str,
            parameters: &[&str],
        ) -> Result<String, DatabaseError> {
            self.1.push(statement.to_owned());
            self.1.extend(parameters.iter().map(ToString::to_string));
            self.0.clone().map(str::to_owned)
        }
    }

    fn check(state: &str, detail: Option<&str>, status: Option<u16>, shown: &str) {
        let error = refusal(DatabaseError::answered("cause", state, "no", detail), "halyard");
        assert_eq!(error.status(), status, "{state}");
        assert_eq!(error.to_string(), shown, "{state}");
    }

    #[test]
    fn refusals() {
        let no_functions =
            "the schema \"halyard\" of this database has no functions of a Halyard server: no";
        check("42883", None, None, no_functions);
        check("3F000", None, None, no_functions);
        check("22P05", None, Some(400), "no (400 invalid_field)");
        check("40001", None, None, "no");
        check("YH001", Some("no JSON"), None, "no");
        let detail = |code: &str| format!(r#"{{"code":"{code}","about":{{"job":"job_1"}}}}"#);
        for (code, status, shown) in [
            ("lease_lost", None, "the job was aborted: its lease is lost"),
            ("idempotency_key_reused", Some(422), "no (422 idempotency_key_reused)"),
            ("id_taken", Some(409), "no (409 id_taken)"),
            ("job_not_found", Some(404), "no (404 job_not_found)"),
            ("payload_too_large", Some(413), "no (413 payload_too_large)"),
            ("unknown_field", Some(400), "no (400 unknown_field)"),
        ] {
            check("YH000", Some(&detail(code)), status, shown);
        }
        let detail = r#"{"code":"checkpoint_conflict","about":{"checkpoint":"a","value":1.50}}"#;
        let error = refusal(DatabaseError::answered("", "YH004", "no", Some(detail)), "halyard");
        let Error::CheckpointConflict(conflict) = error else { panic!("{error:?}") };
        assert_eq!(conflict.value.as_deref().map(RawValue::get), Some("1.50"));
    }

    #[tokio::test]
    async fn schemas() {
        let lease = Lease { id: "job_1", token: "t" };
        let value = RawValue::from_string("1".to_owned()).expect("JSON");
        for (schema, is_good) in [
            ("halyard", true),
            ("_Jobs2", true),
            ("", false),
            ("2a", false),
            ("a b", false),
            ("a\"b", false),
            (&*"x".repeat(SCHEMA_CHARS_MAX), true),
            (&*"x".repeat(SCHEMA_CHARS_MAX + 1), false),
        ] {
            let mut asked = Vec::new();
            let answers = Answers(Ok(r#"{"cancel_requested":true,"repeated":false}"#), &mut asked);
            let written = checkpoint(InSchema::new(schema, answers), lease, "a", &value).await;
            assert_eq!(matches!(written, Ok(true)), is_good, "{schema}: {written:?}");
            assert_eq!(matches!(written, Err(Error::Settings(_))), !is_good, "{schema}");
            let called = format!("\"{schema}\".checkpoint_job(");
            assert_eq!(asked.iter().any(|text| text.contains(&called)), is_good, "{asked:?}");
        }
        let mut asked = Vec::new();
        let odd = finish(Answers(Ok("[7]"), &mut asked), lease, &value).await;
        assert!(matches!(odd, Err(Error::Settings(_))), "{odd:?}");
        assert_eq!(asked.get(1..), Some(&["job_1", "t", "1"].map(str::to_owned)[..]));
    }
}
