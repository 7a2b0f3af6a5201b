//! A server under load at a database, what goes wrong meanwhile, and the verdict.

use halyard_tests::checker::{check, explain};
use halyard_tests::history::{Entry, History, Recorder, Reply};
use halyard_tests::load::{self, LEASE_MS, Load, healing};
use halyard_tests::postgres::Url;
use halyard_tests::server::{Server, Setup};
use halyard_tests::until;
use halyard_tests::wire::Client;

const CLIENTS: usize = 6;
/// In a queue of its own: nobody is to work on it.
const OTHER: &str = r#"{"task": "other", "queue": "health"}"#;
/// So many creates in a row say that the trouble is over.
const HEALTHY: usize = 50;

/// What all threads of a run share.
pub(crate) struct Trial {
    pub(crate) server: Server,
    load: Load,
}

/// A server on this database.
pub(crate) fn server_on(url: &Url) -> Server {
    Setup::new().env("HALYARD_DATABASE_URL", &url.to_string()).start()
}

impl Trial {
    /// Runs a server on this database under load while `trouble` is made and ended, and judges.
    /// Returns what the clients saw.
    pub(crate) fn run(url: &Url, trouble: impl FnOnce(&Self)) -> History {
        let trial = Self { server: server_on(url), load: Load::new(LEASE_MS) };
        let seed = std::env::var("HALYARD_SEED").ok().and_then(|text| text.parse().ok());
        let seed: u64 = seed.unwrap_or_else(rand::random);
        println!("HALYARD_SEED={seed}");
        std::thread::scope(|scope| {
            let trial = &trial;
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| scope.spawn(move || load::run(trial, number, seed)))
                .collect();
            trial.until_more(100);
            // The clients end with the test, also when that fails.
            let end = EndOf(&trial.load);
            trouble(trial);
            trial.until_healthy();
            trial.until_more(200);
            drop(end);
            for client in clients {
                client.join().expect("a client that got its answers");
            }
        });
        trial.judge()
    }

    /// What the clients of the load saw.
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.load.recorder
    }

    pub(crate) fn client(&self) -> Client {
        self.server.client()
    }

    /// Waits until clients have had so many more changes acknowledged.
    pub(crate) fn until_more(&self, count: usize) {
        let acknowledged = || {
            let history = self.recorder().history();
            history.entries.iter().filter(|it| it.call.mutates() && it.success().is_some()).count()
        };
        let before = acknowledged();
        until("more work to be done", || (acknowledged() >= before + count).then_some(()));
    }

    /// Notes that the database was away, from `from` until a call is answered.
    pub(crate) fn outage_since(&self, from: u64) {
        self.until_healthy();
        self.recorder().outage(from, self.recorder().now());
    }

    /// Notes an outage from `from` on if there was one: stamps can fail for as long as that while
    /// other calls succeed between them. The server's log knows.
    pub(crate) fn outage_if_any_since(&self, from: u64) {
        if self.server.process().log().contains("live leases began anew") {
            self.outage_since(from);
        }
    }

    /// Waits until calls succeed in a row.
    pub(crate) fn until_healthy(&self) {
        let mut client = self.client();
        until("creates that succeed", || {
            let made = || {
                let answer = client.try_call("POST", "/v1/jobs", Some(OTHER.as_bytes()));
                answer.is_ok_and(|answer| answer.status == 201)
            };
            std::iter::repeat_with(made).take(HEALTHY).all(|made| made).then_some(())
        });
    }

    fn judge(self) -> History {
        healing::finish_everything(&self);
        let ending = healing::ending(&self);
        healing::counters_agree(&self, &ending);
        let history = self.recorder().history();
        let count =
            |is: &dyn Fn(&Entry) -> bool| history.entries.iter().filter(|it| is(it)).count();
        println!(
            "{} calls, {} succeeded, {} without a known outcome",
            history.entries.len(),
            count(&|entry| entry.success().is_some()),
            count(&Entry::unknown),
        );
        let log = self.server.process().log();
        for line in log.lines().filter(|line| line.contains("refused a group")).take(5) {
            println!("{line}");
        }
        let violations = check(&history, &ending);
        assert!(violations.is_empty(), "{}", explain(&history, &ending, &violations, 5));
        assert!(!log.contains("panicked"), "{log}");
        assert_eq!(self.server.process().kill(), None, "it had ended by itself:\n{log}");
        history
    }
}

impl load::Run for Trial {
    fn load(&self) -> &Load {
        &self.load
    }

    fn client(&self, _wish: usize) -> (usize, Client) {
        (0, self.server.client())
    }
}

/// Ends the load when it is dropped.
struct EndOf<'a>(&'a Load);

impl Drop for EndOf<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Calls that the server answered with an error of its own.
pub(crate) fn refused(history: &History) -> Vec<&Entry> {
    let own =
        |entry: &&Entry| matches!(&entry.reply, Reply::Unknown(told) if told.starts_with('{'));
    history.entries.iter().filter(own).collect()
}
