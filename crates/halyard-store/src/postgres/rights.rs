//! What the user of a connection may not do in a schema, although a server does it. Without this
//! look a right that is missing is found out by the first call that needs it, over and over.

use super::Ran;
use super::connect::{OpenError, Pool};
use super::loaded::Hands;
use super::rows::Columns;
use super::statements::Statements;

/// Rights that are named at most: one that is missing seldom comes alone.
const NAMED_MAX: usize = 3;

/// Refuses a user who may not do what a server does in `schema`.
pub(super) async fn demand(pool: &Pool, sql: &Statements, schema: &str) -> Result<(), OpenError> {
    let failed = |trouble| pool.failed(&trouble);
    let client = pool.get().await.map_err(failed)?;
    let missing = missing(Hands::of(&client, sql), schema).await.map_err(failed)?;
    missing.map_or(Ok(()), |missing| {
        Err(OpenError::Rights { place: pool.place().to_owned(), missing })
    })
}

/// What is missing, as a grant would name it; `None`: nothing is.
pub(super) async fn missing(hands: Hands<'_>, schema: &str) -> Ran<Option<String>> {
    let rows = hands.query(&hands.sql.rights, &[&schema]).await?;
    let missing: Ran<Vec<String>> = rows.iter().map(|row| Columns::from(row, 0).next()).collect();
    Ok(sentence(&missing?))
}

fn sentence(missing: &[String]) -> Option<String> {
    let (named, others) = missing.split_at(missing.len().min(NAMED_MAX));
    match (named, others) {
        ([], _) => None,
        (named, []) => Some(named.join("; ")),
        (named, others) => Some(format!("{}; and {} more", named.join("; "), others.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_named_and_the_others_counted() {
        let told = |names: &[&str]| {
            sentence(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&["a", "b", "c"]).as_deref(), Some("a; b; c"));
        assert_eq!(told(&["a", "b", "c", "d", "e"]).as_deref(), Some("a; b; c; and 2 more"));
    }
}
