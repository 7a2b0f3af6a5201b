//! Pages while others write.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use halyard_tests::wire::Client;
use serde_json::{Value, json};

use crate::Many;
use crate::acting::id;

const WRITERS: usize = 4;
const BATCHES: usize = 25;
const BATCH: usize = 10;

/// Walks through all pages; no job may come twice.
fn walk(client: &mut Client, order: &str) -> BTreeSet<String> {
    let (mut seen, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page = client.get(&format!("/v1/jobs?limit=20&order={order}{cursor}")).expect(200);
        for job in page["data"].as_array().expect("a list") {
            assert!(seen.insert(id(job)), "twice in one walk: {job}");
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return seen,
        }
    }
}

/// Whatever was acknowledged before a walk began is met by it, once.
#[test]
fn a_walk_meets_what_was_there_before_it() {
    let many = Many::of(3);
    let made = Mutex::new(BTreeSet::new());
    let writing = AtomicUsize::new(WRITERS);
    thread::scope(|scope| {
        for number in 0..WRITERS {
            let (many, made, writing) = (&many, &made, &writing);
            scope.spawn(move || {
                let mut client = many.client(number);
                for _ in 0..BATCHES {
                    let jobs: Vec<Value> = (0..BATCH).map(|_| json!({"task": "t"})).collect();
                    let body = client.post("/v1/jobs/batch", &json!({ "jobs": jobs })).expect(200);
                    let results = body["results"].as_array().expect("a list");
                    made.lock().unwrap().extend(results.iter().map(|one| id(&one["job"])));
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for order in ["asc", "desc"] {
            let (many, made, writing) = (&many, &made, &writing);
            scope.spawn(move || {
                let mut client = many.client(2);
                loop {
                    let over = writing.load(Ordering::SeqCst) == 0;
                    let before = made.lock().unwrap().clone();
                    let seen = walk(&mut client, order);
                    assert!(seen.is_superset(&before), "{order}: {:?}", &before - &seen);
                    if over {
                        assert_eq!(seen.len(), WRITERS * BATCHES * BATCH);
                        return;
                    }
                }
            });
        }
    });
    many.end();
}
