//! Reading a body: at most so long, at most so much, and only JSON.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use halyard_api::problem::Code;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::refused::{Refused, shown};
use super::takes::{DISCARDED_BYTES_MAX, Takes};

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

/// Reads a body.
///
/// # Errors
/// Why it was not read.
pub async fn read_body(
    headers: &HeaderMap,
    mut body: Incoming,
    takes: Takes,
    patience: Duration,
) -> Result<Bytes, Unread> {
    if takes == Takes::Nothing || hyper::body::Body::is_end_stream(&body) {
        return Ok(Bytes::new());
    }
    if let Err(refused) = check_head(headers, takes) {
        discard(body).await;
        return Err(Unread::Refused(refused));
    }
    match tokio::time::timeout(patience, collect(&mut body, takes.bytes_max())).await {
        Ok(Collected::All(bytes)) => {
            if !bytes.is_empty() {
                check_media_type(headers).map_err(Unread::Refused)?;
            }
            Ok(bytes)
        }
        Ok(Collected::TooLarge) => {
            discard(body).await;
            Err(Unread::Refused(too_large(takes.bytes_max())))
        }
        Ok(Collected::Broken) | Err(_) => Err(Unread::Stalled),
    }
}

/// Reads on, for a client that is going to be refused.
pub async fn discard(mut body: Incoming) {
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
}

enum Collected {
    All(Bytes),
    TooLarge,
    Broken,
}

async fn collect(body: &mut Incoming, bytes_max: usize) -> Collected {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Collected::Broken };
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + all.len() + data.len() > bytes_max {
            return Collected::TooLarge;
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        if all.is_empty() {
            let expected = hyper::body::Body::size_hint(body).lower();
            let expected = usize::try_from(expected).unwrap_or(0).min(bytes_max);
            all.reserve(first.len() + data.len() + expected);
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&data);
    }
    Collected::All(if all.is_empty() { first } else { all.freeze() })
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
