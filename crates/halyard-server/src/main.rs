//! The binary `halyard`. Everything it does is a command in [`halyard_server::cli`].

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    halyard_server::cli::run()
}
