//! Runs every rule of the house on this repository.

use std::process::Command;

use anyhow::{Context as _, ensure};
use halyard_house::tree::{Tree, top};
use halyard_house::{
    Finding, arrows, deaf_and_blind, front_pages, imports, links, marks, names, origins, sizes,
    sql, verdict,
};

fn check(rule: &str, finds: fn(&Tree) -> Vec<Finding>) -> anyhow::Result<()> {
    let tree = Tree::of_this_repository()?;
    // A walk that found nothing would let every rule pass.
    ensure!(tree.file("crates/halyard-core/src/lib.rs").is_some(), "the walk missed the crates");
    verdict(rule, finds(&tree))
}

#[test]
fn arrows_between_crates() -> anyhow::Result<()> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--locked"])
        .current_dir(top())
        .output()
        .context("starting cargo metadata")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout)?;
    verdict("arrows between crates", arrows::check(&metadata))
}

#[test]
fn imports_inside_the_server() -> anyhow::Result<()> {
    check("imports inside the server", imports::check)
}

#[test]
fn sizes_of_files_functions_and_lines() -> anyhow::Result<()> {
    check("sizes", sizes::check)
}

#[test]
fn names_that_say_something() -> anyhow::Result<()> {
    check("names", names::check)
}

#[test]
fn front_pages_of_crates_and_folders() -> anyhow::Result<()> {
    check("front pages", front_pages::check)
}

#[test]
fn no_silenced_lints_and_nothing_left_for_later() -> anyhow::Result<()> {
    check("silenced lints and work left for later", marks::check)
}

#[test]
fn core_and_store_are_deaf_and_blind() -> anyhow::Result<()> {
    check("time, chance and sleep", deaf_and_blind::check)
}

#[test]
fn sql_stands_in_sql_files() -> anyhow::Result<()> {
    check("SQL", sql::check)
}

#[test]
fn nothing_of_one_machine_or_registry() -> anyhow::Result<()> {
    check("machine paths and registries", origins::check)
}

#[test]
fn links_in_markdown_resolve() -> anyhow::Result<()> {
    check("links", links::check)
}
