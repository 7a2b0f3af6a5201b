//! Accepting connections, each with its limits, and letting them go at the end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::App;
use super::connection::{Connection, Link};
use super::entry;

/// Connections at one time; further ones are told to come back.
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

const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n\
    Content-Length: 0\r\nConnection: close\r\n\r\n";

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

/// Serves until `stop` says so; then finishes the calls under way, for at most `grace`.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    mut stop: watch::Receiver<bool>,
    grace: Duration,
) {
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            biased;
            () = told(&mut stop) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                    connections.spawn(turn_away(stream));
                    continue;
                };
                let (app, stop) = (Arc::clone(&app), stop.clone());
                connections.spawn(async move {
                    connection(stream, app, stop).await;
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

async fn connection(stream: TcpStream, app: Arc<App>, mut stop: watch::Receiver<bool>) {
    // Answers are small and written whole; waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let link = Link::default();
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

async fn turn_away(mut stream: TcpStream) {
    let told = tokio::time::timeout(Duration::from_secs(1), async {
        stream.write_all(TOO_MANY).await?;
        stream.shutdown().await
    });
    // Whoever does not listen has gone already.
    let _ = told.await;
}
