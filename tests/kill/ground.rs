//! What the clients stand on: one server on a directory, or three on one PostgreSQL.

use std::sync::{RwLock, TryLockError};

use halyard_tests::postgres::{Postgres, Stop};
use halyard_tests::server::{Server, Setup};
use halyard_tests::wire::Client;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::Trial;

/// Servers on one PostgreSQL.
const SERVERS: usize = 3;

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// The server of this number, while others go on if there are any.
    Server(usize),
    /// All servers at once.
    Servers,
    /// PostgreSQL, as `pg_ctl stop -m immediate` does it.
    Stopped,
    /// All processes of PostgreSQL.
    Killed,
    /// One process of PostgreSQL that serves a server: all are ended, and it recovers by itself.
    Crashed,
}

/// The servers, and the database below them.
pub(crate) struct Ground {
    servers: Vec<RwLock<Server>>,
    database: Option<RwLock<Postgres>>,
}

impl Ground {
    /// One server on a directory of its own.
    pub(crate) fn of_one() -> Self {
        Self { servers: vec![RwLock::new(Server::start())], database: None }
    }

    /// Three servers on a PostgreSQL.
    pub(crate) fn on_postgres() -> Self {
        let database = Postgres::start();
        let setup = Setup::new().env("HALYARD_DATABASE_URL", &database.url().to_string());
        let servers = (0..SERVERS).map(|_| RwLock::new(setup.clone().start())).collect();
        Self { servers, database: Some(RwLock::new(database)) }
    }

    /// One after the other, for a look or for the end.
    pub(crate) fn servers(&self) -> &[RwLock<Server>] {
        &self.servers
    }

    pub(crate) fn database(&self) -> Option<&RwLock<Postgres>> {
        self.database.as_ref()
    }

    /// A client of this server, or of the next one that is there; waits when none is.
    pub(crate) fn client(&self, wish: usize) -> (usize, Client) {
        let count = self.servers.len();
        for number in (wish..wish + count).map(|number| number % count) {
            match self.servers[number].try_read() {
                Ok(server) => return (number, server.client()),
                Err(TryLockError::WouldBlock) => (),
                Err(TryLockError::Poisoned(_)) => panic!("a server did not come up again"),
            }
        }
        let number = wish % count;
        (number, self.servers[number].read().unwrap().client())
    }

    /// Whom a kill at a random moment hits.
    pub(crate) fn victim(&self, chance: &mut StdRng) -> Victim {
        let server = Victim::Server(chance.random_range(0..self.servers.len()));
        if self.database.is_none() {
            return server;
        }
        match chance.random_range(0..9) {
            0..4 => server,
            4 => Victim::Servers,
            5 | 6 => Victim::Stopped,
            7 => Victim::Killed,
            _ => Victim::Crashed,
        }
    }

    /// Who is away for long in the `turn`th outage.
    pub(crate) fn victim_for_long(&self, turn: usize) -> Victim {
        if self.database.is_none() {
            return Victim::Server(0);
        }
        [Victim::Stopped, Victim::Server(1), Victim::Servers][turn % 3]
    }

    pub(crate) fn kill(&self, victim: Victim) {
        match victim {
            Victim::Server(number) => kill(&self.servers[number]),
            Victim::Servers => self.servers.iter().for_each(kill),
            Victim::Stopped => self.postgres().write().unwrap().stop(Stop::Immediate),
            Victim::Killed => self.postgres().write().unwrap().kill(),
            Victim::Crashed => self.postgres().read().unwrap().crash(),
        }
    }

    /// Starts again what was killed, after `away`, and tells the recorder how long all of it was
    /// gone: while another server serves, nothing is.
    pub(crate) fn heal(&self, victim: Victim, trial: &Trial, away: impl FnOnce()) {
        let from = trial.load.recorder.now();
        match victim {
            Victim::Server(number) => {
                // Its clients go elsewhere, or wait for this lock.
                let mut server = self.servers[number].write().unwrap();
                away();
                server.restart();
            }
            Victim::Servers => {
                let mut servers: Vec<_> =
                    self.servers.iter().map(|server| server.write().unwrap()).collect();
                away();
                servers.iter_mut().for_each(|server| server.restart());
            }
            Victim::Stopped | Victim::Killed | Victim::Crashed => {
                away();
                if victim != Victim::Crashed {
                    self.postgres().write().unwrap().restart();
                }
                for server in &self.servers {
                    let mut client = server.read().unwrap().client();
                    halyard_tests::until("the server to find PostgreSQL again", || {
                        (client.get("/v1/jobs?limit=1").status == 200).then_some(())
                    });
                }
            }
        }
        match victim {
            Victim::Server(_) if self.servers.len() > 1 => trial.load.recorder.outage(from, from),
            // The last sign of life was up to a second old.
            _ if self.database.is_some() => {
                trial
                    .load
                    .recorder
                    .outage(from.saturating_sub(1_000_000), trial.load.recorder.now());
            }
            _ => trial.load.recorder.outage(from, trial.load.recorder.now()),
        }
    }

    fn postgres(&self) -> &RwLock<Postgres> {
        self.database.as_ref().expect("only a PostgreSQL that is there is killed")
    }
}

fn kill(server: &RwLock<Server>) {
    let server = server.read().unwrap();
    if let Some(status) = server.process().kill() {
        panic!("the server had ended by itself, with {status}:\n{}", server.process().log());
    }
}
