//! Reading a body: at most so long, at most so much, and only JSON.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use halyard_api::problem::Code;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refused::{Refused, shown};
use super::takes::{DISCARDED_BYTES_MAX, Takes};

/// KiB of all bodies together that are being read or worked on, those aside that came in one piece.
pub const BODIES_KIB_MAX: usize = 256 << 10;

/// KiB by which a body's share of it grows.
const ROOM_STEP_KIB: usize = 64;

/// A body that is refused is read on for so long, see [`DISCARDED_BYTES_MAX`].
const DISCARD_MAX: Duration = Duration::from_secs(5);

/// How reading a body ended.
#[derive(Debug)]
pub enum Unread {
    /// The call is refused.
    Refused(Refused),
    /// The client sent no more; there is nobody to answer.
    Stalled,
}

/// A body, and the room that it takes up.
#[derive(Debug, Default)]
pub struct ReadBody {
    /// The bytes.
    pub bytes: Bytes,
    /// Given back when the call is over.
    pub room: Option<OwnedSemaphorePermit>,
}

/// The room for bodies that did not come in one piece. A small body takes none.
#[derive(Clone, Debug)]
pub struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BODIES_KIB_MAX)))
    }
}

/// Reads a body. How long that may take is the connection's to say.
///
/// # Errors
/// Why it was not read.
pub async fn read_body(
    headers: &HeaderMap,
    mut body: Incoming,
    takes: Takes,
    room: &Room,
) -> Result<ReadBody, Unread> {
    if takes == Takes::Nothing || hyper::body::Body::is_end_stream(&body) {
        return Ok(ReadBody::default());
    }
    if let Err(refused) = check_head(headers, takes) {
        discard(body).await;
        return Err(Unread::Refused(refused));
    }
    match collect(&mut body, takes.bytes_max(), room).await {
        Collected::All(body) => {
            if !body.bytes.is_empty() {
                check_media_type(headers).map_err(Unread::Refused)?;
            }
            Ok(body)
        }
        Collected::TooLarge => {
            discard(body).await;
            Err(Unread::Refused(too_large(takes.bytes_max())))
        }
        Collected::NoRoom => {
            discard(body).await;
            let detail = "too many large bodies are being read; send this one again later";
            Err(Unread::Refused(Refused::new(Code::Overloaded, detail)))
        }
        Collected::Broken => Err(Unread::Stalled),
    }
}

/// Reads on, for a client that is going to be refused. Boxed, since it holds a timer: timers are
/// large and oddly aligned, and would make every call's future so.
pub fn discard(mut body: Incoming) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let reading = async {
            let mut read = 0;
            while let Some(Ok(frame)) = body.frame().await {
                read += frame.data_ref().map_or(0, Bytes::len);
                if read > DISCARDED_BYTES_MAX {
                    break;
                }
            }
        };
        // Whether it ended or not, what was to be read is read.
        let _ = tokio::time::timeout(DISCARD_MAX, reading).await;
    })
}

enum Collected {
    All(ReadBody),
    TooLarge,
    NoRoom,
    Broken,
}

async fn collect(body: &mut Incoming, bytes_max: usize, room: &Room) -> Collected {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    let mut taken = None;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Collected::Broken };
        let Ok(data) = frame.into_data() else { continue };
        let length = first.len() + all.len() + data.len();
        if length > bytes_max {
            return Collected::TooLarge;
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        // For what has come, not for what was declared: a declaration costs its sender nothing.
        if !room.take(&mut taken, length) {
            return Collected::NoRoom;
        }
        if all.is_empty() {
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    let bytes = if all.is_empty() { first } else { all.freeze() };
    Collected::All(ReadBody { bytes, room: taken })
}

impl Room {
    /// Makes `taken` large enough for so many bytes; says whether there was room for it.
    fn take(&self, taken: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> bool {
        let has = taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let needs = bytes.div_ceil(1 << 10).next_multiple_of(ROOM_STEP_KIB);
        if needs <= has {
            return true;
        }
        let more = u32::try_from(needs - has).unwrap_or(u32::MAX);
        let Ok(more) = Arc::clone(&self.0).try_acquire_many_owned(more) else { return false };
        match taken {
            Some(taken) => taken.merge(more),
            None => *taken = Some(more),
        }
        true
    }
}

fn check_head(headers: &HeaderMap, takes: Takes) -> Result<(), Refused> {
    let declared = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.parse::<u64>().ok());
    if declared.is_some_and(|length| length > takes.bytes_max() as u64) {
        return Err(too_large(takes.bytes_max()));
    }
    match headers.get(CONTENT_ENCODING) {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            let coding = shown(&String::from_utf8_lossy(coding.as_bytes()));
            let detail = format!("Content-Encoding is {coding}; send the body as it is");
            Err(Refused::new(Code::UnsupportedMediaType, detail))
        }
        _ => Ok(()),
    }
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Refused> {
    let sent = headers.get(CONTENT_TYPE).map(|value| value.as_bytes()).unwrap_or_default();
    let essence = sent.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if essence.eq_ignore_ascii_case(b"application/json") {
        return Ok(());
    }
    let sent =
        if sent.is_empty() { "missing".to_owned() } else { shown(&String::from_utf8_lossy(sent)) };
    let detail = format!("Content-Type is {sent}; it must be application/json");
    Err(Refused::new(Code::UnsupportedMediaType, detail))
}

fn too_large(bytes_max: usize) -> Refused {
    let detail = format!("the body is larger than {bytes_max} bytes, the limit of this call");
    Refused::new(Code::PayloadTooLarge, detail)
}
