//! The binary `halyard`. Everything it does is a command in [`halyard_server::cli`].

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(feature = "planted-bugs")]
    if let Err(unknown) = plant() {
        eprintln!("{unknown}");
        return ExitCode::from(64);
    }
    halyard_server::cli::run()
}

/// Plants the bug that `PLANTED_BUG` names, to see which tests of the whole server notice it.
#[cfg(feature = "planted-bugs")]
fn plant() -> Result<(), String> {
    use halyard_core::planted::{Bug, choose, switch};
    let Ok(name) = std::env::var("PLANTED_BUG") else { return Ok(()) };
    let bug = Bug::named(&name).ok_or_else(|| format!("there is no bug called {name:?}"))?;
    choose(bug);
    switch(true);
    Ok(())
}
