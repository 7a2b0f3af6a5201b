//! `halyard completions`: what a shell needs to complete a command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;

/// Print a script that makes a shell complete halyard's commands.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard completions bash > ~/.local/share/bash-completion/completions/halyard
  halyard completions zsh > ~/.zfunc/_halyard
  halyard completions fish > ~/.config/fish/completions/halyard.fish")]
pub struct Args {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Prints it.
///
/// # Errors
/// Standard output is closed.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "halyard", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}
