//! The Redis and the PostgreSQL of `scripts/services`.

fn url(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} names no server: scripts/services run cargo test -p halyard --all-features")
    })
}

#[cfg(feature = "redis")]
pub(crate) async fn redis() -> redis::aio::MultiplexedConnection {
    let client = redis::Client::open(url("HALYARD_TEST_REDIS_URL")).expect("an address");
    client.get_multiplexed_async_connection().await.expect("a connection to Redis")
}

#[cfg(feature = "redis")]
pub(crate) async fn redis_store()
-> halyard::processed::RedisStore<redis::aio::MultiplexedConnection> {
    halyard::processed::RedisStore::new(redis().await)
}

#[cfg(feature = "postgres")]
pub(crate) async fn postgres() -> tokio_postgres::Client {
    let url = url("HALYARD_TEST_POSTGRES_URL");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .expect("a connection to PostgreSQL");
    tokio::spawn(connection);
    client
}

#[cfg(feature = "postgres")]
pub(crate) async fn postgres_store() -> halyard::processed::PostgresStore {
    let store = halyard::processed::PostgresStore::new(std::sync::Arc::new(postgres().await));
    store.migrate().await.expect("a table");
    store
}
