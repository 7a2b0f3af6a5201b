//! Where the jobs are, for the commands that open a store themselves.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use halyard_store::Store;
use halyard_store::options::Options;
use halyard_store::postgres::{self, OnClaimableElsewhere, Postgres};
use halyard_store::sqlite::{self, DATABASE_FILE, Sqlite};

/// Where the jobs are.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    /// Directory of the SQLite store; made when it is not there. Unused with a database URL.
    #[arg(
        long,
        env = "HALYARD_DATA_DIR",
        default_value = "./halyard-data",
        value_name = "PATH",
        global = true
    )]
    pub data_dir: PathBuf,
    /// A PostgreSQL database to keep jobs in instead of SQLite: postgres://user:password@host/name,
    /// with libpq's options behind a question mark. Better set by its variable: flags can be seen
    /// by others.
    #[arg(
        long,
        env = "HALYARD_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true,
        global = true
    )]
    pub database_url: Option<String>,
    /// The schema of the database that holds the jobs; made when it is not there.
    #[arg(long, env = "HALYARD_DATABASE_SCHEMA", default_value = postgres::SCHEMA_DEFAULT,
        value_name = "NAME", global = true)]
    pub database_schema: String,
}

/// What a store in PostgreSQL is opened with beside what every store is.
pub struct Shared {
    /// Connections at most.
    pub connections: usize,
    /// Hears of claimable jobs at other servers.
    pub on_claimable_elsewhere: OnClaimableElsewhere,
}

impl Place {
    /// Opens it, and makes it when it is not there.
    ///
    /// # Errors
    /// It cannot be used.
    pub async fn open(&self, store: Options, shared: Shared) -> anyhow::Result<Arc<dyn Store>> {
        let Some(url) = &self.database_url else {
            let options = sqlite::Options { store, ..sqlite::Options::default() };
            let store = Sqlite::open(&self.data_dir, options)
                .with_context(|| format!("cannot open the store in {}", self.data_dir.display()))?;
            return Ok(Arc::new(store));
        };
        let options = postgres::Options {
            store,
            schema: self.database_schema.clone(),
            connections: shared.connections,
            on_claimable_elsewhere: shared.on_claimable_elsewhere,
            ..postgres::Options::of(url)
        };
        let store = Postgres::open(options).await.context("cannot open the store in PostgreSQL")?;
        Ok(Arc::new(store))
    }

    /// Says whether it is known that no store is there. A database is asked when it is opened.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.database_url.is_none() && !self.data_dir.join(DATABASE_FILE).exists()
    }

    /// The flags that name it to another command; a database is named by its variable.
    #[must_use]
    pub fn flags(&self) -> String {
        match &self.database_url {
            Some(_) => String::new(),
            None => format!(" --data-dir {}", self.data_dir.display()),
        }
    }
}
