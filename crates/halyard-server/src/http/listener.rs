//! Accepting connections, each with its limits, and letting them go at the end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use halyard_api::problem::Code;
use http_body_util::{BodyExt, Collected};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::App;
use super::answer::Answer;
use super::connection::{Connection, Link};
use super::entry;
use super::refused::Refused;
use super::request_id::RequestId;

/// Connections at one time; further ones are answered `overloaded`.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Headers of one request.
pub const HEADERS_MAX: usize = 64;

/// Bytes of one request's head.
pub const HEAD_BYTES_MAX: usize = 16 << 10;

/// Bytes that are read ahead on one connection.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// Rest after an accept that failed, most likely for want of file handles.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Connections that the kernel keeps ready for us.
const BACKLOG: u32 = 4_096;

/// How long a connection beyond the limit is kept for its answer.
const TURN_AWAY_MAX: Duration = Duration::from_secs(1);

/// Opens the port.
///
/// # Errors
/// The system's.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
        SocketAddr::V6(_) => tokio::net::TcpSocket::new_v6()?,
    };
    // A restart must not wait for the old connections' last packets.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves at most `connections_max` connections at a time until `stop` says so; then finishes the
/// calls under way, for at most `grace`.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    connections_max: usize,
    mut stop: watch::Receiver<bool>,
    grace: Duration,
) {
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(connections_max));
    loop {
        let accepted = tokio::select! {
            biased;
            () = told(&mut stop) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    connections.spawn(turn_away(stream, Arc::clone(&app)));
                    continue;
                };
                let (app, stop) = (Arc::clone(&app), stop.clone());
                connections.spawn(async move {
                    connection(stream, peer.ip(), app, stop).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let ending = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, ending).await.is_err() {
        tracing::warn!("some calls were still under way at the end");
    }
}

async fn connection(
    stream: TcpStream,
    peer: IpAddr,
    app: Arc<App>,
    mut stop: watch::Receiver<bool>,
) {
    // Answers are small and written whole; waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let link = Link::of(peer);
    let io = TokioIo::new(Connection::new(stream, link.clone(), app.rules.patience));
    let service = service_fn(move |request| entry::serve(Arc::clone(&app), link.clone(), request));
    let serving = http1::Builder::new()
        .header_read_timeout(None)
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .serve_connection(io, service);
    tokio::pin!(serving);
    let ended = tokio::select! {
        biased;
        ended = serving.as_mut() => Some(ended),
        () = told(&mut stop) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Waits until the server is told to stop, or nobody is left who could tell.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Answers `overloaded` to whatever this client asks.
async fn turn_away(mut stream: TcpStream, app: Arc<App>) {
    let told = tokio::time::timeout(TURN_AWAY_MAX, async {
        stream.write_all(&too_many(&app).await).await?;
        stream.shutdown().await?;
        // A socket that is closed with a request unread takes its answer back.
        tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
    });
    // Whoever does not listen has gone already.
    let _ = told.await;
}

/// The refusal as it goes over the wire: no request is read for it.
async fn too_many(app: &App) -> Vec<u8> {
    let id = RequestId::make(app.engine.store.now(), rand::random());
    let detail = "this server has as many connections as it takes; come back later";
    let refused = Refused::new(Code::Overloaded, detail);
    entry::log(&refused, None, id);
    let answer = Answer::refusal(refused, id, None);
    app.metrics.record(None, answer.status(), Duration::ZERO);
    let (head, body) = answer.into_response(id).into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let mut bytes = format!("HTTP/1.1 {}\r\n", head.status).into_bytes();
    for (name, value) in &head.headers {
        bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    let rest = format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    bytes.extend_from_slice(rest.as_bytes());
    bytes.extend_from_slice(&body);
    bytes
}
