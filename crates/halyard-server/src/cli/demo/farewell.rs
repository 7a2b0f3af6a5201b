//! What is said last: where to look, or what to try next.

use super::Sabotage;
use super::stage::Stage;
use super::voices::Narrator;

/// Names what can be tried next.
pub(super) fn invite(out: &Narrator) {
    let sabotage = Sabotage::NoIdempotencyKey.name();
    for (what, arguments) in [
        ("Leave all of it running, to look around:", "--keep".to_owned()),
        ("The same with a handler that forgets the key:", format!("--sabotage {sabotage}")),
    ] {
        out.print(&format!("\n{what}\n  {}", command(&arguments)));
    }
}

/// Says why the count is wrong, when it was meant to be.
pub(super) fn explain(sabotage: Sabotage, out: &Narrator) {
    match sabotage {
        Sabotage::NoIdempotencyKey => {
            out.print(
                "\nThe handler was made to charge without the key: each attempt took the money.",
            );
        }
    }
}

/// Says where everything is, while it is left running.
pub(super) fn look_around(stage: &Stage) {
    let out = &stage.narrator;
    let directory = stage.directory.path().display();
    let url = stage.halyard.url();
    out.print(&format!("\nAll of it is left running, with worker 3. The dashboard: {url}"));
    out.print("From another terminal:\n");
    if let Ok(program) = std::env::current_exe() {
        out.print(&format!("  alias halyard={}", program.display()));
    }
    out.print(&format!("  export HALYARD_URL={url}"));
    for command in [
        "halyard jobs list".to_owned(),
        "halyard jobs list --state failed".to_owned(),
        format!("curl {}/test/charges", stage.provider_url),
        format!("sqlite3 {directory}/billing.db 'SELECT * FROM invoices'"),
    ] {
        out.print(&format!("  {command}"));
    }
    out.print(&format!("\nCtrl-C ends it. {directory} stays."));
}

/// The demo with other arguments, called as it was called this time.
fn command(arguments: &str) -> String {
    match std::env::var_os("MAKELEVEL") {
        Some(_) => format!("make demo ARGS=\"{arguments}\""),
        None => format!("halyard demo {arguments}"),
    }
}
