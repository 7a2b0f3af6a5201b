//! Job changes as events.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::served::{PATIENCE, Served};

struct Listener {
    stream: TcpStream,
    text: String,
}

impl Listener {
    async fn start(served: &Served, last_id: Option<&str>) -> Self {
        let mut stream = served.connect().await;
        let headers: Vec<(&str, &str)> =
            last_id.into_iter().map(|id| ("Last-Event-ID", id)).collect();
        let request = served.request("GET", "/v1/events", &headers, b"");
        stream.write_all(&request).await.unwrap();
        let mut listener = Self { stream, text: String::new() };
        listener.read_until("retry: 1000").await;
        assert!(listener.text.contains("content-type: text/event-stream"), "{}", listener.text);
        assert!(listener.text.contains("cache-control: no-store"), "{}", listener.text);
        listener
    }

    async fn read_until(&mut self, words: &str) {
        while !self.text.contains(words) {
            let mut buffer = [0; 4096];
            let read = timeout(PATIENCE, self.stream.read(&mut buffer)).await;
            let read = read.unwrap_or_else(|_| panic!("no {words:?} in {:?}", self.text)).unwrap();
            assert!(read > 0, "the stream ended without {words:?}: {:?}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    }

    fn events(&self, name: &str) -> Vec<(String, Value)> {
        let marker = format!("\nevent: {name}\ndata: ");
        self.text
            .match_indices(&marker)
            .map(|(at, _)| {
                let id = self.text[..at].rsplit("id: ").next().unwrap().to_owned();
                let data = self.text[at + marker.len()..].split('\n').next().unwrap();
                (id, serde_json::from_str(data).unwrap())
            })
            .collect()
    }
}

#[tokio::test]
async fn a_listener_hears_of_changes_and_goes_on_where_it_was() {
    let served = Served::start().await;
    let mut listener = Listener::start(&served, None).await;
    let id = served.create(json!({"task": "t", "queue": "default"})).await;
    let (_, token) = served.claim().await;
    listener.read_until("running").await;
    let events = listener.events("job");
    let queued = json!({"id": id, "task": "t", "queue": "default", "state": "queued", "life": 1,
        "attempt": 0});
    assert_eq!(events[0].1, queued);
    let last_id = events.last().unwrap().0.clone();
    drop(listener);
    served.finish(&id, &token, json!({"outcome": "completed"})).await;
    let mut listener = Listener::start(&served, Some(&last_id)).await;
    listener.read_until("completed").await;
    assert!(listener.events("reset").is_empty());
    served.call("DELETE", &format!("/v1/jobs/{id}"), Value::Null).await;
    listener.read_until("\"state\":null").await;
}

#[tokio::test]
async fn an_unknown_last_event_id_is_told_to_start_anew() {
    let served = Served::start().await;
    for unknown in ["nonsense", "00000000-1", "1"] {
        let mut listener = Listener::start(&served, Some(unknown)).await;
        listener.read_until("event: reset").await;
        assert_eq!(listener.events("reset").len(), 1);
    }
}
