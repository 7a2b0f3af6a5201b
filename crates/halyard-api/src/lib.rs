//! The wire of Halyard: what goes over HTTP, and nothing else.
//!
//! Every call of the HTTP API has one file here, and the server's `http/` folder and the SDKs use
//! the same names. A file holds, in this order: the request a client sends (`Serialize`, for the
//! Rust SDK, and `ToSchema`, for OpenAPI), the answer (`Serialize`, `Deserialize`, `ToSchema`) and
//! what the server makes of a request that arrived: a struct `Received` and its strict reader
//! `read`.
//!
//! | where | what |
//! |---|---|
//! | [`jobs`] | the calls under `/v1/jobs`, producers' and workers' |
//! | [`job`] | the job object and its parts, which most answers hold |
//! | [`queues`] [`workers`] [`tasks`] [`keys`] | the calls about other nouns |
//! | [`api_keys`] [`session`] [`audit`] | the calls about who may call |
//! | [`stats`] [`events`] [`health`] [`version`] | the calls about the server itself |
//! | [`body`] [`query`] [`headers`] | what a reader starts from; [`faults`]: what it collects |
//! | [`problem`] | error codes and the body of every answer that is an error |
//! | [`state`] | the closed lists of words: states, outcomes, kinds |
//! | [`timestamp`] | the only form in which a time crosses the wire |
//!
//! Deliberately absent: ranges and name patterns (they are rules of `halyard-core`, checked by the
//! server after reading; here only the shape and the type of a request are checked), HTTP itself.
//!
//! To add a call: write its file with request, answer, `Received` and `read`; name it in the table
//! of `tests/schema.rs`, which proves that reader and schema agree.

pub mod api_keys;
pub mod audit;
pub mod body;
pub mod events;
mod excerpt;
pub mod faults;
mod fields;
pub mod headers;
pub mod health;
pub mod job;
pub mod jobs;
pub mod keys;
mod place;
pub mod problem;
pub mod query;
pub mod queues;
pub mod session;
pub mod state;
pub mod stats;
pub mod tasks;
pub mod timestamp;
pub mod version;
pub mod workers;

pub use body::Body;
pub use faults::Faults;
pub use timestamp::Timestamp;
