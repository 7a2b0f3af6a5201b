//! Every command and flag.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::cli::Cli;
use crate::cli::failure::EXIT_CODES;

/// Columns of the help texts.
const COLUMNS: usize = 100;

/// The page.
pub(super) fn text() -> String {
    let mut page = format!(
        "# The command line\n\n\
         <!-- Made by `halyard reference > docs/reference/cli.md`; a test finds it stale. -->\n\n\
         A flag wins over its environment variable, the variable over the default. Commands that \
         speak to a server\nprint tables and sentences on a terminal, and the server's JSON into \
         a pipe or with `--json`.\n\n\
         ```text\n{EXIT_CODES}\n```\n"
    );
    let mut cli = Cli::command().term_width(COLUMNS);
    cli.build();
    for command in cli.get_subcommands() {
        describe(command, "halyard", &mut page);
    }
    page
}

fn describe(command: &Command, parent: &str, page: &mut String) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = format!("{parent} {}", command.get_name());
    // What the variables are set to here is nobody's business, nor is it the same elsewhere.
    let mut shown = command.clone().mut_args(|arg| arg.hide_env_values(true));
    let help = shown.render_long_help().to_string();
    let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    for command in command.get_subcommands() {
        describe(command, &name, page);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_page_is_fresh() {
        let committed = include_str!("../../../../../docs/reference/cli.md");
        assert!(
            super::text() == committed,
            "docs/reference/cli.md is stale; make it anew with: cargo run -q -p halyard-server \
             --bin halyard -- reference > docs/reference/cli.md"
        );
    }
}
