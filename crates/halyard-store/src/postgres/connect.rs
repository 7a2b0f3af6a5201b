//! How a store is opened, and what is asked of a database before it is used.

use std::error::Error as _;
use std::sync::Arc;

use halyard_core::job::Name;
use tokio_postgres::error::SqlState;

pub(super) use super::pool::{Lone, Object, Pool};

/// The schema that a store is kept in unless another one is named.
pub const SCHEMA_DEFAULT: &str = "halyard";
/// Connections of a store, unless another number is given.
pub const CONNECTIONS_DEFAULT: usize = 10;
/// Characters of a schema's name at most.
pub const SCHEMA_CHARS_MAX: usize = 40;
/// The oldest PostgreSQL that is served.
pub const VERSION_MIN: u32 = 14;

/// How a PostgreSQL store is opened.
#[derive(Clone)]
pub struct Options {
    /// What every store is opened with.
    pub store: crate::options::Options,
    /// `postgres://user:password@host:port/database?option=value`, with libpq's options, those of
    /// TLS (`sslmode`, `sslrootcert`, `sslcert`, `sslkey`) among them. It is never printed.
    pub url: String,
    /// The schema that holds the store, made when it is not there: a letter or `_`, then letters,
    /// digits and `_`, at most [`SCHEMA_CHARS_MAX`] of them, all ASCII.
    pub schema: String,
    /// Connections at most, at least 2.
    pub connections: usize,
    /// Whose clock decides.
    pub time: Time,
    /// Hears of queues in which another server on the database made jobs claimable.
    pub on_claimable_elsewhere: OnClaimableElsewhere,
    /// Hears of a broken invariant, after which nothing that this process would write can be
    /// trusted. A server exits here.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Hears of queues in which another server made jobs claimable: a hint.
pub type OnClaimableElsewhere = Arc<dyn Fn(&[Name]) + Send + Sync>;

/// Whose clock decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// The database's, so that all servers on it agree.
    Database,
    /// The one given with the store's options: for tests.
    Given,
}

impl Options {
    /// A store in the database of that URL, everything else as usual.
    #[must_use]
    pub fn of(url: impl Into<String>) -> Self {
        Self {
            store: crate::options::Options::default(),
            url: url.into(),
            schema: SCHEMA_DEFAULT.to_owned(),
            connections: CONNECTIONS_DEFAULT,
            time: Time::Database,
            on_claimable_elsewhere: Arc::new(|_| {}),
            on_fatal: crate::options::exit_on_fatal(),
        }
    }

    /// The schema's name as it stands in statements: always quoted.
    pub(super) fn quoted_schema(&self) -> Result<String, OpenError> {
        let name = &self.schema;
        let plain = name.len() <= SCHEMA_CHARS_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
            && !name.to_ascii_lowercase().starts_with("pg_");
        if plain { Ok(format!("\"{name}\"")) } else { Err(OpenError::Schema(name.clone())) }
    }
}

/// Why a store did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL cannot be used.
    #[error("the database URL {0}")]
    Url(String),
    /// The schema's name is none.
    #[error(
        "{0:?} cannot name the schema: take a letter or _, then letters, digits and _, at most \
         {SCHEMA_CHARS_MAX}, and not pg_ at its start"
    )]
    Schema(String),
    /// TLS cannot be set up.
    #[error("cannot set up TLS to the database: {0}")]
    Tls(String),
    /// Nobody answers, or not as a database.
    #[error("cannot reach {place}: {cause}")]
    Unreachable {
        /// Where, without password.
        place: String,
        /// What the driver says.
        cause: String,
    },
    /// It does not let this user in, or not do what opening needs.
    #[error("{place} refuses: {cause}")]
    Refused {
        /// Where, without password.
        place: String,
        /// What the database says.
        cause: String,
    },
    /// It is older than what is served.
    #[error(
        "{place} is PostgreSQL {found}, and Halyard needs {VERSION_MIN} or newer; upgrade it, or \
         keep jobs in another database"
    )]
    TooOld {
        /// Where, without password.
        place: String,
        /// What it calls its version.
        found: String,
    },
    /// A setting of it breaks a promise.
    #[error("{place} cannot keep jobs: {reason}")]
    Unfit {
        /// Where, without password.
        place: String,
        /// Which one, and what to do.
        reason: String,
    },
    /// The user may not do what a server does in the schema.
    #[error("{place} gives this user too few rights: it lacks {missing}; GRANT that")]
    Rights {
        /// Where, without password.
        place: String,
        /// What it may not do, as a grant would name it.
        missing: String,
    },
    /// The schema is from a newer program.
    #[error(
        "the schema {schema} was written by a newer Halyard (version {found}, this one knows \
         {known}); start that version"
    )]
    Newer {
        /// Which schema.
        schema: String,
        /// Its number there.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// A migration is not the one that this program knows under its number.
    #[error(
        "the schema {schema} has a migration {number} that this Halyard does not know: it was made \
         by another build, or is not Halyard's"
    )]
    ForeignMigration {
        /// Which schema.
        schema: String,
        /// The migration's number.
        number: i64,
    },
    /// The database failed on the way.
    #[error("{place} failed while it was opened: {cause}")]
    Database {
        /// Where, without password.
        place: String,
        /// What it says.
        cause: String,
    },
}

/// What a database says of itself.
#[derive(Clone, Copy)]
pub(super) struct About<'r> {
    pub(super) number: &'r str,
    pub(super) version: &'r str,
    pub(super) encoding: &'r str,
    pub(super) commits: &'r str,
    pub(super) recovers: &'r str,
    pub(super) read_only: &'r str,
}

impl About<'_> {
    pub(super) fn judge(self, place: &str) -> Result<(), OpenError> {
        let place = place.to_owned();
        if self.number.parse::<u32>().unwrap_or(0) / 10_000 < VERSION_MIN {
            return Err(OpenError::TooOld { place, found: self.version.to_owned() });
        }
        let reason = if self.encoding != "UTF8" {
            format!("its encoding is {}; make one with ENCODING 'UTF8'", self.encoding)
        } else if self.recovers == "true" {
            "it is a standby; name the primary, or all hosts of the cluster, in the URL".to_owned()
        } else if self.read_only == "on" {
            "default_transaction_read_only is on for it".to_owned()
        } else if self.commits == "off" {
            "synchronous_commit is off, so a crash would lose jobs that were acknowledged; set it \
             to on for this user"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(OpenError::Unfit { place, reason })
    }
}

/// Says whether the connection, rather than the statement, is what failed: on another one the same
/// may well run.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    let gone = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::DATABASE_DROPPED,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IDLE_SESSION_TIMEOUT,
    ];
    let broken = |error: &tokio_postgres::Error| {
        error.source().is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
    };
    error.is_closed() || broken(error) || error.code().is_some_and(|code| gone.contains(code))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

    use super::*;

    #[test]
    fn a_database_that_cannot_keep_a_promise_is_refused() {
        let about = About {
            number: "140000",
            version: "14.0",
            encoding: "UTF8",
            commits: "on",
            recovers: "false",
            read_only: "off",
        };
        about.judge("it").unwrap();
        for (about, part) in [
            (About { number: "130022", version: "13.22", ..about }, "PostgreSQL 13.22"),
            (About { number: "ninety", ..about }, "14 or newer"),
            (About { encoding: "SQL_ASCII", ..about }, "SQL_ASCII"),
            (About { commits: "off", ..about }, "synchronous_commit"),
            (About { recovers: "true", ..about }, "standby"),
            (About { read_only: "on", ..about }, "read_only"),
        ] {
            let error = about.judge("it").unwrap_err().to_string();
            assert!(error.starts_with("it ") && error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_identifier() {
        let quoted = |name: &str| {
            Options { schema: name.to_owned(), ..Options::of("") }.quoted_schema().ok()
        };
        assert_eq!(quoted("halyard").as_deref(), Some("\"halyard\""));
        assert_eq!(quoted("_Work2").as_deref(), Some("\"_Work2\""));
        let long = "a".repeat(SCHEMA_CHARS_MAX);
        assert!(quoted(&long).is_some());
        for name in ["", "2a", "a-b", "a b", "a\"b", "a.b", "ä", "pg_x", "PG_x", &(long + "a")] {
            assert_eq!(quoted(name), None, "{name}");
        }
    }
}
