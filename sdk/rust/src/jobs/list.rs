//! A list that fetches its next page by itself.

use std::vec;

use halyard_api::job::JobSummary;
use halyard_api::jobs::list::{ListAnswer, ListJobs};
use serde_json::Value;

use crate::connection::Connection;
use crate::error::Error;

/// Jobs, fetched page by page as they are asked for.
///
/// ```no_run
/// use halyard::{Halyard, ListJobs, State};
///
/// # async fn run() -> Result<(), halyard::Error> {
/// let halyard = Halyard::new()?;
/// let failed = ListJobs { state: vec![State::Failed], ..ListJobs::default() };
/// let mut jobs = halyard.jobs().list(failed);
/// while let Some(job) = jobs.try_next().await? {
///     println!("{} {}", job.id, job.task);
/// }
/// # Ok(())
/// # }
/// ```
pub struct JobPages<'a> {
    connection: &'a Connection,
    filter: ListJobs,
    page: vec::IntoIter<JobSummary>,
    last: bool,
}

impl<'a> JobPages<'a> {
    pub(crate) fn new(connection: &'a Connection, filter: ListJobs) -> Self {
        Self { connection, filter, page: Vec::new().into_iter(), last: false }
    }

    /// The next job; `None` after the last one.
    ///
    /// # Errors
    ///
    /// Those of [`JobPages::next_page`]; the same page is fetched again by the next call.
    pub async fn try_next(&mut self) -> Result<Option<JobSummary>, Error> {
        loop {
            if let Some(job) = self.page.next() {
                return Ok(Some(job));
            }
            match self.next_page().await? {
                Some(page) => self.page = page.data.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// The next page as the server answers it; `None` after the last one. A page may be empty
    /// without being the last, when the server's bound of examined rows ended it (`partial`).
    ///
    /// # Errors
    ///
    /// [`Error::Connection`]; [`Error::Api`] with `invalid_field` for a filter that does not fit.
    pub async fn next_page(&mut self) -> Result<Option<ListAnswer>, Error> {
        if self.last {
            return Ok(None);
        }
        let mut request = self.connection.get(&["v1", "jobs"])?;
        for (name, value) in parameters(&self.filter) {
            request = request.query(&name, &value);
        }
        let page: ListAnswer = self.connection.send(&request).await?.json()?;
        self.last = page.next_cursor.is_none();
        self.filter.cursor.clone_from(&page.next_cursor);
        Ok(Some(page))
    }
}

/// The filter as the parameters of a query.
fn parameters(filter: &ListJobs) -> Vec<(String, String)> {
    let Ok(Value::Object(members)) = serde_json::to_value(filter) else { return Vec::new() };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    members.into_iter().map(|(name, value)| (name, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use halyard_api::Timestamp;
    use halyard_api::state::{Order, State};

    use super::*;

    #[test]
    fn filters() {
        assert_eq!(parameters(&ListJobs::default()), []);
        let filter = ListJobs {
            state: vec![State::Failed, State::Retrying],
            task: Some("a b".to_owned()),
            created_after: Some(Timestamp::from_ms(0)),
            order: Some(Order::Asc),
            limit: Some(20),
            ..ListJobs::default()
        };
        let mut found = parameters(&filter);
        found.sort();
        let shown: Vec<String> =
            found.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            shown,
            [
                "created_after=1970-01-01T00:00:00.000Z",
                "limit=20",
                "order=asc",
                "state=failed,retrying",
                "task=a b"
            ]
        );
    }
}
