//! Every limit, by its constant: those of jobs and calls from `halyard-core` here; those of
//! requests and of a server, which stand where they are kept, in `server`.

mod server;

use std::fmt::Write as _;
use std::time::Duration;

use halyard_core::limits::GROUPS;

/// The page.
pub(super) fn text() -> String {
    let mut page = String::from(
        "# Limits\n\n\
         <!-- Made by `halyard reference limits > docs/reference/limits.md`; a test finds it \
         stale. -->\n\n\
         Everything has a limit, and the limit has a name: this page lists the constants of the \
         code. A\n`wait_ms` or a `limit` beyond its limit is cut; any other value out of range is \
         `400\ninvalid_field`, and what is too large `413 payload_too_large`. Sizes are bytes of \
         UTF-8, lengths are\nUnicode code points.\n",
    );
    for (group, limits) in GROUPS {
        begin(group, &mut page);
        for limit in *limits {
            let meaning = limit.meaning.concat();
            row(meaning.trim(), &shown(limit.name, limit.value), limit.name, &mut page);
        }
    }
    for (group, rows) in [
        ("Requests", &server::requests()[..]),
        ("Access", &server::access()[..]),
        ("A server", &server::server()[..]),
    ] {
        begin(group, &mut page);
        for (name, meaning, value) in rows {
            row(meaning, &shown(name, *value as f64), name, &mut page);
        }
    }
    for (name, meaning, wait) in server::waits() {
        row(meaning, &duration(wait), name, &mut page);
    }
    page
}

fn begin(group: &str, page: &mut String) {
    let _ = write!(page, "\n## {group}\n\n| what | limit | constant |\n|---|---|---|\n");
}

fn row(meaning: &str, limit: &str, name: &str, page: &mut String) {
    let _ = writeln!(page, "| {meaning} | {limit} | `{name}` |");
}

/// A value with its unit, which the name tells.
fn shown(name: &str, value: f64) -> String {
    let has = |unit: &str| name.split('_').any(|word| word.eq_ignore_ascii_case(unit));
    if has("MS") {
        return duration(Duration::from_secs_f64(value / 1_000.0));
    }
    if has("KIB") {
        return bytes(value * 1_024.0);
    }
    if has("BYTES") {
        return bytes(value);
    }
    let number = grouped(value);
    if name.ends_with("_LENGTH_MAX") { number + " code points" } else { number }
}

fn bytes(bytes: f64) -> String {
    let units = [("MiB", 1_048_576.0), ("KiB", 1_024.0)];
    match units.into_iter().find(|(_, size)| bytes % size == 0.0) {
        Some((unit, size)) => format!("{} {unit}", bytes / size),
        None => format!("{} bytes", grouped(bytes)),
    }
}

/// In the largest unit that fits, and as the API takes it.
fn duration(wait: Duration) -> String {
    let ms = wait.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000)];
    match units.into_iter().find(|(_, unit)| ms.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{} {name} ({ms} ms)", ms / unit),
        None => format!("{ms} ms"),
    }
}

/// With a comma after each three digits.
fn grouped(value: f64) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use std::path::Path;

    use halyard_core::limits;

    use super::*;

    #[test]
    fn the_committed_page_is_fresh() {
        let committed = include_str!("../../../../../../docs/reference/limits.md");
        assert!(
            text() == committed,
            "docs/reference/limits.md is stale; make it anew with: cargo run -q -p halyard-server \
             --bin halyard -- reference limits > docs/reference/limits.md"
        );
    }

    #[test]
    fn values_have_their_units() {
        for (name, value, wanted) in [
            ("A_BYTES_MAX", 2_097_152.0, "2 MiB"),
            ("A_BYTES_MAX", 256.0, "256 bytes"),
            ("A_KIB_MAX", 262_144.0, "256 MiB"),
            ("A_MS_MAX", 100.0, "100 ms"),
            ("A_MS", 90_000.0, "90 s (90000 ms)"),
            ("A_MS_MAX", 604_800_000.0, "7 d (604800000 ms)"),
            ("A_LENGTH_MAX", 128.0, "128 code points"),
            ("A_MAX", 1_234_567.0, "1,234,567"),
            ("A_MAX", 100.0, "100"),
        ] {
            assert_eq!(shown(name, value), wanted, "{name} {value}");
        }
    }

    /// Whoever adds a limit that others can see finds it missing here.
    #[test]
    fn every_public_limit_of_the_server_is_on_the_page() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = [
            "src/access",
            "src/http",
            "src/engine",
            "../halyard-api/src",
            "../halyard-store/src",
            "../halyard-store/src/sqlite",
        ];
        let page = text();
        let mut found = 0;
        for file in folders.iter().flat_map(|folder| here.join(folder).read_dir().unwrap()) {
            let Ok(source) = std::fs::read_to_string(file.unwrap().path()) else { continue };
            let limits = source.lines().filter_map(|line| line.strip_prefix("pub const "));
            for name in limits.filter_map(|line| line.split(':').next()) {
                if name.ends_with("_MAX") {
                    found += 1;
                    assert!(page.contains(&format!("`{name}`")), "{name} is not on the page");
                }
            }
        }
        assert!(found >= 13, "only {found} were found");
    }

    #[test]
    fn arrays_hold_as_many_as_core_allows() {
        let rows = server::requests();
        let of = |name| rows.iter().find(|(other, ..)| *other == name).unwrap().2;
        assert_eq!([limits::BATCH_MAX, limits::CLAIM_NAMES_MAX], [of("ELEMENTS_MAX"); 2]);
        assert_eq!(limits::KEY_LENGTH_MAX, of("IDEMPOTENCY_KEY_CHARS_MAX"));
    }
}
