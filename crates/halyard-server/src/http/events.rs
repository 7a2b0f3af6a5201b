//! `GET /v1/events`: job changes as server-sent events.
//!
//! Events go out at most every [`PACE`], all that came meanwhile together, so that a busy server
//! does not write a packet for each. A comment line every [`HEARTBEAT`] shows that the connection
//! lives.

use std::fmt::Write;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream;
use halyard_api::events::{EVENT_JOB, EVENT_RESET, JobEvent};
use halyard_api::headers::LAST_EVENT_ID;
use tokio::time::Instant;

use super::App;
use super::answer::Answer;
use super::call::{Call, gone};
use super::convert;
use super::refused::Refused;
use crate::access::keyring::Caller;
use crate::engine::Engine;
use crate::engine::ring::{Heard, Listener};

/// Shortest time between two writes to one listener.
pub const PACE: Duration = Duration::from_millis(100);

/// Longest time between two writes to one listener.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// Events of one write.
const BATCH: usize = 1_000;

/// Job changes as they come: `event: job`, and `event: reset` when some were missed.
#[utoipa::path(
    get,
    path = "/v1/events",
    tag = "operators",
    params(("Last-Event-ID" = Option<String>, Header, description = "Go on behind this event.")),
    responses((status = 200, body = JobEvent, content_type = "text/event-stream",
        description = "Events named `job`, each with a JobEvent as data, and `reset`."))
)]
pub async fn listen(app: &App, call: &Call) -> Result<Answer, Refused> {
    call.no_query()?;
    let last_id = call.parts.headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    let (listener, missed) = app.engine.hints.events.listen(last_id);
    let caller = call.caller.clone();
    Ok(Answer::events(EventBody::new(Arc::clone(&app.engine), caller, listener, missed)))
}

/// The body of such an answer.
pub struct EventBody {
    chunks: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
}

impl EventBody {
    fn new(engine: Arc<Engine>, caller: Option<Caller>, listener: Listener, missed: bool) -> Self {
        let mut greeting = String::from("retry: 1000\n\n");
        if missed {
            write_reset(&mut greeting, &listener.last_id());
        }
        let (greeting, next_at) = (Some(greeting), Instant::now());
        let begin = Telling { engine, caller, listener, greeting, next_at };
        let chunks = stream::unfold(begin, |mut telling| async move {
            let chunk = telling.next().await?;
            Some((Bytes::from(chunk), telling))
        });
        Self { chunks: Box::pin(chunks) }
    }

    /// The next bytes; `None` at the end.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.chunks.as_mut().poll_next(cx)
    }
}

struct Telling {
    engine: Arc<Engine>,
    caller: Option<Caller>,
    listener: Listener,
    greeting: Option<String>,
    next_at: Instant,
}

impl Telling {
    /// The next text to write; `None` when the server drains, or the caller's key was revoked.
    async fn next(&mut self) -> Option<String> {
        if let Some(greeting) = self.greeting.take() {
            return Some(greeting);
        }
        let heartbeat_at = Instant::now() + HEARTBEAT;
        let next = tokio::select! {
            biased;
            () = self.engine.draining() => None,
            () = gone(&self.engine, self.caller.as_ref()) => None,
            () = news(&mut self.listener, self.next_at) => {
                self.next_at = Instant::now() + PACE;
                Some(written(self.listener.read(BATCH)))
            }
            () = tokio::time::sleep_until(heartbeat_at) => Some(":\n\n".to_owned()),
        };
        let now = self.engine.store.now();
        let stands = |caller| self.engine.keyring.stands(caller, now);
        next.filter(|_| self.caller.as_ref().is_some_and(stands))
    }
}

async fn news(listener: &mut Listener, not_before: Instant) {
    listener.wait().await;
    tokio::time::sleep_until(not_before).await;
}

fn written(heard: Heard) -> String {
    let mut text = String::new();
    match heard {
        Heard::Reset(id) => write_reset(&mut text, &id),
        Heard::Changes(changes) => {
            for (id, change) in changes {
                let event = convert::look::event(&change);
                let data = serde_json::to_string(&event).unwrap_or_default();
                // Writing to a string cannot fail.
                let _ = write!(text, "id: {id}\nevent: {EVENT_JOB}\ndata: {data}\n\n");
            }
        }
    }
    text
}

fn write_reset(text: &mut String, id: &str) {
    let _ = write!(text, "id: {id}\nevent: {EVENT_RESET}\ndata: {{}}\n\n");
}
