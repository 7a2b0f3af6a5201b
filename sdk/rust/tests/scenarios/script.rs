//! A server that answers what a script says, one answer after the other.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::proxy::message;

/// One answer of the script.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Scripted {
    /// 0: there is no answer.
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) retry_after: Option<String>,
    pub(crate) location: Option<String>,
    /// The code that the error must have.
    pub(crate) code: Option<String>,
    /// What its message must hold.
    pub(crate) message: String,
}

/// A server that plays a script; the last answer is given again and again.
pub(crate) struct Player {
    pub(crate) url: String,
    times: Arc<Mutex<Vec<Instant>>>,
}

impl Player {
    pub(crate) async fn start(answers: Vec<Scripted>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let times = Arc::new(Mutex::new(Vec::new()));
        let (shared, answers) = (Arc::clone(&times), Arc::new(answers));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (times, answers) = (Arc::clone(&shared), Arc::clone(&answers));
                tokio::spawn(async move {
                    let mut unread = Vec::new();
                    while let Ok(Some(_)) = message(&mut client, &mut unread).await {
                        let number = {
                            let mut times = times.lock().expect("times");
                            times.push(Instant::now());
                            times.len() - 1
                        };
                        let answer = answers.get(number).or(answers.last()).expect("an answer");
                        if answer.status == 0 {
                            continue;
                        }
                        if client.write_all(&bytes(answer)).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url: format!("http://{address}"), times }
    }

    /// When each request came.
    pub(crate) fn times(&self) -> Vec<Instant> {
        self.times.lock().expect("times").clone()
    }
}

fn bytes(answer: &Scripted) -> Vec<u8> {
    let header = |name: &str, value: &Option<String>| {
        value.as_ref().map_or(String::new(), |value| format!("{name}: {value}\r\n"))
    };
    let headers =
        header("Retry-After", &answer.retry_after) + &header("Location", &answer.location);
    let (status, length) = (answer.status, answer.body.len());
    format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{}", answer.body)
        .into_bytes()
}
