//! Names: what queues, tasks, workers, tags, keys and checkpoints may be called.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::limits;

/// Says whether `text` may name a queue, a task, a worker or a tag.
///
/// # Errors
/// The rule that it breaks, as a sentence without the name.
pub fn check_name(text: &str) -> Result<(), String> {
    let max = limits::NAME_LENGTH_MAX;
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let spelled_well = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'/' | b'-'));
    if starts_well && spelled_well && text.len() <= max {
        return Ok(());
    }
    Err(format!(
        "must be 1 to {max} characters of A-Z a-z 0-9 . _ : / - and start with a letter or a digit"
    ))
}

/// Says whether `text` may be an idempotency key.
///
/// # Errors
/// The rule that it breaks, as a sentence without the key.
pub fn check_key(text: &str) -> Result<(), String> {
    check_free_text(text, limits::KEY_LENGTH_MAX)
}

/// Says whether `text` may name a checkpoint.
///
/// # Errors
/// The rule that it breaks, as a sentence without the name.
pub fn check_checkpoint_name(text: &str) -> Result<(), String> {
    check_free_text(text, limits::CHECKPOINT_NAME_LENGTH_MAX)
}

/// Says whether `text` may name a key that opens the API.
///
/// # Errors
/// The rule that it breaks, as a sentence without the name.
pub fn check_api_key_name(text: &str) -> Result<(), String> {
    check_free_text(text, limits::LABEL_LENGTH_MAX)
}

/// Says whether `text` may be shown as a worker's display name or the name of its SDK.
///
/// # Errors
/// The rule that it breaks, as a sentence without the text.
pub fn check_label(text: &str) -> Result<(), String> {
    check_length(text, limits::LABEL_LENGTH_MAX)
}

/// Says whether `text` may be the filter of a bulk action. It is only ever shown.
///
/// # Errors
/// The rule that it breaks, as a sentence without the text.
pub fn check_filter(text: &str) -> Result<(), String> {
    check_length(text, limits::FILTER_LENGTH_MAX)
}

/// Says whether `text` may be the id of a claim. It is only ever compared.
///
/// # Errors
/// The rule that it breaks, as a sentence without the id.
pub fn check_claim_id(text: &str) -> Result<(), String> {
    let max = limits::LABEL_LENGTH_MAX;
    if text.is_empty() || check_label(text).is_err() {
        return Err(format!("must be 1 to {max} characters long"));
    }
    Ok(())
}

fn check_length(text: &str, length_max: usize) -> Result<(), String> {
    // Counting stops at the limit, so that a huge text costs no more than a long one.
    match text.chars().nth(length_max) {
        None => Ok(()),
        Some(_) => Err(format!("must be at most {length_max} characters long")),
    }
}

/// Any script, any case, not normalised; only what cannot be seen or cannot be kept is refused.
fn check_free_text(text: &str, length_max: usize) -> Result<(), String> {
    if text.is_empty() || check_length(text, length_max).is_err() {
        return Err(format!("must be 1 to {length_max} characters long"));
    }
    if text.starts_with(char::is_whitespace) || text.ends_with(char::is_whitespace) {
        return Err("must not begin or end with white space".to_owned());
    }
    let refused = text.chars().find(|c| {
        !c.is_ascii_graphic()
            && matches!(
                c.general_category(),
                GeneralCategory::Control | GeneralCategory::Surrogate | GeneralCategory::Unassigned
            )
    });
    match refused {
        None => Ok(()),
        Some(c) => Err(format!(
            "must not hold control characters or unassigned code points (U+{:04X})",
            u32::from(c)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let longest = "n".repeat(128);
        for good in ["default", "0", "billing/eu:west-1.a_b", longest.as_str()] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
        let too_long = "n".repeat(129);
        for bad in ["", "-a", ".a", "a b", "a\u{202e}b", "é", "a\0b", too_long.as_str()] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn labels_and_claim_ids() {
        let longest = "\u{1f600}".repeat(128);
        let too_long = longest.clone() + "n";
        for (text, label, claim_id) in
            [("", true, false), ("a b", true, true), (&longest, true, true)]
        {
            assert_eq!(check_label(text).is_ok(), label, "{text}");
            assert_eq!(check_claim_id(text).is_ok(), claim_id, "{text}");
        }
        assert!(check_label(&too_long).is_err() && check_claim_id(&too_long).is_err());
    }

    #[test]
    fn keys() {
        let longest = "\u{1f600}".repeat(255);
        for good in ["k", "charge:sub_1:2026-11", "a b", "a\u{202e}b", "é", "e\u{301}", &longest] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        let too_long = "k".repeat(256);
        for bad in ["", " a", "a ", "\u{a0}a", "a\nb", "a\0b", "\u{378}", "\u{ffff}", &too_long] {
            assert!(check_key(bad).is_err(), "{bad:?}");
        }
    }
}
