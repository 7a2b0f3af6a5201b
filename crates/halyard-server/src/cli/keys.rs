//! `halyard keys`: keys that open the API, made and revoked in the store itself.
//!
//! This is how the first key comes into a store, and the way back in when every key is lost. It
//! needs the store to itself where that is SQLite; over the API, `/v1/api-keys` does the same while
//! a server runs.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use halyard::api::api_keys::{ApiKey, ApiKeysAnswer};
use halyard_core::id::KeyId;
use halyard_core::name::check_api_key_name;
use halyard_core::role::Role;
use halyard_store::Store;
use halyard_store::access::{By, Revoked};
use halyard_store::options::Options;

use super::failure::Failure;
use super::place::{Place, Shared};
use super::screen::{Cell, Screen, Table, clean};
use crate::access::check_room;
use crate::access::secret::make_key;
use crate::http::convert;

/// Connections to a database: one to write, one to read.
const CONNECTIONS: usize = 2;

/// Make, list and revoke keys that open the API.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
A server on SQLite must be stopped; while it runs, an admin makes keys over its API or on its page
Access. With PostgreSQL the servers may run: a key counts at once, a revocation within a second.

Examples:
  halyard keys create --name admin --role admin
  halyard keys create --name billing-worker --role worker
  halyard keys list
  halyard keys revoke key_01jdvw3k8pf5tvn2c7m9a0r4xq")]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// Print what was done as JSON, which is what a pipe gets anyway.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a key, and print its text: this once.
    Create(Create),
    /// List the keys, without their texts.
    List,
    /// Revoke a key: neither it nor a browser that signed in with it opens anything more.
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct Create {
    /// What it is called in lists and in the audit log.
    #[arg(long, value_name = "NAME")]
    name: String,
    /// What it may do: a producer creates jobs and acts on them; a worker also claims and reports;
    /// an admin does everything.
    #[arg(long, value_enum, value_name = "ROLE")]
    role: RoleName,
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// The key's id, as `halyard keys list` shows it.
    #[arg(value_name = "ID")]
    id: String,
    /// Also the last one of an admin. When no key of any role is left, a server that starts on this
    /// machine's own address, a proxy before it or not, asks nobody for one, unless it has one in
    /// `HALYARD_API_KEY`.
    #[arg(long)]
    last: bool,
}

/// Whoever replaces a key that became known would otherwise be without one.
const LAST_ADMIN: &str = "\
this is the last admin's key, and without one nobody can do what is for admins
  make another one first: halyard keys create --name admin --role admin
  or add --last, if that is what is wanted";

/// A role on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RoleName {
    Producer,
    Worker,
    Admin,
}

impl RoleName {
    fn role(self) -> Role {
        match self {
            Self::Producer => Role::Producer,
            Self::Worker => Role::Worker,
            Self::Admin => Role::Admin,
        }
    }
}

/// Does it.
///
/// # Errors
/// The store cannot be opened, or there is no such key.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(args.json);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match &args.command {
            Command::Create(key) => create(args, key, &screen).await?,
            Command::List => list(args, &screen).await?,
            Command::Revoke(key) => revoke(args, key, &screen).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn create(args: &Args, wanted: &Create, screen: &Screen) -> anyhow::Result<()> {
    check_api_key_name(&wanted.name).map_err(|rule| {
        let name = clean(&wanted.name);
        Failure::usage(format!("no key can be called `{name}`: its name {rule}"))
    })?;
    let store = open(args).await?;
    let held = store.access().await.context("the keys could not be read")?.keys.len();
    check_room(held).map_err(Failure::refused)?;
    let (key, secret) = make_key(&wanted.name, wanted.role.role(), store.now());
    store.create_api_key(key.clone(), by()).await.context("the key could not be kept")?;
    if screen.is_json() {
        screen.json(&convert::access::created(&key, &secret))?;
    } else {
        screen.lines(&format!(
            "{}\n\n{} ({}) is a key for {}s. Its text is shown this once: the store keeps a hash \
             of it.\nClients send it in HALYARD_API_KEY, people sign in with it on the dashboard.",
            secret.text(),
            clean(&key.name),
            key.id,
            key.role.as_str(),
        ))?;
    }
    Ok(())
}

async fn list(args: &Args, screen: &Screen) -> anyhow::Result<()> {
    let store = open_standing(args).await?;
    let access = store.access().await.context("the keys could not be read")?;
    let keys: Vec<ApiKey> = access.keys.iter().map(convert::access::key).collect();
    if screen.is_json() {
        screen.json(&ApiKeysAnswer { data: keys })?;
    } else if keys.is_empty() {
        screen.lines("no keys: `halyard keys create --name admin --role admin` makes one")?;
    } else {
        screen.lines(&table(&keys, screen).show())?;
    }
    Ok(())
}

fn table(keys: &[ApiKey], screen: &Screen) -> Table {
    let mut table = Table::new(&["ID", "NAME", "ROLE", "CREATED", "LAST USED"], screen.style);
    for key in keys {
        let used = key.last_used_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        table.row([
            Cell::new(&key.id),
            Cell::new(&key.name),
            Cell::new(key.role.as_str()),
            Cell::new(key.created_at.to_string()),
            Cell::new(used),
        ]);
    }
    table
}

async fn revoke(args: &Args, wanted: &Revoke, screen: &Screen) -> anyhow::Result<()> {
    let unknown = || {
        let id = clean(&wanted.id);
        Failure::refused(format!("there is no key {id}\n  `halyard keys list` shows the keys"))
    };
    let id = KeyId::parse(&wanted.id).ok_or_else(unknown)?;
    let store = open_standing(args).await?;
    let revoked = store.revoke_api_key(id, !wanted.last, by()).await;
    let key = match revoked.context("the key could not be revoked")? {
        Revoked::Done(key) => key,
        Revoked::Unknown => return Err(unknown().into()),
        Revoked::LastAdmin => return Err(Failure::refused(LAST_ADMIN).into()),
    };
    if screen.is_json() {
        screen.json(&convert::access::key(&key))?;
    } else {
        screen.lines(&format!("revoked {} ({})", clean(&key.name), key.id))?;
        let left = store.access().await.context("the keys could not be read")?.keys;
        if left.is_empty() {
            screen.lines(
                "no key is left: without one in HALYARD_API_KEY a server that is started on this \
                 machine's own address asks for none, and lets everybody do everything",
            )?;
        } else if !left.iter().any(|key| key.role == Role::Admin) {
            screen.lines(
                "no admin's key is left: without one in HALYARD_API_KEY nobody can do what is for \
                 admins; `halyard keys create` makes one",
            )?;
        }
    }
    Ok(())
}

/// A store that must be there: looking for keys makes none.
async fn open_standing(args: &Args) -> anyhow::Result<Arc<dyn Store>> {
    if args.place.is_bare() {
        let place = args.place.data_dir.display();
        return Err(Failure::refused(format!(
            "there is no store in {place}\n  name the data directory of a server with --data-dir"
        ))
        .into());
    }
    open(args).await
}

async fn open(args: &Args) -> anyhow::Result<Arc<dyn Store>> {
    let shared = Shared { connections: CONNECTIONS, on_claimable_elsewhere: Arc::new(|_| {}) };
    args.place.open(Options::default(), shared).await.context(
        "keys are made in the store itself; where a server holds it, make them over its API \
         (POST /v1/api-keys) or on its page Access",
    )
}

/// On whose behalf, in the audit log.
fn by() -> By {
    By { actor: "halyard keys".into(), key_id: None, request_id: "".into() }
}
