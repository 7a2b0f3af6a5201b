//! The server `halyard`: HTTP in front, a store behind, and what must happen in between.
//!
//! | room | what |
//! |---|---|
//! | [`http`] | one file per endpoint: parse, authorise, convert, call |
//! | [`engine`] | wake-ups and the loops |
//! | [`access`] | keys, and browsers that signed in with them |
//! | [`serve`] | a server from settings to its end |
//! | [`cli`] | the commands |
//!
//! It is a library too, so that tests run a whole server inside their own process.

pub mod access;
pub mod cli;
pub mod engine;
pub mod http;
pub mod serve;
