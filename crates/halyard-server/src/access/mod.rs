//! Who may do what: keys and the browsers that signed in with them, as one server knows them.
//!
//! | room | what |
//! |---|---|
//! | [`secret`] | making a key or the secret of a cookie, and what is kept of them |
//! | [`keyring`] | the keys and sign-ins of the store, in memory: no call waits for the store |
//! | [`attempts`] | how often a wrong key may be tried |
//!
//! The endpoints are in [`http`](crate::http), the command in [`cli`](crate::cli), the rows in the
//! store. Deliberately absent: passwords, and sign-in through somebody else; a proxy in front can
//! ask for either.

pub mod attempts;
pub mod keyring;
pub mod secret;

pub use halyard_core::role::Role;

/// Keys that one store holds at most.
pub const KEYS_MAX: usize = 1_000;

/// How long a browser stays signed in.
pub const SESSION_MS: i64 = 12 * 3_600_000;
