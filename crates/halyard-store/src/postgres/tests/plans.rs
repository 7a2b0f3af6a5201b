//! How the reading statements find their rows: on a fresh schema, on one that was filled and never
//! looked at by `ANALYZE`, and after it.
//!
//! No plan may look at all rows of a table that grows. Beside that, the plans of PostgreSQL 15 are
//! a golden file: `UPDATE_GOLDEN=1 scripts/services run cargo test -p halyard-store plans`, then
//! read the difference as you would read code.

use std::fmt::Write;
use std::path::Path;

use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::Ground;
use crate::postgres::statements::{Statement, Statements};

const GOLDEN: &str = "src/postgres/tests/plans.txt";
/// The version that the golden file is of.
const GOLDEN_VERSION: &str = "15";

/// Tables that never have many rows.
const SMALL: [&str; 4] = ["counters", "minutes", "queues", "totals"];

type Values = Vec<Box<dyn ToSql + Sync>>;

/// Statements with values as calls have them.
fn statements(sql: &Statements) -> Vec<(&'static str, &Statement, Values)> {
    let list = |states: &[i16], queue: Option<&'static str>, key: Option<&'static str>| -> Values {
        vec![
            Box::new(0_i64),
            Box::new(i64::MAX),
            Box::new(states.to_vec()),
            Box::new(queue),
            Box::new(key.map(|_| "task1")),
            Box::new(queue.map(|_| "rare")),
            Box::new(51_i64),
            Box::new(i64::MIN),
            Box::new(i64::MAX),
            Box::new(key),
            Box::new(1_000_i64),
        ]
    };
    let id = Uuid::from_u128(7);
    let lists = &sql.lists;
    let [all_up, all_down] = &lists.all;
    let [_, key] = &lists.key;
    let [unhappy_up, unhappy_down] = &lists.unhappy;
    let [_, waiting] = &lists.waiting;
    vec![
        ("attempts_newest", &sql.attempts_newest, vec![Box::new(10_i64), Box::new(100_i64)]),
        ("audit_page", &sql.audit_page, vec![Box::new(i64::MAX), Box::new(51_i64)]),
        (
            "audit_prune",
            &sql.audit_prune,
            vec![Box::new(1_000_i64), Box::new(100_000_i64), Box::new(200_i64)],
        ),
        ("checkpoints", &sql.checkpoints, vec![Box::new(vec![10_i64])]),
        ("counters", &sql.counters, vec![]),
        ("created_place", &sql.created_place, vec![Box::new(20_000_000_i64)]),
        ("holder", &sql.holder, vec![Box::new("task1"), Box::new("key100")]),
        ("list_all up", all_up, list(&[], None, None)),
        ("list_all down, by queue and tag", all_down, list(&[4], Some("queue2"), None)),
        ("list_key", key, list(&[], None, Some("key100"))),
        ("list_unhappy up", unhappy_up, list(&[5], None, None)),
        ("list_unhappy down, by queue and tag", unhappy_down, list(&[5], Some("queue2"), None)),
        ("list_waiting", waiting, list(&[0, 1], None, None)),
        ("minutes", &sql.minutes, vec![Box::new(0_i64)]),
        ("queue_status", &sql.queue_status, vec![Box::new(None::<&str>)]),
        ("ready_queues", &sql.ready_queues, vec![]),
        ("running_by_worker", &sql.running_by_worker, vec![]),
        ("states", &sql.states, vec![Box::new(vec![id])]),
        ("totals", &sql.totals, vec![]),
        ("view", &sql.view, vec![Box::new(id)]),
    ]
}

/// A statement's steps that touch a table.
async fn steps(ground: &Ground, statement: &Statement, values: &Values) -> Vec<String> {
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value).collect();
    let explain = format!("EXPLAIN (COSTS OFF) {}", statement.text);
    let rows = ground.client.query_typed(&explain, &statement.bind(&values)).await.unwrap();
    rows.iter()
        .map(|row| row.get::<_, &str>(0).trim_start_matches([' ', '-', '>']).to_owned())
        .filter(|step| {
            step.contains("Scan") && !step.contains("CTE Scan") || step.ends_with("Sort")
        })
        .collect()
}

/// The steps of a plan that a session keeps for whatever values come.
async fn steps_kept(ground: &Ground, statement: &Statement) -> Vec<String> {
    let types: Vec<&str> = statement.types.iter().map(|kind| kind.name()).collect();
    let types = if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) };
    let nothing = vec!["NULL"; statement.types.len()].join(", ");
    let values = if nothing.is_empty() { nothing } else { format!("({nothing})") };
    let text = &statement.text;
    ground.client.batch_execute(&format!("PREPARE kept{types} AS {text}")).await.unwrap();
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE kept{values}");
    let rows = ground.client.simple_query(&explain).await.unwrap();
    ground.client.batch_execute("DEALLOCATE kept").await.unwrap();
    rows.iter()
        .filter_map(|row| match row {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .map(|step| step.trim_start_matches([' ', '-', '>']).to_owned())
        .filter(|step| step.contains(" on ") && step.contains("Scan"))
        .collect()
}

/// Transactions keep plans, which know none of the values: a row is found by its number, by its id
/// or by the order of claims, and nothing is read through.
#[tokio::test]
async fn plans_that_are_kept_find_rows_by_their_indexes() {
    let ground = Ground::bare().await;
    ground.migrate().await.unwrap();
    let sql = Statements::of(&ground.options.schema);
    ground.run("SET plan_cache_mode = force_generic_plan; SET jit = off").await;
    for off in ["seqscan", "hashjoin", "mergejoin"] {
        ground.run(&format!("SET enable_{off} = off")).await;
    }
    for standing in ["filled", "analyzed"] {
        match standing {
            "filled" => ground.run(include_str!("filled.sql")).await,
            _ => ground.run("ANALYZE").await,
        }
        for statement in sql.of_transactions() {
            let name = statement.name;
            for step in steps_kept(&ground, statement).await {
                let small = SMALL.iter().any(|table| step.contains(table));
                assert!(small || !step.contains("Seq Scan"), "{standing}: {name}: {step}");
                let index = if name.starts_with("ready") { "jobs_ready" } else { "jobs_pkey" };
                let of_jobs = step.ends_with(" on jobs") && step.starts_with("Index");
                assert!(!of_jobs || step.contains(index), "{standing}: {name}: {step}");
            }
        }
    }
    ground.drop_schema().await;
}

#[tokio::test]
async fn plans_are_as_they_were_and_scan_no_table_that_grows() {
    let ground = Ground::bare().await;
    ground.migrate().await.unwrap();
    let sql = Statements::of(&ground.options.schema);
    let version: String = ground
        .client
        .query_typed_one("SELECT current_setting('server_version')", &[])
        .await
        .unwrap()
        .get(0);
    let mut text = String::new();
    for standing in ["fresh", "filled", "analyzed"] {
        match standing {
            "filled" => ground.run(include_str!("filled.sql")).await,
            "analyzed" => ground.run("ANALYZE").await,
            _ => {}
        }
        writeln!(text, "{standing}").unwrap();
        for (name, statement, values) in statements(&sql) {
            let steps = steps(&ground, statement, &values).await;
            // Without rows a scan of all of them is as good as any way.
            for step in steps.iter().filter(|_| standing != "fresh") {
                let small = SMALL.iter().any(|table| step.contains(table));
                assert!(small || !step.contains("Seq Scan"), "{standing}: {name}: {step}");
            }
            writeln!(text, "  {name}\n    {}", steps.join("\n    ")).unwrap();
        }
    }
    ground.drop_schema().await;
    if !version.starts_with(GOLDEN_VERSION) {
        return;
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &text).unwrap();
    }
    let known = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(text, known, "a plan changed; see the top of this file");
}
