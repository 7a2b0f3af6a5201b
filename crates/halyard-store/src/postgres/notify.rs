//! Telling other servers on the same database that jobs became claimable, and hearing it.
//!
//! A hint, and no more: it is sent after the commit, in a statement of its own, at most once in
//! [`APART`], and when it is lost, every server still looks for itself once a second. So nothing of
//! it stands in a job's transaction, where one `NOTIFY` waits for another.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use halyard_core::job::{Name, State};
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;

use super::connect::Lone;
use super::lanes::Shared;
use super::loaded::Hands;
use super::{Ran, Trouble};
use crate::clock::pause;
use crate::verbs::Change;

/// The least time between two hints of one server.
const APART: Duration = Duration::from_millis(50);
/// PostgreSQL's own bound is 8,000 bytes; more queues than fit are looked for by the others.
const PAYLOAD_BYTES_MAX: usize = 7_000;
/// So long a silent connection is trusted, and so long it may take to answer.
const TRUSTED_FOR: Duration = Duration::from_secs(15);
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Between two tries to listen.
const RECONNECT: Duration = Duration::from_secs(2);

/// Queues that other servers are to hear of.
#[derive(Default)]
pub(super) struct Hints {
    queues: Mutex<BTreeSet<Name>>,
    some: Notify,
}

impl Hints {
    /// Takes note of the queues in which jobs became claimable.
    pub(super) fn hear(&self, changes: &[Change]) {
        let queued = changes.iter().filter(|change| change.state == Some(State::Queued));
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let before = queues.len();
        queues.extend(queued.map(|change| Name::clone(&change.queue)));
        if queues.len() > before {
            self.some.notify_one();
        }
    }

    fn take(&self) -> BTreeSet<Name> {
        std::mem::take(&mut self.queues.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Tells the others, for as long as the store is open.
pub(super) async fn speak(shared: Arc<Shared>) {
    loop {
        shared.hints.some.notified().await;
        let queues = shared.hints.take();
        if let Err(error) = tell(&shared, &queues).await {
            tracing::debug!(%error, "other servers were not told of new jobs");
        }
        pause(APART).await;
    }
}

async fn tell(shared: &Shared, queues: &BTreeSet<Name>) -> Ran<()> {
    let mut payload = shared.node.clone();
    for queue in queues {
        if payload.len() + queue.len() > PAYLOAD_BYTES_MAX {
            break;
        }
        payload.push('\n');
        payload.push_str(queue);
    }
    let connection = shared.pool.get().await?;
    let hands = Hands::of(&connection, &shared.sql);
    hands.query(&shared.sql.notify, &[&shared.channel, &payload]).await?;
    Ok(())
}

/// Hears the others, for as long as the store is open.
pub(super) async fn listen(shared: Arc<Shared>) {
    loop {
        let trouble = match shared.pool.lone().await {
            Ok(lone) => listen_on(&shared, lone).await,
            Err(trouble) => trouble,
        };
        tracing::debug!(%trouble, "does not hear of other servers' jobs; looks for itself");
        pause(RECONNECT).await;
    }
}

/// Hears until the connection breaks.
async fn listen_on(shared: &Shared, (client, mut connection): Lone) -> Trouble {
    let listen = format!("LISTEN \"{}\"", shared.channel);
    let hear = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match message {
                Ok(AsyncMessage::Notification(told)) => take(shared, told.payload()),
                Ok(_) => {}
                Err(error) => return Trouble::from(error),
            }
        }
        Trouble::Unconnected("the connection was closed".to_owned())
    };
    let ask = async {
        if let Err(error) = client.batch_execute(&listen).await {
            return Trouble::from(error);
        }
        loop {
            pause(TRUSTED_FOR).await;
            match tokio::time::timeout(ANSWER_MAX, client.simple_query("")).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Trouble::from(error),
                Err(_) => return Trouble::Unconnected("it does not answer".to_owned()),
            }
        }
    };
    tokio::select! {
        trouble = hear => trouble,
        trouble = ask => trouble,
    }
}

fn take(shared: &Shared, payload: &str) {
    let mut lines = payload.lines();
    // What this server has done itself it knows.
    if lines.next() != Some(&*shared.node) {
        let queues: Vec<Name> = lines.map(Name::from).collect();
        (shared.on_claimable_elsewhere)(&queues);
    }
}
