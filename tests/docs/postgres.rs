//! The commands of the pages on PostgreSQL, run as they stand by a user `postgres` on a server of
//! the test's own, page by page and in order.
//!
//! Four things are not as on the page. The address in a URL is that of the test's server, which
//! has no TLS. `/backup` and `/var/lib` lie in a temporary folder. A password that is asked for is
//! `password`, since nobody sits there. And `halyard serve` ends as soon as it listens, since the
//! page goes on in another terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use halyard_tests::postgres::{Database, Postgres, Url, query};
use halyard_tests::server::{Server, Setup, binary};
use serde_json::json;
use tempfile::TempDir;

/// What `halyard` is to a page.
const HALYARD: &str = r#"
halyard() {
    if [ "$1" != serve ]; then "$HALYARD_PROGRAM" "$@"; return; fi
    coproc SERVER { exec "$HALYARD_PROGRAM" "$@" --listen 127.0.0.1:0 --end-with-stdin; }
    read -r line <&"${SERVER[0]}"
    echo "$line"
    exec {SERVER[1]}>&-
    wait "$SERVER_PID"
    [[ $line == "listening on "* ]]
}
"#;

/// The commands of a page, those within lists too.
fn commands(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = fs::read_to_string(path).expect(page);
    let mut commands = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(indent) = line.strip_suffix("```sh") else { continue };
        assert!(indent.trim().is_empty(), "{page}: {line}");
        let end = format!("{indent}```");
        let block: Vec<&str> = lines
            .by_ref()
            .take_while(|line| *line != end)
            .map(|line| line.strip_prefix(indent).unwrap_or(line))
            .collect();
        commands.push(block.join("\n"));
    }
    commands
}

/// Where a page is tried.
struct Place {
    folder: TempDir,
    /// Who administers the server: `createuser` and `psql` without a URL are this one's.
    admin: Url,
    /// What `HALYARD_DATABASE_URL` is.
    store: Url,
    schema: &'static str,
}

impl Place {
    /// Runs a command of a page to its good end.
    fn run(&self, command: &str) -> String {
        let folder = self.folder.path().display();
        let url = "postgres://halyard:password@db.example.com/jobs?sslmode=verify-full";
        let typed = command
            .replace(url, &self.store.to_string())
            .replace("/var/lib/", &format!("{folder}/"))
            .replace("/backup/", &format!("{folder}/"));
        assert!(!typed.contains("db.example.com"), "no place for the URL of {command}");
        let output = self.shell(&typed);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{command}\n{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        said
    }

    fn shell(&self, typed: &str) -> Output {
        let password = self.folder.path().join("password");
        fs::write(&password, "password\npassword\n").unwrap();
        // Without a terminal, so that a password is read from what stands there for it.
        let mut shell = Command::new("setsid");
        shell.args(["--wait", "bash", "-euo", "pipefail", "-c", &format!("{HALYARD}\n{typed}")]);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HALYARD_") {
                shell.env_remove(name);
            }
        }
        shell
            .current_dir(self.folder.path())
            .env("HALYARD_PROGRAM", binary())
            .env("HALYARD_DATABASE_URL", self.store.to_string())
            .env("HALYARD_DATABASE_SCHEMA", self.schema)
            .env("PGHOST", self.admin.address.ip().to_string())
            .env("PGPORT", self.admin.address.port().to_string())
            .env("PGUSER", &self.admin.user)
            .env("PGPASSWORD", &self.admin.password)
            .stdin(Stdio::from(fs::File::open(password).unwrap()))
            .output()
            .expect("setsid and bash are there")
    }

    /// Starts a server on a database.
    fn serve(&self, url: &Url) -> Server {
        Setup::new()
            .env("HALYARD_DATABASE_URL", &url.to_string())
            .env("HALYARD_DATABASE_SCHEMA", self.schema)
            .start_on(Arc::new(TempDir::new().unwrap()))
    }
}

/// A server on which the role `halyard` is still to be made.
fn without_halyard() -> (Postgres, Url) {
    let postgres = Postgres::start();
    let founder = postgres.url();
    postgres.run("CREATE ROLE postgres SUPERUSER LOGIN PASSWORD 'admin'");
    let admin = Url { user: "postgres".to_owned(), password: "admin".to_owned(), ..founder };
    query(&admin, "ALTER ROLE halyard RENAME TO founder").unwrap();
    (postgres, admin)
}

fn as_role(admin: &Url, user: &str, database: &str) -> Url {
    let (user, password) = (user.to_owned(), "password".to_owned());
    Url { user, password, ..admin.database(database) }
}

#[test]
fn running_on_postgresql() {
    let (_postgres, admin) = without_halyard();
    let store = as_role(&admin, "halyard", "jobs");
    let folder = TempDir::new().unwrap();
    let place = Place { folder, admin: admin.clone(), store, schema: "halyard" };
    let mut commands = commands("docs/operations/postgres.md").into_iter();
    let mut next = |part: &str| {
        let command = commands.next().unwrap_or_else(|| panic!("no command with {part}"));
        assert!(command.contains(part), "{part} is looked for: {command}");
        place.run(&command)
    };
    next("createuser --pwprompt halyard\n");
    assert!(next("halyard serve").starts_with("listening on "));
    assert!(next("halyard doctor").contains("\"errors\":0"));

    // A role that owns nothing is enough for a server, and for all that it does.
    next("GRANT USAGE ON SCHEMA");
    let server = place.serve(&as_role(&admin, "halyard_server", "jobs"));
    let mut client = server.client();
    client.post("/v1/jobs", &json!({"task": "t", "queue": "q"})).expect(201);
    let claim = json!({"worker": {"id": "w"}, "queues": ["q"]});
    let claimed = client.post("/v1/jobs/claim", &claim).expect(200);
    let job = &claimed["jobs"][0];
    let outcome = json!({"id": job["id"], "token": job["lease"]["token"], "outcome": "completed"});
    client.post("/v1/jobs/finish", &json!({"outcomes": [outcome]})).expect(200);
    // The table of a later version is open to it as well.
    let owner = as_role(&admin, "halyard", "jobs");
    query(&owner, "CREATE TABLE halyard.later (n int)").unwrap();
    query(&as_role(&admin, "halyard_server", "jobs"), "TABLE halyard.later").unwrap();
    query(&owner, "DROP TABLE halyard.later").unwrap();

    next("pg_dump");
    next("pg_restore");
    let restored = place.serve(&as_role(&admin, "halyard_server", "restored"));
    let path = format!("/v1/jobs/{}", job["id"].as_str().unwrap());
    assert_eq!(restored.client().get(&path).expect(200)["state"], "completed");
    assert_eq!(commands.next(), None);
}

#[test]
fn the_first_command_of_serving_on_postgresql() {
    let (_postgres, admin) = without_halyard();
    query(&admin, "CREATE ROLE halyard LOGIN PASSWORD 'password'").unwrap();
    query(&admin, "CREATE DATABASE jobs").unwrap();
    let store = as_role(&admin, "halyard", "jobs");
    let place =
        Place { folder: TempDir::new().unwrap(), admin: admin.clone(), store, schema: "halyard" };
    let all = commands("docs/operations/serving.md");
    let command = all.iter().find(|it| it.contains("HALYARD_DATABASE_URL")).expect("there is one");
    // The page says what the user needs for this.
    assert!(!place.shell("halyard serve").status.success());
    let page = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations/serving.md"),
    );
    let grant = "GRANT CREATE ON DATABASE jobs\nTO halyard";
    assert!(page.unwrap().contains(grant));
    query(&admin.database("jobs"), grant).unwrap();
    assert!(place.run(command).starts_with("listening on "));
}

#[test]
fn moving_there_and_back() {
    let database = Database::new();
    let folder = TempDir::new().unwrap();
    let directory = Arc::new(TempDir::new_in(folder.path()).unwrap());
    let mut server = Setup::new().start_on(Arc::clone(&directory));
    let body = json!({"task": "t", "idempotency_key": "k"});
    let made = server.client().post("/v1/jobs", &body).expect(201);
    server.stop();
    fs::rename(directory.path(), folder.path().join("halyard")).unwrap();

    let url = database.url();
    let place = Place { folder, admin: url.clone(), store: url, schema: "moved" };
    let commands = commands("docs/operations/moving.md");
    let [there, back] = commands.as_slice() else { panic!("not two commands: {commands:?}") };
    place.run(there);
    let mut server = place.serve(&place.store);
    let found = server.client().post("/v1/jobs", &body).expect(200);
    assert_eq!(found["id"], made["id"]);
    server.stop();
    place.run(back);
    let old = fs::read_dir(place.folder.path().join("halyard")).unwrap().count();
    assert!(old > 0, "the source stays");
    let home = Arc::new(TempDir::new().unwrap());
    fs::rename(place.folder.path().join("halyard-new"), home.path()).unwrap();
    let server = Setup::new().start_on(home);
    let found = server.client().post("/v1/jobs", &body).expect(200);
    assert_eq!(found["id"], made["id"]);
}

#[test]
fn high_availability() {
    let postgres = Postgres::start();
    let standby = postgres.standby("b");
    let url = postgres.url();
    let folder = TempDir::new().unwrap();
    let place = Place { folder, admin: url.clone(), store: url, schema: "halyard" };
    drop(place.serve(&place.store));
    let commands = commands("docs/operations/high-availability.md");
    let [doctor, psql] = commands.as_slice() else { panic!("not two commands: {commands:?}") };
    assert!(place.run(doctor).contains("1 attached, and no commit waits for them"));
    postgres.require("b");
    let told = place.run(doctor);
    assert!(told.contains("1 attached, and commits wait for them"), "{told}");
    assert!(told.contains("it takes writes"), "{told}");
    let told = place.run(psql);
    assert!(told.contains("\n b\n") && told.contains("\n on\n"), "{told}");
    // So that nobody waits for it any more.
    postgres.require("");
    drop(standby);
}
