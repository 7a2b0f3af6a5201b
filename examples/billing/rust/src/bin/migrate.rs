//! Brings the tables of `../../migrations` into the database. It may run twice.

use std::{env, fs};

use halyard::HandlerResult;
use tokio_postgres::NoTls;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations");

#[tokio::main]
async fn main() -> HandlerResult<()> {
    let url = env::var("DATABASE_URL").map_err(|_| "DATABASE_URL names no database")?;
    let (mut client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute("create table if not exists migrations (name text primary key)").await?;

    let mut files = fs::read_dir(FOLDER)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        let transaction = client.transaction().await?;
        let insert = "insert into migrations (name) values ($1) on conflict do nothing";
        if transaction.execute(insert, &[&name]).await? == 0 {
            continue;
        }
        transaction.batch_execute(&fs::read_to_string(file.path())?).await?;
        transaction.commit().await?;
        println!("{name}");
    }
    Ok(())
}
