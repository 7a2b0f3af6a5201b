//! Reader and schema agree: what OpenAPI says a call takes is what its reader takes, member by
//! member and parameter by parameter. Everything is driven from the generated schema, so a member
//! that is added on one side only fails here.
#![expect(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use std::collections::BTreeMap;

use halyard_api::jobs::{
    batch, bulk, checkpoints, claim, create, delete, finish, get, heartbeat, list, retry,
    run_as_new,
};
use halyard_api::problem::Code::{self, InvalidField, MissingField, UnknownField};
use halyard_api::workers::WorkerIdentity;
use halyard_api::{Body, Faults, api_keys, audit, keys, session};
use serde_json::{Map, Value, json};
use utoipa::openapi::path::ParameterIn;
use utoipa::{IntoParams, ToSchema};

type Read = fn(&Body<'_>) -> Result<(), Faults>;

/// An object of a request, as its schema describes it and as a reader meets it.
struct Object {
    schema: Value,
    parts: BTreeMap<String, Value>,
    /// `%` stands for the object; its pointer within the body.
    body: &'static str,
    pointer: &'static str,
    read: Read,
    /// Whether members that the schema does not list are refused.
    strict: bool,
    /// Members that take any JSON value.
    any: &'static [&'static str],
    /// Members that every body has, because others count only beside them.
    fixed: Value,
    /// Members that do not count beside the fixed ones.
    idle: &'static [&'static str],
}

impl Object {
    fn new<T: ToSchema>(body: &'static str, pointer: &'static str, read: Read) -> Self {
        let mut parts = Vec::new();
        T::schemas(&mut parts);
        let named = |(name, part)| (name, serde_json::to_value(part).unwrap());
        Self {
            schema: serde_json::to_value(T::schema()).unwrap(),
            parts: parts.into_iter().map(named).collect(),
            body,
            pointer,
            read,
            strict: true,
            any: &[],
            fixed: json!({}),
            idle: &[],
        }
    }

    fn lenient(self) -> Self {
        Self { strict: false, ..self }
    }

    fn any(self, any: &'static [&'static str]) -> Self {
        Self { any, ..self }
    }

    fn beside(self, fixed: Value, idle: &'static [&'static str]) -> Self {
        Self { fixed, idle, ..self }
    }

    fn required(&self) -> Vec<&str> {
        let required = self.schema.get("required").and_then(Value::as_array);
        required.into_iter().flatten().map(|name| name.as_str().unwrap()).collect()
    }

    /// A value that fits a schema.
    fn sample(&self, schema: &Value) -> Value {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let part = self.parts.get(name.rsplit('/').next().unwrap()).unwrap();
            return self.sample(part);
        }
        if let Some(either) = schema.get("oneOf").and_then(Value::as_array) {
            let null = |schema: &&Value| schema.get("type") != Some(&json!("null"));
            return self.sample(either.iter().find(null).unwrap());
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words.first().unwrap().clone();
        }
        let least = schema.get("minimum").cloned().unwrap_or_else(|| json!(1));
        match kind(schema) {
            "string" if schema.get("format") == Some(&json!("date-time")) => {
                json!("2026-11-29T08:15:30Z")
            }
            "string" => json!("word"),
            "integer" | "number" => least,
            "boolean" => json!(true),
            "array" => json!([self.sample(schema.get("items").unwrap())]),
            "object" => {
                let mut object = Map::new();
                let properties = schema.get("properties").and_then(Value::as_object);
                for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                    let name = name.as_str().unwrap();
                    object.insert(name.to_owned(), self.sample(&properties.unwrap()[name]));
                }
                Value::Object(object)
            }
            _ => json!({"any": [1]}),
        }
    }

    /// The smallest object that is accepted.
    fn base(&self) -> Map<String, Value> {
        let mut base = self.sample(&self.schema).as_object().unwrap().clone();
        base.extend(self.fixed.as_object().unwrap().clone());
        base
    }

    /// What the reader says of the object.
    fn faults(&self, object: &Map<String, Value>) -> Vec<(Code, String, String)> {
        let text = self.body.replace('%', &serde_json::to_string(object).unwrap());
        let body = Body::parse(text.as_bytes()).unwrap();
        let faults = (self.read)(&body).err().unwrap_or_default();
        let told =
            |e: &halyard_api::problem::FieldError| (e.code, e.pointer.clone(), e.message.clone());
        faults.errors().iter().map(told).collect()
    }

    fn check(&self) {
        let base = self.base();
        assert_eq!(self.faults(&base), [], "{base:?}");
        let properties = self.schema.get("properties").and_then(Value::as_object).unwrap();
        for (name, schema) in properties {
            let pointer = format!("{}/{name}", self.pointer);
            if !self.idle.contains(&name.as_str()) {
                self.check_member(&base, name, schema, &pointer);
            }
            self.check_neighbour(&base, name);
        }
        for name in self.required() {
            let mut object = base.clone();
            object.remove(name);
            let pointer = format!("{}/{name}", self.pointer);
            let found = self.faults(&object);
            let (code, at, _) = found.first().unwrap();
            assert_eq!((found.len(), *code, at), (1, MissingField, &pointer), "without {name}");
        }
    }

    /// A sample is accepted, `null` too if the member is optional, another type is refused.
    fn check_member(&self, base: &Map<String, Value>, name: &str, schema: &Value, pointer: &str) {
        let with = |value: Value| {
            let mut object = base.clone();
            object.insert(name.to_owned(), value);
            self.faults(&object)
        };
        assert_eq!(with(self.sample(schema)), [], "{name}");
        if !self.required().contains(&name) {
            assert_eq!(with(json!(null)), [], "{name}");
        }
        let any = self.any.contains(&name);
        assert_eq!(any, kind(schema).is_empty() || name == "error", "{name} takes any value");
        let other = if is_kind(schema, "boolean") { json!("true") } else { json!(true) };
        let found = with(other);
        let refused: Vec<_> = found.iter().map(|(code, at, _)| (*code, at.as_str())).collect();
        let wanted: &[(Code, &str)] = if any { &[] } else { &[(InvalidField, pointer)] };
        assert_eq!(refused, wanted, "{name} of another type");
    }

    /// A name that is nearly a known one is unknown, and the known one is suggested.
    fn check_neighbour(&self, base: &Map<String, Value>, name: &str) {
        let unknown = format!("{name}_");
        let mut object = base.clone();
        object.insert(unknown.clone(), json!(1));
        let found = self.faults(&object);
        if !self.strict {
            return assert_eq!(found, [], "{unknown}");
        }
        let (code, at, message) = found.first().unwrap();
        let pointer = format!("{}/{unknown}", self.pointer);
        assert_eq!((found.len(), *code, at), (1, UnknownField, &pointer));
        assert!(message.ends_with(&format!("did you mean \"{name}\"?")), "{message}");
    }
}

/// The type of a schema, `null` aside; empty where any value goes or it is a reference.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap()
        }
        _ if schema.get("$ref").is_some() || schema.get("oneOf").is_some() => "reference",
        _ => "",
    }
}

fn is_kind(schema: &Value, wanted: &str) -> bool {
    kind(schema) == wanted
}

#[test]
fn bodies() {
    let create: Read = |body| create::read(body).map(drop);
    let batch: Read = |body| batch::read(body).map(drop);
    let claim: Read = |body| claim::read(body).map(drop);
    let heartbeat: Read = |body| heartbeat::read(body).map(drop);
    let finish: Read = |body| finish::read(body).map(drop);
    let report = || {
        Object::new::<finish::Report>(r#"{"outcomes":[%]}"#, "/outcomes/0", finish)
            .lenient()
            .any(&["result", "error"])
    };
    for object in [
        Object::new::<create::CreateJob>("%", "", create).any(&["payload"]),
        Object::new::<create::CreateJob>(r#"{"jobs":[%]}"#, "/jobs/0", batch).any(&["payload"]),
        Object::new::<create::CreateBackoff>(r#"{"task":"t","backoff":%}"#, "/backoff", create),
        Object::new::<batch::CreateBatch>("%", "", batch),
        Object::new::<retry::Retry>("%", "", |body| retry::read(body).map(drop)),
        Object::new::<run_as_new::RunAsNew>("%", "", |body| run_as_new::read(body).map(drop))
            .any(&["payload"]),
        Object::new::<api_keys::CreateApiKey>("%", "", |body| api_keys::read(body).map(drop)),
        Object::new::<session::StartSession>("%", "", |body| session::read(body).map(drop)),
        Object::new::<bulk::Bulk>("%", "", |body| bulk::read(body).map(drop)),
        Object::new::<claim::Claim>("%", "", claim).lenient().beside(json!({"claim_id": "c"}), &[]),
        Object::new::<WorkerIdentity>(r#"{"worker":%,"queues":["q"]}"#, "/worker", claim).lenient(),
        Object::new::<heartbeat::Heartbeat>("%", "", heartbeat).lenient(),
        Object::new::<heartbeat::HeldLease>(
            r#"{"worker":{"id":"w"},"leases":[%]}"#,
            "/leases/0",
            heartbeat,
        )
        .lenient(),
        Object::new::<finish::Finish>("%", "", finish).lenient(),
        report().beside(
            json!({"outcome": "completed"}),
            &["error", "retryable", "retry_after_ms", "delay_ms"],
        ),
        report().beside(json!({"outcome": "failed"}), &["result", "delay_ms"]),
        report().beside(
            json!({"outcome": "snoozed", "delay_ms": 1000}),
            &["result", "error", "retryable", "retry_after_ms", "delay_ms"],
        ),
        Object::new::<checkpoints::WriteCheckpoint>("%", "", |body| {
            checkpoints::read(body).map(drop)
        })
        .lenient()
        .any(&["value"]),
    ] {
        object.check();
    }
}

/// Every parameter of the schema is taken once, with a value of its type; no other is.
fn check_query<T: IntoParams>(read: fn(Option<&str>) -> Result<(), Faults>) {
    let parameters = T::into_params(|| Some(ParameterIn::Query));
    assert!(!parameters.is_empty());
    let sample = |parameter: &utoipa::openapi::path::Parameter| {
        let schema = serde_json::to_value(&parameter.schema).unwrap();
        let value = match (parameter.name.as_str(), kind(&schema)) {
            ("state", _) => "failed",
            ("order", _) => "desc",
            ("created_after" | "created_before", _) => "2026-11-29T08:15:30Z",
            (_, "integer") => "1",
            (_, "boolean") => "true",
            _ => "word",
        };
        format!("{}={value}", parameter.name)
    };
    let all: Vec<String> = parameters.iter().map(sample).collect();
    let codes = |raw: &str| {
        let faults = read(Some(raw)).err().unwrap_or_default();
        let told = |e: &halyard_api::problem::FieldError| (e.code, e.pointer.clone());
        faults.errors().iter().map(told).collect::<Vec<_>>()
    };
    assert_eq!(codes(&all.join("&")), [], "{all:?}");
    for (parameter, pair) in parameters.iter().zip(&all) {
        let name = &parameter.name;
        let one = |code| vec![(code, format!("?{name}"))];
        assert_eq!(codes(&format!("{}&{pair}", all.join("&"))), one(InvalidField), "{name} twice");
        let unknown = format!("{}&{name}_=1", all.join("&"));
        assert_eq!(codes(&unknown), [(UnknownField, format!("?{name}_"))]);
        let without: Vec<&str> =
            all.iter().filter(|other| *other != pair).map(String::as_str).collect();
        let found = codes(&without.join("&"));
        let needed = parameter.required == utoipa::openapi::Required::True;
        // A list by key needs the task too, which the schema cannot say.
        let needed = needed || (name == "task" && without.iter().any(|p| p.starts_with("idem")));
        assert_eq!(found, if needed { one(MissingField) } else { vec![] }, "without {name}");
    }
}

#[test]
fn queries() {
    check_query::<create::CreateQuery>(|raw| create::read_query(raw).map(drop));
    check_query::<get::GetQuery>(|raw| get::read_query(raw).map(drop));
    check_query::<delete::DeleteQuery>(|raw| delete::read_query(raw).map(drop));
    check_query::<list::ListJobs>(|raw| list::read_query(raw).map(drop));
    check_query::<audit::ListAudit>(|raw| audit::read_query(raw).map(drop));
    check_query::<keys::FindKey>(|raw| keys::read_query(raw).map(drop));
}

/// What the Rust SDK sends is what the reader takes.
#[test]
fn requests_as_the_sdk_writes_them() {
    let job = create::CreateJob { task: "t".to_owned(), ..create::CreateJob::default() };
    assert_eq!(serde_json::to_string(&job).unwrap(), r#"{"task":"t"}"#);
    let report = finish::Report::released("a".to_owned(), "t".to_owned());
    let sent = finish::Finish { outcomes: vec![report] };
    let text = serde_json::to_string(&sent).unwrap();
    assert_eq!(text, r#"{"outcomes":[{"id":"a","token":"t","outcome":"released"}]}"#);
    let body = Body::parse(text.as_bytes()).unwrap();
    assert_eq!(finish::read(&body).unwrap().outcomes.len(), 1);
}

/// The words of a closed list are the same in JSON, in the schema and in `WORDS`.
fn check_words<T>(all: &[T], words: &[&str], from_word: fn(&str) -> Option<T>)
where
    T: ToSchema + serde::Serialize + PartialEq + std::fmt::Debug,
{
    let schema = serde_json::to_value(T::schema()).unwrap();
    assert_eq!(schema.get("enum").unwrap(), &json!(words));
    assert_eq!(serde_json::to_value(all).unwrap(), json!(words));
    for (member, word) in all.iter().zip(words) {
        assert_eq!(from_word(word).as_ref(), Some(member));
    }
    assert_eq!(from_word(""), None);
}

#[test]
fn word_lists() {
    use halyard_api::state::{
        AttemptState, BulkAction, ErrorKind, IfFailed, Order, Outcome, RetryReason, State,
    };
    check_words(State::ALL, State::WORDS, State::from_word);
    check_words(AttemptState::ALL, AttemptState::WORDS, AttemptState::from_word);
    check_words(ErrorKind::ALL, ErrorKind::WORDS, ErrorKind::from_word);
    check_words(RetryReason::ALL, RetryReason::WORDS, RetryReason::from_word);
    check_words(IfFailed::ALL, IfFailed::WORDS, IfFailed::from_word);
    check_words(Outcome::ALL, Outcome::WORDS, Outcome::from_word);
    check_words(BulkAction::ALL, BulkAction::WORDS, BulkAction::from_word);
    check_words(Order::ALL, Order::WORDS, Order::from_word);
    check_words(Code::ALL, Code::WORDS, Code::from_word);
    use finish::FinishStatus;
    use heartbeat::HeartbeatStatus;
    check_words(FinishStatus::ALL, FinishStatus::WORDS, FinishStatus::from_word);
    check_words(HeartbeatStatus::ALL, HeartbeatStatus::WORDS, HeartbeatStatus::from_word);
}
