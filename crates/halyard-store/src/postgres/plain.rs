//! A connection for programs that look at the database beside a store.

use tokio_postgres::Client;

use super::connect::OpenError;
use super::told;
use super::url::Target;

/// A plain connection to the database of a URL, made as a store makes its own. It must be made
/// within a Tokio runtime.
///
/// # Errors
/// When the URL cannot be used, or the database cannot be reached or lets nobody in.
pub async fn plain(url: &str) -> Result<Client, OpenError> {
    let target = Target::parse(url)?;
    let tls = target.tls.connector()?;
    let connecting = target.config.connect(tls);
    let (client, connection) = connecting
        .await
        .map_err(|error| OpenError::Unreachable { place: target.place(), cause: told(&error) })?;
    // It ends with the client; what ended it before, the client's next call says.
    tokio::spawn(connection);
    Ok(client)
}
