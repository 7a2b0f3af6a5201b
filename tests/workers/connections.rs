//! A proxy that closes connections on which nothing was said for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use halyard::{HandlerResult, Job, State};
use halyard_tests::server::Server;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::net::{TcpListener, TcpStream};

use crate::work::{begin, client, new_job, url};

/// How long the proxy keeps a silent connection.
const IDLE: Duration = Duration::from_millis(30);

/// Listens, and gives its address; counts the connections that it closed.
async fn proxy(server: &Server, closed: &Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (server, closed) = (server.address(), Arc::clone(closed));
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let closed = Arc::clone(&closed);
            tokio::spawn(async move {
                // At the test's end the server goes before its worker does.
                let Ok(upstream) = TcpStream::connect(server).await else { return };
                client.set_nodelay(true).unwrap();
                upstream.set_nodelay(true).unwrap();
                pass(&client, &upstream).await;
                closed.fetch_add(1, Ordering::SeqCst);
            });
        }
    });
    format!("http://{address}")
}

/// Passes bytes both ways until one side ends, or for too long nothing comes between two calls.
async fn pass(client: &TcpStream, server: &TcpStream) {
    let mut piece = vec![0; 64 * 1024];
    // A call under way is waited for; the silence between two calls is not.
    let mut under_way = false;
    loop {
        tokio::select! {
            ready = client.readable() => {
                match ready.and_then(|()| client.try_read(&mut piece)) {
                    Ok(length) if length > 0 => {
                        under_way = true;
                        if !send(server, &piece[..length]).await { return }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    _ => return,
                }
            }
            ready = server.readable() => {
                match ready.and_then(|()| server.try_read(&mut piece)) {
                    Ok(length) if length > 0 => {
                        under_way = false;
                        if !send(client, &piece[..length]).await { return }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    _ => return,
                }
            }
            () = tokio::time::sleep(IDLE), if !under_way => return,
        }
    }
}

async fn send(to: &TcpStream, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match to.writable().await.and_then(|()| to.try_write(bytes)) {
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
    }
    true
}

/// Case 64 · Long poll against client and proxy defaults
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_64_keep_alive_races_never_surface_and_never_double() {
    const CALLERS: u64 = 12;
    const CALLS: usize = 100;
    let server = Server::start();
    let closed = Arc::new(AtomicUsize::new(0));
    let proxied = proxy(&server, &closed).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let handler = move |_: Job| {
        let count = Arc::clone(&count);
        async move { HandlerResult::Ok(count.fetch_add(1, Ordering::SeqCst)) }
    };
    let worker = begin(&client(&proxied), |worker| worker.task("t", handler)).await;
    let callers: Vec<_> = (0..CALLERS)
        .map(|number| {
            let halyard = client(&proxied);
            tokio::spawn(async move {
                let mut chance = StdRng::seed_from_u64(number);
                let mut ids = Vec::new();
                for _ in 0..CALLS {
                    let made = halyard.jobs().create(new_job("t")).await.unwrap();
                    assert!(!made.replayed, "a first create that was sent again says so");
                    ids.push(made.id);
                    // From before to after the moment at which the proxy gives up.
                    let gap = IDLE.as_micros() as u64 + chance.random_range(0..4000) - 2000;
                    tokio::time::sleep(Duration::from_micros(gap)).await;
                }
                ids
            })
        })
        .collect();
    let halyard = client(&url(&server));
    let mut made = 0;
    for caller in callers {
        for id in caller.await.unwrap() {
            let job = crate::work::ended(&halyard, &id).await;
            assert_eq!((job.state, job.starts, job.rejected), (State::Completed, 1, 0), "{job:?}");
            made += 1;
        }
    }
    let all = CALLERS as usize * CALLS;
    assert_eq!(made, all);
    assert_eq!(runs.load(Ordering::SeqCst), all);
    assert_eq!(halyard.queues().get("q").await.unwrap().counts.completed, all as u64);
    let closed = closed.load(Ordering::SeqCst);
    assert!(closed > all / 20, "only {closed} connections were closed for their silence");
    worker.stop().await;
}
