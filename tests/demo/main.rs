//! `halyard demo` as a newcomer runs it, from its first line to the last process that is gone.
//!
//! The demo counts by itself and says so with its exit code; here its table is added up once more,
//! and a demo whose handler is broken must say that it is. [`play`] runs it with a folder for its
//! temporary files that is its own, by which its processes are found.

mod play;
mod provider;

use std::net::SocketAddr;

use halyard_tests::wire::Client;
use rustix::process::Signal;

use play::Play;

/// Who appears, how often the handler must run for each, and whether there is money to be had.
const CAST: [(&str, u64, u64); 10] = [
    ("ada", 1, 1),
    ("ben", 1, 1),
    ("chloe", 1, 1),
    ("dora", 2, 1),
    ("emil", 2, 1),
    ("fay", 1, 0),
    ("gus", 2, 1),
    ("hugo", 2, 1),
    ("ines", 1, 1),
    ("jun", 1, 1),
];

#[test]
fn everybody_is_charged_once() {
    let mut play = Play::start(&[]);
    let (code, text) = play.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains('\u{1b}'), "colours in a pipe:\n{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "a line wraps on a small terminal: {line}");
    }
    for (name, runs, charges) in CAST {
        let invoice = if charges == 1 { "paid" } else { "open" };
        assert_eq!(row(&text, name), (runs, charges, invoice.to_owned()), "{name} in:\n{text}");
    }
    for (what, expected) in [
        ("charges that took money", 9),
        ("invoices paid", 9),
        ("subscriptions that can pay", 9),
        ("handler runs", CAST.iter().map(|(_, runs, _)| runs).sum::<u64>() + 2),
        ("creates answered with the job that was there", 10),
        ("attempts lost with a killed worker", 2),
        ("attempt timed out", 1),
        ("job retried by hand", 1),
    ] {
        assert_eq!(number(&text, what), expected, "{what} in:\n{text}");
    }
    assert!(text.contains("invoices 1, ledger 1, statements 1"), "{text}");
    for part in ["server", "provider", "producer", "worker 1", "worker 2", "worker 3", "you"] {
        assert!(text.lines().any(|line| line.get(8..).is_some_and(|rest| rest.starts_with(part))));
    }
    play.left_nothing_behind();
}

#[test]
fn a_handler_without_the_key_is_caught() {
    let mut play = Play::start(&["--sabotage", "no-idempotency-key"]);
    let (code, text) = play.end();
    assert_eq!(code, Some(1), "{text}");
    for (name, runs, charges) in CAST {
        let twice = matches!(name, "dora" | "emil");
        let charges = if twice { 2 } else { charges };
        let (counted_runs, counted_charges, _) = row(&text, name);
        assert_eq!((counted_runs, counted_charges), (runs, charges), "{name} in:\n{text}");
        let told = text.contains(&format!("WRONG: {name} was charged 2 times"));
        assert_eq!(told, twice, "{name} in:\n{text}");
    }
    assert_eq!(number(&text, "charges that took money"), 11, "{text}");
    play.left_nothing_behind();
}

#[test]
fn whoever_stops_it_finds_nothing_left() {
    for (signal, code) in
        [(Signal::INT, Some(130)), (Signal::TERM, Some(143)), (Signal::HUP, Some(129))]
    {
        let mut play = Play::start(&[]);
        play.until_it_says("worker 2");
        play.signal(signal);
        let (ended, text) = play.end();
        assert_eq!(ended, code, "{text}");
        play.left_nothing_behind();
    }
}

#[test]
fn killed_it_takes_its_processes_along() {
    let mut play = Play::start(&[]);
    play.until_it_says("worker 2");
    assert_eq!(play.processes().len(), 3, "demo, server and worker: {:?}", play.processes());
    play.signal(Signal::KILL);
    assert_eq!(play.end().0, None);
    play.until_its_processes_are_gone();
}

#[test]
fn kept_it_stays_until_it_is_told_to_go() {
    let mut play = Play::start(&["--keep"]);
    play.until_it_says("Ctrl-C");
    let text = play.text();
    let listening = "server    listening on http://";
    let address = text.lines().find_map(|line| Some(line.split_once(listening)?.1));
    let dashboard = format!("The dashboard: http://{}", address.expect("its address"));
    assert!(text.contains(&dashboard), "{dashboard} is not in {text}");
    let address: SocketAddr = address.expect("its address").parse().unwrap();
    let stats = Client::new(address).get("/v1/stats").expect(200);
    assert_eq!(stats["counts"]["completed"], 10, "{stats}");
    assert_eq!(stats["counts"]["failed"], 1, "{stats}");
    assert_eq!(stats["totals"]["replayed"], 10, "{stats}");
    play.signal(Signal::INT);
    let (code, text) = play.end();
    assert_eq!(code, Some(0), "{text}");
    play.until_its_processes_are_gone();
    let kept: Vec<_> = play.files().collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept.iter().all(|kept| kept.join("billing.db").is_file()), "{kept:?}");
}

/// Runs, charges and the invoice's state of one subscription, from the table at the end.
fn row(text: &str, name: &str) -> (u64, u64, String) {
    let line = text.lines().find(|line| line.starts_with(&format!("  {name} ")));
    let line = line.unwrap_or_else(|| panic!("no row of {name} in:\n{text}"));
    let mut words = line.split_whitespace().rev();
    let mut next = || words.next().unwrap().to_owned();
    let (invoice, charges, runs) = (next(), next(), next());
    (runs.parse().unwrap(), charges.parse().unwrap(), invoice)
}

/// The number that stands before `what`.
fn number(text: &str, what: &str) -> u64 {
    let line = text.lines().find_map(|line| Some(line.split_once(what)?.0.trim()));
    line.unwrap_or_else(|| panic!("no {what} in:\n{text}")).parse().unwrap()
}
