//! `halyard demo-provider`: the provider by itself, for the examples and for trying a client.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::{Behaviours, Provider, SECRET_KEY_DEFAULT};

/// Run the demo's payment provider alone: Stripe's wire on this machine, and no money.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
It speaks enough of Stripe's wire for the official clients to run against it: charges, payment
intents, customers, test cards, Idempotency-Key. It keeps everything in memory.
  GET /test/charges            every charge, also without a key
  GET /test/summary            counts of calls, replays and charges
  PUT /test/customers/{id}     make a customer; the body says what it meets, {} for nothing
  POST /test/release           end the waits of the calls under way")]
pub struct Args {
    /// Address and port; port 0 takes a free one. The first line of output names it.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7374")]
    listen: SocketAddr,
    /// The secret key that callers must send as bearer token.
    #[arg(long, value_name = "KEY", default_value = SECRET_KEY_DEFAULT)]
    key: String,
}

/// Serves until SIGINT or SIGTERM.
///
/// # Errors
///
/// When it cannot listen there.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(provide(args))
}

async fn provide(args: Args) -> anyhow::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let behaviours = Behaviours { secret_key: args.key, ..Behaviours::default() };
    let provider = Provider::start(listener, behaviours)?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on http://{}", provider.address())?;
    out.flush()?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    provider.stop().await?;
    Ok(ExitCode::SUCCESS)
}
