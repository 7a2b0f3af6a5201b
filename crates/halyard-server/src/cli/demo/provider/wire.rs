//! Stripe's HTTP: who may call, what a call's body is, which headers an answer carries.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::watch;

use super::answer::Answer;
use super::behaviour::Behaviours;
use super::clock::Clock;
use super::form;
use super::id;
use super::keys::Keyed;
use super::ledger::{Call, Ledger};
use super::route::{Route, Write};
use super::witness::Witness;

const BODY_BYTES_MAX: usize = 64 * 1024;
/// The characters of a wrong key that its refusal shows.
const KEY_CHARS_SHOWN: usize = 12;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const ORIGINAL_REQUEST: HeaderName = HeaderName::from_static("original-request");
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const STRIPE_VERSION: HeaderName = HeaderName::from_static("stripe-version");

/// What all calls share.
#[derive(Debug)]
pub(super) struct Shop {
    secret_key: String,
    ledger: Mutex<Ledger>,
    pub(super) clock: Clock,
    /// A message ends the waits of the calls under way; `true` those of later calls too.
    released: watch::Sender<bool>,
    witness: Option<Witness>,
}

impl Shop {
    pub(super) fn new(behaviours: Behaviours) -> Self {
        let clock = Clock::default();
        let mut ledger = Ledger::default();
        for (customer, behaviour) in behaviours.customers {
            ledger.script(&customer, behaviour, clock.now_ms());
        }
        Self {
            secret_key: behaviours.secret_key,
            ledger: Mutex::new(ledger),
            clock,
            released: watch::Sender::new(false),
            witness: behaviours.witness,
        }
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, customer: Option<String>, answer: &Answer, hold_ms: u64) {
        if let Some(witness) = &self.witness {
            witness.tell(customer, answer, hold_ms);
        }
    }

    /// Ends the waits of the calls under way.
    pub(super) fn release(&self) {
        self.released.send_modify(|_| ());
    }

    /// Ends all waits from now on.
    pub(super) fn release_for_good(&self) {
        self.released.send_replace(true);
    }
}

/// Answers every call under `/v1/`.
pub(super) async fn call(State(shop): State<Arc<Shop>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let request_id = id::request();
    let answer = match answer_to(&shop, &head, body, &request_id).await {
        Ok(answer) | Err(answer) => answer,
    };
    render(&answer, &head.headers, &request_id)
}

async fn answer_to(
    shop: &Arc<Shop>,
    head: &Parts,
    body: Body,
    request_id: &str,
) -> Result<Answer, Answer> {
    let authorized = authorize(&shop.secret_key, &head.headers);
    shop.ledger().count_call(authorized.is_ok());
    authorized?;
    let path = head.uri.path();
    let Some(route) = Route::find(&head.method, path) else {
        let message = format!(
            "Unrecognized request URL ({}: {path}). Please see https://stripe.com/docs or we can \
             help at https://support.stripe.com/.",
            head.method
        );
        return Err(Answer::invalid(message).status(StatusCode::NOT_FOUND));
    };
    let write = match route {
        Route::Read(read) => {
            let fields = form::parse(head.uri.query().unwrap_or_default().as_bytes())?;
            return shop.ledger().read(&read, &fields);
        }
        Route::Write(write) => write,
    };
    let call = read_call(head, body, write, request_id).await?;
    // A task of its own: when the client hangs up, this future is dropped and the task goes on.
    let running = tokio::spawn(run(Arc::clone(shop), call));
    running.await.unwrap_or_else(|_| Err(Answer::internal()))
}

async fn run(shop: Arc<Shop>, call: Call) -> Result<Answer, Answer> {
    // Listen first: who sees the call under way may release it at once.
    let mut released = shop.released.subscribe();
    let customer = shop.ledger().customer_of(&call);
    let admitted = match shop.ledger().admit(&call, shop.clock.now_ms()) {
        Ok(admitted) => admitted,
        Err(answer) => {
            shop.tell(customer, &answer, 0);
            return Err(answer);
        }
    };
    let (work_ms, hold_ms) = (admitted.behaviour.work_ms, admitted.behaviour.hold_ms);
    wait(&mut released, work_ms).await;
    let mut released = shop.released.subscribe();
    let answer = shop.ledger().finish(admitted, shop.clock.now_ms());
    shop.tell(customer, &answer, hold_ms);
    wait(&mut released, hold_ms).await;
    Ok(answer)
}

async fn wait(released: &mut watch::Receiver<bool>, ms: u64) {
    let for_good = *released.borrow();
    if ms > 0 && !for_good {
        // Both ends, the time and the release, mean the same.
        let _ = tokio::time::timeout(Duration::from_millis(ms), released.changed()).await;
    }
}

fn authorize(secret_key: &str, headers: &HeaderMap) -> Result<(), Answer> {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let message = match authorization.and_then(|value| value.split_once(' ')) {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => match key.trim() {
            key if key == secret_key => return Ok(()),
            key => {
                let shown: String = key.chars().take(KEY_CHARS_SHOWN).collect();
                format!("Invalid API Key provided: {shown}***")
            }
        },
        Some(_) | None => "You did not provide an API key. You need to provide your API key in \
                           the Authorization header, using Bearer auth (e.g. 'Authorization: \
                           Bearer YOUR_SECRET_KEY')."
            .to_owned(),
    };
    Err(Answer::invalid(message).status(StatusCode::UNAUTHORIZED))
}

async fn read_call(
    head: &Parts,
    body: Body,
    write: Write,
    request_id: &str,
) -> Result<Call, Answer> {
    let bytes = axum::body::to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| {
        let message = format!("The body cannot be read, or has more than {BODY_BYTES_MAX} bytes.");
        Answer::invalid(message).status(StatusCode::PAYLOAD_TOO_LARGE)
    })?;
    let form = head
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/x-www-form-urlencoded"));
    if !form && !bytes.is_empty() {
        return Err(Answer::invalid(
            "Invalid request (check that your POST content type is \
             application/x-www-form-urlencoded).",
        ));
    }
    let fields = form::parse(&bytes)?;
    let keyed = match head.headers.get(&IDEMPOTENCY_KEY) {
        None => None,
        Some(key) => {
            let key = key.to_str().map_err(|_| {
                Answer::invalid("Idempotency keys are made of visible ASCII characters.")
            })?;
            Some(Keyed {
                key: key.to_owned(),
                path: head.uri.path().to_owned(),
                fields: fields.clone(),
                request_id: request_id.to_owned(),
            })
        }
    };
    Ok(Call { write, fields, keyed })
}

fn render(answer: &Answer, asked: &HeaderMap, request_id: &str) -> Response {
    let mut response = Response::new(Body::from(format!("{:#}\n", answer.json())));
    *response.status_mut() = answer.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for echoed in [IDEMPOTENCY_KEY, STRIPE_VERSION] {
        if let Some(value) = asked.get(&echoed) {
            headers.insert(echoed, value.clone());
        }
    }
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, value);
    }
    if let Some(seconds) = answer.retry_after_s {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Some(Ok(original)) = answer.replay_of.as_deref().map(HeaderValue::from_str) {
        headers.insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
        headers.insert(ORIGINAL_REQUEST, original);
    }
    if answer.status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Bearer realm=\"Stripe\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}
