//! Examines a database from outside: its settings, its replicas, and what keeps it from clearing
//! away old rows. Works while servers use it, and changes nothing.
//!
//! What the database tells in one row is in `vitals`; what its tables tell is here. To add a check:
//! a column of `doctor.sql`, a member of [`Vitals`], and a function that makes a finding of it.
//!
//! Deliberately absent: whether rows agree with each other. The schema's own constraints see to
//! that, and locks.

mod vitals;

use self::vitals::Vitals;
use super::connect::{OpenError, Options};
use super::connection::Connected;
use super::loaded::Hands;
use super::rows::Columns;
use super::statements::Statements;
use super::url::Target;
use super::{Ran, Trouble, migrations, rights};
use crate::finding::Finding;

/// Dead rows that are worth a look: so many, and more than live ones.
const DEAD_MANY: i64 = 20_000;

/// The place that `options` names, as it may be shown: without password.
///
/// # Errors
/// A sentence that says what is wrong with the URL.
pub fn place(options: &Options) -> Result<String, String> {
    Ok(Target::parse(&options.url).map_err(|error| error.to_string())?.place())
}

/// Examines the database of `options`, whose clock there is compared with the one given there.
///
/// Whatever stands in the way of a check is itself a finding.
pub async fn examine(options: &Options) -> Vec<Finding> {
    let schema = match options.quoted_schema() {
        Ok(schema) => schema,
        Err(error) => {
            let advice = "name the schema with --database-schema";
            return vec![Finding::error("database", error.to_string(), advice)];
        }
    };
    let unreachable = |message: String| {
        let advice = "say where it is with --database-url or HALYARD_DATABASE_URL";
        vec![Finding::error("database", message, advice)]
    };
    let lone = match Target::parse(&options.url) {
        Err(error) => return unreachable(error.to_string()),
        Ok(target) => match target.tls.connector() {
            Err(error) => return unreachable(error.to_string()),
            Ok(tls) => target.config.connect(tls).await,
        },
    };
    let client = match lone {
        Ok(lone) => Connected::of(lone),
        Err(error) => return unreachable(Trouble::from(error).to_string()),
    };
    look(options, &schema, &client).await.unwrap_or_else(|trouble| unreachable(trouble.to_string()))
}

async fn look(options: &Options, schema: &str, client: &Connected) -> Ran<Vec<Finding>> {
    let sql = Statements::of(schema);
    let hands = Hands::of(client, &sql);
    let before = options.store.clock.now();
    let rows = hands.query(&sql.doctor, &[&options.schema]).await?;
    // The database told its time somewhere between question and answer.
    let here = options.store.clock.now();
    let row = rows.first().ok_or(Trouble::ChangedMeanwhile)?;
    let vitals = Vitals::of(row)?;
    let mut findings = vitals.findings(schema, here, here - before);
    if vitals.has_schema {
        let missing = rights::missing(hands, &options.schema).await?;
        let may_look = missing.is_none();
        findings.push(granted(missing));
        if may_look {
            let rows = hands.query(&sql.migrations, &[]).await?;
            findings.push(history(schema, migrations::missing(&rows, schema)?));
        }
        let mut tables = Vec::new();
        for row in &hands.query(&sql.doctor_tables, &[&options.schema]).await? {
            let mut next = Columns::from(row, 0);
            tables.push((next.next()?, next.next()?, next.next()?));
        }
        findings.push(dead_rows(&tables));
    }
    Ok(findings)
}

/// What the user may not do, as a grant would name it.
fn granted(missing: Option<String>) -> Finding {
    let Some(missing) = missing else {
        return Finding::ok("rights", "this user may do all that a server does");
    };
    Finding::error(
        "rights",
        format!("this user lacks {missing}: no server starts with that"),
        "let the owner of the schema GRANT it",
    )
}

fn history(schema: &str, missing: Result<usize, OpenError>) -> Finding {
    match missing {
        Ok(0) => Finding::ok("migrations", "the schema is as this program knows it"),
        Ok(count) => Finding::warn(
            "migrations",
            format!("{schema} is of an older Halyard, and lacks its newest migrations: {count}"),
            "nothing to do: the next `halyard serve` of this version brings it up to date",
        ),
        Err(refused) => Finding::error(
            "migrations",
            refused.to_string(),
            "use the version of Halyard that wrote it",
        ),
    }
}

/// Name, live rows and dead rows of each table.
fn dead_rows(tables: &[(String, i64, i64)]) -> Finding {
    let worst = tables
        .iter()
        .filter(|(_, live, dead)| *dead > DEAD_MANY && dead > live)
        .max_by_key(|(_, _, dead)| *dead);
    let Some((name, live, dead)) = worst else {
        return Finding::ok("dead rows", "autovacuum keeps up");
    };
    Finding::warn(
        "dead rows",
        format!("the table {name} has {dead} dead rows and {live} live ones"),
        "see whether an old transaction keeps them and whether autovacuum runs, then VACUUM it",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    #[test]
    fn the_history_of_a_schema() {
        let foreign = OpenError::ForeignMigration { schema: "\"halyard\"".to_owned(), number: 1 };
        for (missing, level) in
            [(Ok(0), Level::Ok), (Ok(1), Level::Warn), (Err(foreign), Level::Error)]
        {
            assert_eq!(history("\"halyard\"", missing).level, level);
        }
    }

    #[test]
    fn dead_rows_that_are_worth_a_look() {
        let level = |live, dead| dead_rows(&[("jobs".to_owned(), live, dead)]).level;
        assert_eq!(level(0, DEAD_MANY), Level::Ok);
        assert_eq!(level(DEAD_MANY + 1, DEAD_MANY + 1), Level::Ok);
        assert_eq!(level(DEAD_MANY, DEAD_MANY + 1), Level::Warn);
    }
}
