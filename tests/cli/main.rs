//! The command line against a real server: what a person sees on a terminal, what a pipe gets, and
//! the exit codes.
//!
//! - [`command`]: runs `halyard`, into a pipe or on a terminal of its own.
//! - [`jobs`], [`refusals`], [`terminal`]: the commands that speak to a server.
//! - [`doctor`], [`backup`]: those that read a data directory; [`keys`], which writes into it.
//! - [`serve`]: the server as a child of another program.

mod backup;
mod command;
mod doctor;
mod jobs;
mod keys;
mod refusals;
mod serve;
mod terminal;
