//! What a worker process tells its parent: a JSON object a line, on its standard output.

use std::io::Write;

use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Note {
    /// It takes jobs from now on.
    Ready,
    /// A handler runs: once for each line, whatever becomes of it.
    Run {
        /// Of which job.
        job_id: String,
        /// Whom it is about: a member's name, or the task.
        subject: String,
        /// Of this life.
        attempt: u64,
        /// From 1.
        life: u64,
        /// The checkpoints of earlier attempts.
        checkpoints: Vec<String>,
    },
    /// Something to print.
    Said {
        /// Whom it is about.
        subject: String,
        /// What happened.
        text: String,
    },
    /// The worker stands at its crash point, and waits to be killed.
    Reached,
}

impl Note {
    /// Tells the parent. A parent that is gone needs no worker.
    pub(super) fn send(&self) {
        let mut out = std::io::stdout().lock();
        let line = serde_json::to_string(self).unwrap_or_default();
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    }
}
