//! A whole server in this process, spoken to over real sockets, on the model store.
//!
//! | file | what |
//! |---|---|
//! | [`served`] | the server, and a client that sends what it is told, byte by byte |
//! | [`refusals`] | every code of the API: what earns it, and what it says |
//! | [`conflicts`] | what is refused because of what is there already |
//! | [`tolerant`] | what worker calls take that others would not |
//! | [`access`] | route × key, hosts, origins, read-only |
//! | [`keyring`] | keys with roles, sign-ins, the audit log |
//! | [`revoked`] | waits of a revoked key, and a server without any |
//! | [`browsers`] | what another site's page may make a browser do: nothing |
//! | [`answers`] | what calls answer when all is well |
//! | [`waiting`] | claims and reads that wait, clients that hang up |
//! | [`listening`] | job changes as events |
//! | [`ending`] | draining |
//! | [`rough`] | raw bytes: sizes, smuggling, slow clients |
//! | [`described`] | the OpenAPI document agrees with the route table, and is fresh |
//! | [`documented`] | so do the pages for people, which name every metric and setting too |

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod access;
mod answers;
mod browsers;
mod conflicts;
mod described;
mod documented;
mod ending;
mod keyring;
mod listening;
mod refusals;
mod revoked;
mod rough;
mod served;
mod tolerant;
mod waiting;
