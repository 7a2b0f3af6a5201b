//! The one way in which creates are sent: one alone as `POST /v1/jobs`, several as a batch.
//!
//! A batch that is refused as a whole (400, 413) is sent again without the items that the answer
//! names; when it names none, in halves, until the bad one stands alone. All items keep their ids,
//! so nothing is created twice.

use std::collections::BTreeMap;
use std::ops::Range;

use halyard_api::jobs::create::CreatedJob;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::{Connection, Request};
use crate::error::{Error, FieldError};
use crate::problem;

/// Jobs of one request.
const BATCH_JOBS_MAX: usize = 1_000;
/// Bytes of jobs in one request.
const BATCH_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A create, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The job as JSON, its id in it.
    pub(crate) body: Box<RawValue>,
    /// The id, when this client made it: then a job with it is new.
    pub(crate) made_id: Option<String>,
    /// Whether it may have an effect twice without an `Idempotency-Key`, and so is not joined with
    /// what others create.
    pub(crate) alone: bool,
}

type Created = Result<CreatedJob, Error>;

/// Sends one create.
pub(crate) async fn one(connection: &Connection, item: &Item) -> Created {
    let body = item.body.get().as_bytes().to_vec();
    let request = keyed(connection.post(&["v1", "jobs"])?.body(body), item.alone);
    connection.send(&request).await?.json().map(|job| own(item, job))
}

/// Sends creates in order; a result for each.
pub(crate) async fn all(connection: &Connection, items: &[Item]) -> Vec<Created> {
    let mut results: Vec<Option<Created>> = items.iter().map(|_| None).collect();
    for part in parts(items.iter().map(|item| item.body.get().len())) {
        send_part(connection, items, part.collect(), &mut results).await;
    }
    let missing = || Err(Error::Settings("a create has no result".to_owned()));
    results.into_iter().map(|result| result.unwrap_or_else(missing)).collect()
}

/// How items of these sizes are shared out among requests.
pub(crate) fn parts(sizes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (index, size) in sizes.enumerate() {
        match parts.last_mut() {
            Some(part) if part.len() < BATCH_JOBS_MAX && bytes + size <= BATCH_BYTES_MAX => {
                part.end = index + 1;
                bytes += size;
            }
            _ => {
                parts.push(index..index + 1);
                bytes = size;
            }
        }
    }
    parts
}

/// Sends the items at these places, and what is left of them after a refusal, until each has its
/// result.
async fn send_part(
    connection: &Connection,
    items: &[Item],
    places: Vec<usize>,
    results: &mut [Option<Created>],
) {
    let mut waiting = vec![places];
    while let Some(places) = waiting.pop() {
        let chosen: Vec<&Item> = places.iter().filter_map(|place| items.get(*place)).collect();
        let mut settle = |place: usize, result: Created| {
            if let Some(slot) = places.get(place).and_then(|place| results.get_mut(*place)) {
                *slot = Some(result);
            }
        };
        match chosen.as_slice() {
            [] => {}
            [item] => settle(0, one(connection, item).await),
            _ => match batch(connection, &chosen).await {
                Ok(created) => created.into_iter().enumerate().for_each(|(n, job)| settle(n, job)),
                Err(error) => match divide(&error, chosen.len()) {
                    Division::None => {
                        (0..places.len()).for_each(|place| settle(place, Err(error.clone())));
                    }
                    Division::Named(mut named) => {
                        let rest = |place: &usize| !named.contains_key(place);
                        let rest: Vec<usize> = (0..places.len()).filter(rest).collect();
                        let rest = rest.iter().filter_map(|n| places.get(*n).copied()).collect();
                        while let Some((place, error)) = named.pop_first() {
                            settle(place, Err(error));
                        }
                        waiting.push(rest);
                    }
                    Division::Halves => {
                        let (first, second) = places.split_at(places.len() / 2);
                        waiting.push(second.to_vec());
                        waiting.push(first.to_vec());
                    }
                },
            },
        }
    }
}

/// Sends several creates as one batch.
async fn batch(connection: &Connection, items: &[&Item]) -> Result<Vec<Created>, Error> {
    let bytes: usize = items.iter().map(|item| item.body.get().len() + 1).sum();
    let mut body = Vec::with_capacity(bytes + 16);
    for (item, start) in
        items.iter().zip(std::iter::once(r#"{"jobs":["#).chain([","].into_iter().cycle()))
    {
        body.extend_from_slice(start.as_bytes());
        body.extend_from_slice(item.body.get().as_bytes());
    }
    body.extend_from_slice(b"]}");
    let request = connection.post(&["v1", "jobs", "batch"])?.body(body);
    let alone = items.iter().any(|item| item.alone);
    let answer = connection.send(&keyed(request, alone)).await?;
    let read: BatchAnswer = answer.json()?;
    if read.results.len() != items.len() {
        return Err(answer.unexpected("as many results as jobs were expected"));
    }
    Ok(items.iter().zip(read.results).map(|(item, result)| result.read(item)).collect())
}

fn keyed(request: Request, alone: bool) -> Request {
    if alone { request.once() } else { request }
}

/// A job whose id was made for this create is new, also when an answer was lost on the way and a
/// repeat of the same create got this one.
fn own(item: &Item, mut job: CreatedJob) -> CreatedJob {
    if item.made_id.as_ref() == Some(&job.id) {
        job.replayed = false;
    }
    job
}

/// The answer to a batch, whose errors are read as loosely as any other.
#[derive(Deserialize)]
struct BatchAnswer {
    results: Vec<BatchResult>,
}

#[derive(Deserialize)]
struct BatchResult {
    status: u16,
    job: Option<CreatedJob>,
    error: Option<Box<RawValue>>,
}

impl BatchResult {
    fn read(self, item: &Item) -> Created {
        match self.job {
            Some(job) => Ok(own(item, job)),
            None => {
                let body = self.error.as_deref().map_or("", RawValue::get);
                Err(problem::read(self.status, None, body.as_bytes()))
            }
        }
    }
}

/// What to do about a batch that was refused as a whole.
#[derive(Debug)]
enum Division {
    /// The refusal concerns every item.
    None,
    /// It names the items that are wrong; the others go again.
    Named(BTreeMap<usize, Error>),
    /// It is about some item, and does not say which.
    Halves,
}

fn divide(error: &Error, items: usize) -> Division {
    let Error::Api(refusal) = error else { return Division::None };
    if !matches!(refusal.status, 400 | 413) {
        return Division::None;
    }
    let mut named: BTreeMap<usize, Vec<FieldError>> = BTreeMap::new();
    for fault in &refusal.errors {
        if let Some((place, pointer)) = split_pointer(&fault.pointer)
            && place < items
        {
            let fault = FieldError { pointer: pointer.to_owned(), ..fault.clone() };
            named.entry(place).or_default().push(fault);
        }
    }
    if named.is_empty() {
        return Division::Halves;
    }
    let own_error = |errors: Vec<FieldError>| {
        let mut own = (**refusal).clone();
        if let [first, ..] = errors.as_slice() {
            own.detail.clone_from(&first.message);
            if !first.code.is_empty() {
                own.code.clone_from(&first.code);
                // The batch had one status for faults of both kinds.
                own.status = if own.code == "payload_too_large" { 413 } else { 400 };
            }
        }
        own.errors = errors;
        Error::Api(Box::new(own))
    };
    Division::Named(named.into_iter().map(|(place, errors)| (place, own_error(errors))).collect())
}

/// `/jobs/50/task` is item 50 and `/task` in it.
fn split_pointer(pointer: &str) -> Option<(usize, &str)> {
    let rest = pointer.strip_prefix("/jobs/")?;
    let (place, pointer) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    place.parse().ok().map(|place| (place, pointer))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharing_out() {
        const MIB: usize = 1024 * 1024;
        for (sizes, expected) in [
            (vec![], vec![]),
            (vec![1], vec![1]),
            (vec![1; 1000], vec![1000]),
            (vec![1; 1001], vec![1000, 1]),
            (vec![MIB; 9], vec![8, 1]),
            (vec![20 * MIB, 1, 1], vec![1, 2]),
            (vec![8 * MIB, 1], vec![1, 1]),
        ] {
            let parts = parts(sizes.iter().copied());
            assert_eq!(parts.iter().map(Range::len).collect::<Vec<_>>(), expected);
            assert!(parts.into_iter().flatten().eq(0..sizes.len()));
        }
    }

    #[test]
    fn pointers() {
        for (pointer, expected) in [
            ("/jobs/50/task", Some((50, "/task"))),
            ("/jobs/0", Some((0, ""))),
            ("/jobs/1/payload/a/0", Some((1, "/payload/a/0"))),
            ("/jobs", None),
            ("/jobs/x/task", None),
            ("", None),
        ] {
            assert_eq!(split_pointer(pointer), expected, "{pointer}");
        }
    }

    fn refusal(status: u16, body: &str) -> Error {
        problem::read(status, None, body.as_bytes())
    }

    #[test]
    fn refused_batches() {
        let named = refusal(
            400,
            r#"{"code":"invalid_field","detail":"2 faults","errors":[
                {"code":"invalid_field","pointer":"/jobs/1/queue","message":"queue is bad"},
                {"code":"missing_field","pointer":"/jobs/3","message":"task is missing"},
                {"code":"payload_too_large","pointer":"/jobs/2/payload","message":"too large"},
                {"code":"invalid_field","pointer":"/jobs/1/priority","message":"too high"},
                {"code":"invalid_field","pointer":"/jobs/9/priority","message":"beyond"}]}"#,
        );
        let Division::Named(items) = divide(&named, 4) else { panic!("items are named") };
        let shown: Vec<_> =
            items.iter().map(|(place, error)| (*place, error.to_string())).collect();
        assert_eq!(
            shown,
            [
                (1, "queue is bad (400 invalid_field)".to_owned()),
                (2, "too large (413 payload_too_large)".to_owned()),
                (3, "task is missing (400 missing_field)".to_owned()),
            ]
        );
        let Some(Error::Api(first)) = items.get(&1) else { panic!("an error of the API") };
        let pointers: Vec<_> = first.errors.iter().map(|fault| fault.pointer.as_str()).collect();
        assert_eq!(pointers, ["/queue", "/priority"]);

        let too_large = refusal(413, r#"{"code":"payload_too_large","detail":"too large"}"#);
        assert!(matches!(divide(&too_large, 4), Division::Halves));
        for status in [401, 403, 404, 409, 415, 421, 503] {
            assert!(matches!(divide(&refusal(status, "{}"), 4), Division::None), "{status}");
        }
    }
}
