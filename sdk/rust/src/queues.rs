//! The calls about queues.

use halyard_api::queues::{Queue, QueuesAnswer};

use crate::connection::Connection;
use crate::error::Error;

/// The calls about queues. Every one may fail with [`Error::Connection`] and [`Error::Api`].
#[derive(Clone, Copy)]
pub struct Queues<'a> {
    pub(crate) connection: &'a Connection,
}

impl Queues<'_> {
    /// Every queue, by name.
    pub async fn list(&self) -> Result<Vec<Queue>, Error> {
        let request = self.connection.get(&["v1", "queues"])?;
        Ok(self.connection.send(&request).await?.json::<QueuesAnswer>()?.data)
    }

    /// One queue.
    ///
    /// # Errors
    ///
    /// `queue_not_found`.
    pub async fn get(&self, name: &str) -> Result<Queue, Error> {
        let request = self.connection.get(&["v1", "queues", name])?;
        self.connection.send(&request).await?.json()
    }

    /// Makes claims pass the queue by. An unknown queue is made.
    pub async fn pause(&self, name: &str) -> Result<Queue, Error> {
        let request = self.connection.post(&["v1", "queues", name, "pause"])?;
        self.connection.send(&request).await?.json()
    }

    /// Lets claims take from the queue again.
    ///
    /// # Errors
    ///
    /// `queue_not_found`.
    pub async fn resume(&self, name: &str) -> Result<Queue, Error> {
        let request = self.connection.post(&["v1", "queues", name, "resume"])?;
        self.connection.send(&request).await?.json()
    }
}
