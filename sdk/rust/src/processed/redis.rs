//! Records in the user's Redis: one JSON string each, under `halyard:processed:` and the key.

use std::fmt;
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, FromRedisValue, Value};
use serde_json::value::RawValue;

use super::{Claim, Claimed, Store, StoreError, ms};

/// Before the key.
const PREFIX: &str = "halyard:processed:";
/// Every verb, as one script, so that each is one step.
const SCRIPT: &str = include_str!("record.lua");

/// Records in Redis 6.2 or newer, over the caller's own connection: a `ConnectionManager`, a
/// `MultiplexedConnection` or a cluster's.
///
/// Redis only narrows the window between an effect and its record; see the
/// [module](crate::processed). One that may lose acknowledged writes (no append-only file, a
/// failover) forgets records, and the work is done again.
#[derive(Clone)]
pub struct RedisStore<C> {
    connection: C,
}

impl<C> RedisStore<C>
where
    C: ConnectionLike + Clone + Send + Sync + 'static,
{
    /// On this connection, of which each call uses a copy.
    pub fn new(connection: C) -> Self {
        Self { connection }
    }

    async fn ask<T: FromRedisValue>(&self, key: &str, arguments: &[&str]) -> Result<T, StoreError> {
        let mut command = Cmd::new();
        command.arg("EVAL").arg(SCRIPT).arg(1).arg(format!("{PREFIX}{key}")).arg(arguments);
        let mut connection = self.connection.clone();
        command.query_async(&mut connection).await.map_err(StoreError::because)
    }
}

impl<C> Store for RedisStore<C>
where
    C: ConnectionLike + Clone + Send + Sync + 'static,
{
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let in_progress = ms(claim.in_progress).to_string();
        let expires_in = ms(claim.expires_in).to_string();
        let arguments = ["claim", &claim.fingerprint, &claim.owner, &in_progress, &expires_in];
        let answer: Vec<Value> = self.ask(&claim.key, &arguments).await?;
        read(&answer).ok_or_else(|| {
            StoreError::new(format!("the record of `{}` is none of Halyard's", claim.key))
        })
    }

    async fn complete(
        &self,
        key: &str,
        owner: &str,
        response: &RawValue,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        let expires_in = ms(expires_in).to_string();
        self.ask(key, &["complete", owner, response.get(), &expires_in]).await
    }

    async fn leave(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        self.ask(key, &["leave", owner]).await
    }

    async fn remove(&self, key: &str, owner: &str) -> Result<bool, StoreError> {
        self.ask(key, &["remove", owner]).await
    }
}

fn read(answer: &[Value]) -> Option<Claimed> {
    let text = |value: &Value| String::from_redis_value(value.clone()).ok();
    let number = |value: &Value| u64::from_redis_value(value.clone()).ok();
    match (text(answer.first()?)?.as_str(), answer.get(1)) {
        ("mine", Some(unknown)) => Some(Claimed::Mine { unknown: number(unknown)? == 1 }),
        ("completed", Some(response)) => {
            RawValue::from_string(text(response)?).ok().map(Claimed::Completed)
        }
        ("in_progress", Some(left)) => {
            Some(Claimed::InProgress { left: Duration::from_millis(number(left)?) })
        }
        ("reused", None) => Some(Claimed::Reused),
        _ => None,
    }
}

impl<C> fmt::Debug for RedisStore<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RedisStore").finish_non_exhaustive()
    }
}
