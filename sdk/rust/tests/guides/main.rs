//! What the guides show: docs/testing.md and docs/processed-store.md take their Rust from here.
//!
//! | file | |
//! |---|---|
//! | `testing` | handlers called, run in memory, run by the server, proved |
//! | `processed_store` | the processed store in Redis and PostgreSQL |

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and a guide shows what is short"
)]

#[cfg(all(feature = "redis", feature = "postgres"))]
mod processed_store;
mod testing;

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

/// The blocks of a page in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1);
    blocks.filter_map(|block| block.split("```").next()).map(str::to_owned).collect()
}

#[test]
fn the_printed_table_is_the_real_one() {
    let page = read("../../docs/processed-store.md");
    let sql = read("src/processed/migrate.sql");
    let shown = blocks(&page, "sql");
    let without_comments = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("--"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let shown = shown.first().expect("the table");
    assert_eq!(without_comments(shown.trim()), without_comments(sql.trim()));
}
