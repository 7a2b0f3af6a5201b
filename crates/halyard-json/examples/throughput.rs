//! How fast bodies are read: `cargo run --release -p halyard-json --example throughput`.
//!
//! Prints, per kind of body, the megabytes a second of `parse`, of `parse` with a copy of the
//! payload, of `canonical`, and of serde_json into a `Value` for comparison.

use std::hint::black_box;
use std::time::{Duration, Instant};

use halyard_json::{Text, canonical, parse};

const DEPTH: u16 = 64;
const RUN: Duration = Duration::from_millis(700);

fn main() {
    let job = |n: usize| {
        let lines = r#"[{"sku":"pro-seat","n":3}],"note":"Grüße, thank you""#;
        let payload = format!(
            r#"{{"invoice_id":"inv_{n:08}","customer":"cus_9s8d7f6g5h","amount_cents":{n},{}}}"#,
            format_args!(r#""currency":"EUR","lines":{lines}"#),
        );
        let control = r#""task":"billing.charge","queue":"billing","priority":5"#;
        format!(r#"{{{control},"idempotency_key":"invoice-{n:06}","payload":{payload}}}"#)
    };
    let jobs: Vec<String> = (0..1000).map(job).collect();
    let flat: Vec<String> = (0..100_000).map(|n| format!("\"field{n}\":{n}")).collect();
    let bodies = [
        ("create, one job", job(42)),
        ("batch, 1,000 jobs", format!(r#"{{"jobs":[{}]}}"#, jobs.join(","))),
        ("payload, long strings", format!(r#"{{"payload":"{}"}}"#, "lorem ipsum ".repeat(80_000))),
        ("payload, long escaped", format!(r#"{{"payload":"{}"}}"#, r"line\n\u00e9".repeat(80_000))),
        ("payload, digits", format!("[{}0]", "0,".repeat(500_000))),
        ("payload, 100,000 members", format!("{{{}}}", flat.join(","))),
    ];
    for (what, body) in &bodies {
        println!("{what}, {} bytes", body.len());
        let root = Text::trusted(body.as_str());
        measure("parse", body, || parse(body.as_bytes(), DEPTH).is_ok());
        measure("parse and copy", body, || {
            let document = parse(body.as_bytes(), DEPTH);
            document.is_ok_and(|document| {
                let root = document.root();
                root.member("payload").unwrap_or(root).to_text().len() > 1
            })
        });
        measure("canonical", body, || !canonical(&root).is_empty());
        measure("serde_json", body, || {
            serde_json::from_slice::<serde_json::Value>(body.as_bytes()).is_ok()
        });
    }
}

/// Takes the fastest of many rounds, so that a busy machine shows less.
fn measure(what: &str, body: &str, mut once: impl FnMut() -> bool) {
    let calls = (200_000 / body.len()).max(1);
    let (start, mut best, mut all) = (Instant::now(), Duration::MAX, true);
    while start.elapsed() < RUN {
        let round = Instant::now();
        for _ in 0..calls {
            all &= black_box(once());
        }
        best = best.min(round.elapsed());
    }
    let nanoseconds = best.as_secs_f64() * 1e9 / calls as f64;
    let rate = body.len() as f64 / nanoseconds * 1e3;
    println!("  {what:<16}{rate:>8.0} MB/s {nanoseconds:>12.0} ns  {all}");
}
