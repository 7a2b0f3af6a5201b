//! The parameters of one call, read by name and refused with Stripe's codes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::Answer;
use super::form::{Field, Group};

/// $999,999.99, Stripe's bound for an eight-digit amount.
const AMOUNT_MAX: u64 = 99_999_999;
const TEXT_CHARS_MAX: usize = 5_000;
const METADATA_KEYS_MAX: usize = 50;
const METADATA_KEY_CHARS_MAX: usize = 40;
const METADATA_VALUE_CHARS_MAX: usize = 500;
const PAGE_DEFAULT: usize = 10;
const PAGE_MAX: u64 = 100;

/// Reads the parameters of one call; every method answers 400 for a value out of its rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Params<'a> {
    fields: &'a Group,
}

/// What a caller may write on a payment and gets back unchanged.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes {
    pub(super) description: Option<String>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) receipt_email: Option<String>,
    pub(super) statement_descriptor: Option<String>,
    pub(super) statement_descriptor_suffix: Option<String>,
    pub(super) transfer_group: Option<String>,
}

/// Which part of a list is asked for.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) limit: usize,
    pub(super) starting_after: Option<String>,
}

impl<'a> Params<'a> {
    /// Refuses parameters that are not in `known`.
    pub(super) fn new(fields: &'a Group, known: &[&str]) -> Result<Self, Answer> {
        let unknown: Vec<&str> =
            fields.keys().map(String::as_str).filter(|name| !known.contains(name)).collect();
        let message = match unknown.as_slice() {
            [] => return Ok(Self { fields }),
            [one] => format!("Received unknown parameter: {one}"),
            many => format!("Received unknown parameters: {}", many.join(", ")),
        };
        let first = unknown.first().copied().unwrap_or_default();
        Err(Answer::invalid(message).code("parameter_unknown").param(first))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Answer> {
        let value = match self.fields.get(name) {
            None => return Ok(None),
            Some(Field::Group(_)) => {
                return Err(Answer::invalid(format!("Invalid string: {name}")).param(name));
            }
            Some(Field::Text(value)) => value,
        };
        if value.is_empty() {
            let message = format!(
                "You passed an empty string for '{name}'. We assume empty values are an attempt \
                 to unset a parameter; however '{name}' cannot be unset. You should remove \
                 '{name}' from your request or supply a non-empty value."
            );
            return Err(Answer::invalid(message).code("parameter_invalid_empty").param(name));
        }
        if value.chars().count() > TEXT_CHARS_MAX {
            let message = format!("Invalid string: must be at most {TEXT_CHARS_MAX} characters");
            return Err(Answer::invalid(message).param(name));
        }
        Ok(Some(value.clone()))
    }

    pub(super) fn required(&self, name: &str) -> Result<String, Answer> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// `amount`, in the currency's smallest unit.
    pub(super) fn amount(&self) -> Result<u64, Answer> {
        let text = self.required("amount")?;
        let amount = integer("amount", &text, 1)?;
        if amount > AMOUNT_MAX {
            let message = "Amount must be no more than $999,999.99";
            return Err(Answer::invalid(message).code("amount_too_large").param("amount"));
        }
        Ok(amount)
    }

    /// `currency`, three letters in any case, answered in small ones.
    pub(super) fn currency(&self) -> Result<String, Answer> {
        let text = self.required("currency")?;
        if text.len() == 3 && text.bytes().all(|letter| letter.is_ascii_alphabetic()) {
            return Ok(text.to_ascii_lowercase());
        }
        let message = format!("Invalid currency: {text}. A currency is a three-letter ISO code.");
        Err(Answer::invalid(message).param("currency"))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Answer> {
        match self.text(name)?.as_deref() {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(Answer::invalid(format!("Invalid boolean: {other}")).param(name)),
        }
    }

    /// Refuses every value of `name` but `only`, for parameters with one supported meaning.
    pub(super) fn only(&self, name: &str, only: &str) -> Result<(), Answer> {
        match self.text(name)? {
            Some(value) if value != only => {
                let message = format!("Invalid {name}: this test provider supports only {only}");
                Err(Answer::invalid(message).param(name))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn notes(&self) -> Result<Notes, Answer> {
        Ok(Notes {
            description: self.text("description")?,
            metadata: self.metadata()?,
            receipt_email: self.text("receipt_email")?,
            statement_descriptor: self.text("statement_descriptor")?,
            statement_descriptor_suffix: self.text("statement_descriptor_suffix")?,
            transfer_group: self.text("transfer_group")?,
        })
    }

    /// `metadata`; a key with an empty value is left out, as at Stripe.
    pub(super) fn metadata(&self) -> Result<BTreeMap<String, String>, Answer> {
        let group = match self.fields.get("metadata") {
            None => return Ok(BTreeMap::new()),
            Some(Field::Text(text)) if text.is_empty() => return Ok(BTreeMap::new()),
            Some(Field::Text(_)) => {
                return Err(Answer::invalid("Invalid object: metadata").param("metadata"));
            }
            Some(Field::Group(group)) => group,
        };
        if group.len() > METADATA_KEYS_MAX {
            let message = format!("Metadata can have at most {METADATA_KEYS_MAX} keys.");
            return Err(Answer::invalid(message).param("metadata"));
        }
        let mut metadata = BTreeMap::new();
        for (key, field) in group {
            let param = format!("metadata[{key}]");
            let Field::Text(value) = field else {
                let message = "Metadata values must be strings, but a nested value was given.";
                return Err(Answer::invalid(message).param(&param));
            };
            if key.chars().count() > METADATA_KEY_CHARS_MAX {
                let message =
                    format!("Metadata keys can have up to {METADATA_KEY_CHARS_MAX} characters.");
                return Err(Answer::invalid(message).param(&param));
            }
            if value.chars().count() > METADATA_VALUE_CHARS_MAX {
                let message = format!(
                    "Metadata values can have up to {METADATA_VALUE_CHARS_MAX} characters."
                );
                return Err(Answer::invalid(message).param(&param));
            }
            if !value.is_empty() {
                metadata.insert(key.clone(), value.clone());
            }
        }
        Ok(metadata)
    }

    pub(super) fn page(&self) -> Result<Page, Answer> {
        let limit = match self.text("limit")? {
            None => PAGE_DEFAULT,
            Some(text) => match integer("limit", &text, 1)? {
                limit if limit > PAGE_MAX => {
                    let message = format!("This value must be less than or equal to {PAGE_MAX}.");
                    return Err(Answer::invalid(message)
                        .code("parameter_invalid_integer")
                        .param("limit"));
                }
                limit => usize::try_from(limit).unwrap_or(PAGE_DEFAULT),
            },
        };
        Ok(Page { limit, starting_after: self.text("starting_after")? })
    }
}

impl Notes {
    /// Copies the notes into an object's JSON.
    pub(super) fn write(&self, object: &mut Value) {
        let notes = json!({
            "description": self.description,
            "metadata": self.metadata,
            "receipt_email": self.receipt_email,
            "statement_descriptor": self.statement_descriptor,
            "statement_descriptor_suffix": self.statement_descriptor_suffix,
            "transfer_group": self.transfer_group,
        });
        if let (Value::Object(object), Value::Object(notes)) = (object, notes) {
            object.extend(notes);
        }
    }
}

/// The refusal of a call that lacks a parameter.
pub(super) fn missing(name: &str) -> Answer {
    let message = format!("Missing required param: {name}.");
    Answer::invalid(message).code("parameter_missing").param(name)
}

fn integer(name: &str, text: &str, min: u64) -> Result<u64, Answer> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let well_formed = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let refuse = |message: String| {
        Err(Answer::invalid(message).code("parameter_invalid_integer").param(name))
    };
    if !well_formed {
        return refuse(format!("Invalid integer: {text}"));
    }
    if digits.len() < text.len() {
        return refuse(format!("This value must be greater than or equal to {min}."));
    }
    // More digits than fit are a large number all the same.
    match digits.parse::<u64>().unwrap_or(u64::MAX) {
        value if value < min => {
            refuse(format!("This value must be greater than or equal to {min}."))
        }
        value => Ok(value),
    }
}
