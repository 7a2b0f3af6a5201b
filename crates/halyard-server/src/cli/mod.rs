//! The commands of the binary `halyard`, one file each.
//!
//! To add one: a file with its arguments and a `run`, a variant of [`Command`], an arm in [`run`].

pub mod backup;
pub mod bench;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod failure;
pub mod jobs;
pub mod keys;
pub mod moving;
pub mod openapi;
pub mod place;
pub mod queues;
pub mod reference;
pub mod remote;
pub mod screen;
pub mod serve;
pub mod span;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Background jobs that survive crashes.
#[derive(Debug, Parser)]
#[command(name = "halyard", version, about, long_about = None, after_help = failure::EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    Jobs(jobs::Args),
    Queues(queues::Args),
    Keys(keys::Args),
    Doctor(doctor::Args),
    Backup(backup::Args),
    Move(moving::Args),
    Demo(demo::Args),
    DemoProvider(demo::provider::command::Args),
    Bench(bench::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    DemoWorker(demo::worker::Args),
    #[command(hide = true)]
    Openapi(openapi::Args),
    #[command(hide = true)]
    Reference(reference::Args),
}

/// Reads the command line and does what it says.
#[must_use]
pub fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve::run(*args),
        Command::Bench(args) => bench::run(&args),
        Command::Demo(args) => demo::run(args),
        Command::DemoProvider(args) => demo::provider::command::run(args),
        Command::DemoWorker(args) => demo::worker::run(args),
        Command::Jobs(args) => jobs::run(args),
        Command::Queues(args) => queues::run(args),
        Command::Keys(args) => keys::run(&args),
        Command::Doctor(args) => doctor::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Move(args) => moving::run(&args),
        Command::Completions(args) => completions::run(args),
        Command::Openapi(args) => openapi::run(args),
        Command::Reference(args) => reference::run(args),
    };
    done.unwrap_or_else(failure::report)
}
