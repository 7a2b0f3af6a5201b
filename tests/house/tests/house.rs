//! Runs every rule of the house on this repository.

use std::env;
use std::process::Command;

use anyhow::Context as _;
use halyard_house::tree::{Tree, top};
use halyard_house::{
    Broken, Finding, arrows, deaf_and_blind, front_pages, imports, links, marks, names, origins,
    sizes, snippets, sql, stages, verdict,
};

fn check(rule: &str, finds: fn(&Tree) -> Vec<Finding>) -> Result<(), Broken> {
    let tree = Tree::of_this_repository()?;
    // A walk that found nothing would let every rule pass.
    let walked = tree.file("crates/halyard-core/src/lib.rs").is_some();
    assert!(walked, "the walk over the repository missed the crates");
    verdict(rule, finds(&tree))
}

#[test]
fn arrows_between_crates() -> Result<(), Broken> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--no-deps", "--offline", "--locked"])
        .current_dir(top())
        .output()
        .context("starting cargo metadata")?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata = serde_json::from_slice(&output.stdout).context("reading cargo metadata")?;
    verdict("arrows between crates", arrows::check(&metadata))
}

#[test]
fn imports_inside_the_server() -> Result<(), Broken> {
    check("imports inside the server", imports::check)
}

#[test]
fn sizes_of_files_functions_and_lines() -> Result<(), Broken> {
    check("sizes", sizes::check)
}

#[test]
fn names_that_say_something() -> Result<(), Broken> {
    check("names", names::check)
}

#[test]
fn front_pages_of_crates_and_folders() -> Result<(), Broken> {
    check("front pages", front_pages::check)
}

#[test]
fn no_silenced_lints_and_nothing_left_for_later() -> Result<(), Broken> {
    check("silenced lints and work left for later", marks::check)
}

#[test]
fn core_and_store_are_deaf_and_blind() -> Result<(), Broken> {
    check("time, chance and sleep", deaf_and_blind::check)
}

#[test]
fn sql_stands_in_sql_files() -> Result<(), Broken> {
    check("SQL", sql::check)
}

#[test]
fn nothing_of_one_machine_or_registry() -> Result<(), Broken> {
    check("machine paths and registries", origins::check)
}

#[test]
fn every_end_to_end_test_has_a_stage() -> Result<(), Broken> {
    check("stages", stages::check)
}

#[test]
fn links_in_markdown_resolve() -> Result<(), Broken> {
    check("links", links::check)
}

#[test]
fn code_on_pages_is_cut_from_programs() -> Result<(), Broken> {
    check("code on pages", snippets::check)
}
