//! The commands of the binary `halyard`, one file each.
//!
//! To add one: a file with its arguments and a `run`, a variant of [`Command`], an arm in [`run`].

pub mod bench;
pub mod demo;
pub mod openapi;
pub mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Background jobs that survive crashes.
#[derive(Debug, Parser)]
#[command(name = "halyard", version, about, long_about = None)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    Bench(bench::Args),
    Demo(demo::Args),
    #[command(hide = true)]
    DemoServe(Box<serve::Args>),
    #[command(hide = true)]
    DemoWorker(demo::worker::Args),
    #[command(hide = true)]
    Openapi(openapi::Args),
}

/// Reads the command line and does what it says.
#[must_use]
pub fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve::run(*args),
        Command::Bench(args) => bench::run(&args),
        Command::Demo(args) => demo::run(args),
        Command::DemoServe(args) => demo::serve(*args),
        Command::DemoWorker(args) => demo::worker::run(args),
        Command::Openapi(args) => openapi::run(args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("halyard: {error:#}");
            ExitCode::FAILURE
        }
    }
}
