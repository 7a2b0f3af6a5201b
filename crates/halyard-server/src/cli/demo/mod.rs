//! `halyard demo`: the guide's story, played on real parts, and a count at its end.
//!
//! A renewal charges ten subscriptions while everything goes wrong that makes a job run twice. The
//! server and the workers are processes of their own, the payment provider is spoken to over HTTP,
//! and the kills are SIGKILL. At the end the charges are counted where the money is, at the
//! provider. `docs/demo.md` goes through it step by step.
//!
//! # Map
//!
//! | file | |
//! |---|---|
//! | [`cast`] | who appears, and what each meets |
//! | [`story`] | the chapters |
//! | [`stage`] | what runs meanwhile |
//! | [`hearing`] | what is heard of it, in words |
//! | [`processes`] | the server and the workers as child processes |
//! | [`voices`] | the lines that are printed |
//! | [`count`] | the count at the end |
//! | [`farewell`] | what to do next |
//! | [`worker`] | the worker process: `halyard demo-worker` |
//! | [`handlers`] | the guide's two handlers |
//! | [`billing`], [`books`] | the company's database, and the closing of a month |
//! | [`payments`] | a client of Stripe's wire |
//! | [`crash`], [`note`] | where a worker dies, and how it tells its parent |
//! | [`provider`] | the payment provider |
//!
//! To let something else go wrong: a [`cast::Fate`] and somebody who has it, what the provider does
//! about it, and what must be true of it at the end.
//!
//! # Deliberately absent
//!
//! A way in of its own: what happens to a job happens through the SDK, like everyone else's.

mod billing;
mod books;
mod cast;
mod count;
mod crash;
mod farewell;
mod handlers;
mod hearing;
mod note;
mod payments;
mod processes;
pub mod provider;
mod stage;
mod story;
mod voices;
pub mod worker;

use std::process::ExitCode;

use clap::ValueEnum;
use tokio::signal::unix::{SignalKind, signal};

use stage::Stage;

/// What a shell reports for a program that a signal ended: 128 and the signal's number.
const HUNG_UP: u8 = 129;
const INTERRUPTED: u8 = 130;
const TERMINATED: u8 = 143;

/// Play a renewal in which all goes wrong that can, and count the charges.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Leave the server, the provider and a worker running afterwards, until Ctrl-C.
    #[arg(long)]
    keep: bool,
    /// Break the handler, to see the count go wrong.
    #[arg(long, value_name = "HOW")]
    sabotage: Option<Sabotage>,
}

/// What can be wrong with the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sabotage {
    /// Charges go to the provider without their key: each attempt takes the money again.
    NoIdempotencyKey,
}

impl Sabotage {
    fn name(self) -> &'static str {
        match self {
            Self::NoIdempotencyKey => "no-idempotency-key",
        }
    }
}

/// Tells the story. The exit code says whether everybody was charged as they should be.
///
/// # Errors
///
/// When the story does not go as it is written.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(play(args))
}

async fn play(args: Args) -> anyhow::Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let stopped = async {
        tokio::select! {
            _ = interrupt.recv() => INTERRUPTED,
            _ = terminate.recv() => TERMINATED,
            _ = hangup.recv() => HUNG_UP,
        }
    };
    tokio::pin!(stopped);

    let mut stage = Stage::set(args.sabotage).await?;
    let told = tokio::select! {
        told = tell(&mut stage) => told,
        code = &mut stopped => {
            stage.strike(false).await?;
            return Ok(ExitCode::from(code));
        }
    };
    let is_right = match told {
        Ok(is_right) => is_right,
        Err(error) => {
            if let Some(last_words) = stage.last_words() {
                anstream::eprintln!("the server's last lines:\n{last_words}");
            }
            stage.strike(false).await?;
            return Err(error);
        }
    };
    if args.keep {
        farewell::look_around(&stage);
        stopped.await;
    } else if let Some(sabotage) = args.sabotage {
        farewell::explain(sabotage, &stage.narrator);
    } else {
        farewell::invite(&stage.narrator);
    }
    stage.strike(args.keep).await?;
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn tell(stage: &mut Stage) -> anyhow::Result<bool> {
    let told = story::tell(stage).await?;
    count::print(stage, &told).await
}
