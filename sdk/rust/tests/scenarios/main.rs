//! What every SDK must do (`sdk/scenarios/scenarios.json`), done by the Rust SDK against the real
//! server.
//!
//! One test for each scenario, called by its name; [`scenarios`] makes the tests and the list of
//! names, and a test holds that list against the file.
//!
//! | file | |
//! |---|---|
//! | `creating` `operating` `faults` | scenarios of producers and operators |
//! | `running` `failing` `checkpointing` | scenarios of handlers |
//! | `leasing` `stopping` | scenarios of workers and their processes |
//! | `server` `proxy` `script` `process` `work` | what they stand on |

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

mod checkpointing;
mod creating;
mod failing;
mod faults;
mod leasing;
mod operating;
mod process;
mod proxy;
mod running;
mod script;
mod server;
mod stopping;
mod work;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long [`until`] waits before it gives up: far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a test of each scenario.
macro_rules! scenarios {
    ($($file:ident: $($name:ident)*;)*) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let record = Record::begin(stringify!($name));
                $file::$name().await;
                record.passed();
            }
        )*)*

        const SCENARIOS: &[&str] = &[$($(stringify!($name)),*),*];
    };
}

scenarios! {
    creating: create_and_read replay mismatch if_failed joined_creates joined_create_refused
        create_batch values no_json;
    operating: operate wait;
    faults: lost_answers lost_requests temporary_refusals silence not_there
        odd_answers not_running;
    running: success retry_after snooze small_claims fake_job key_for hooks;
    failing: failures retry_classes odd_errors;
    checkpointing: checkpoints checkpoint_rules;
    leasing: timeout cancel lease_lost frozen_claim blocked_handler poison restart;
    stopping: shutdown second_signal start_stop stopped_at_once;
}

/// What the run of a scenario leaves for `scripts/scenario-table`, in the folder that
/// `SCENARIO_RESULTS` names; nothing without one.
struct Record(Option<PathBuf>);

impl Record {
    /// Until it is said to have passed, it has failed.
    fn begin(name: &str) -> Self {
        let folder =
            std::env::var_os("SCENARIO_RESULTS").map(|one| PathBuf::from(one).join("rust"));
        let record = Self(folder.map(|folder| folder.join(name)));
        if let Some(path) = &record.0 {
            std::fs::create_dir_all(path.with_file_name("")).expect("the folder of the results");
            std::fs::write(path.with_extension("failed"), "").expect("a result");
        }
        record
    }

    fn passed(self) {
        if let Some(path) = self.0 {
            let failed = path.with_extension("failed");
            std::fs::rename(failed, path.with_extension("passed")).expect("a result");
        }
    }
}

/// The file of scenarios.
fn file() -> Value {
    let text = include_str!("../../../scenarios/scenarios.json");
    serde_json::from_str(text).expect("the file of scenarios")
}

/// The table `name` of a scenario.
fn data<T: DeserializeOwned>(scenario: &str, name: &str) -> T {
    let file = file();
    let all = file["scenarios"].as_array().expect("scenarios");
    let found = all.iter().find(|other| other["name"] == scenario).expect("the scenario");
    serde_json::from_value(found["data"][name].clone()).expect("its data")
}

#[test]
fn every_scenario_is_run() {
    let file = file();
    let all = file["scenarios"].as_array().expect("scenarios");
    let described: BTreeSet<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
    let run: BTreeSet<&str> = SCENARIOS.iter().copied().collect();
    assert_eq!(run, described);
}

/// Asks `ready` again and again until it answers `Some`, and returns that.
async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut ready: impl FnMut() -> F) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = ready().await {
            return found;
        }
        assert!(Instant::now() < give_up, "waited {PATIENCE:?} in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
