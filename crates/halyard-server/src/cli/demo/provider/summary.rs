//! The count at the end of the story, taken from the charges themselves.

use std::collections::BTreeMap;

use serde::Serialize;

/// What was charged and asked so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Calls under `/v1/`, refused ones included.
    pub calls: u64,
    /// Answers given again from the record of a key.
    pub replays: u64,
    /// Calls whose endpoint runs at this moment.
    pub under_way: u64,
    /// 401s: no key, or a wrong one.
    pub unauthorized: u64,
    /// 429s.
    pub rate_limited: u64,
    /// 409s: the first call with the key was under way.
    pub key_in_use: u64,
    /// 400s for a key that belongs to another call.
    pub key_reused: u64,
    /// Charges that took money.
    pub charges_succeeded: u64,
    /// Charges that a bank declined.
    pub charges_failed: u64,
    /// By customer id: everyone who exists.
    pub customers: BTreeMap<String, CustomerSummary>,
}

/// One customer's part of the [`Summary`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CustomerSummary {
    /// `POST` calls that named the customer, refused ones included.
    pub calls: u64,
    /// Those of them that were answered from a record.
    pub replays: u64,
    /// Charges that took the customer's money.
    pub charges_succeeded: u64,
    /// Charges that the bank declined.
    pub charges_failed: u64,
    /// Money taken, in the currency's smallest unit, currencies added up as they are.
    pub amount_succeeded: u64,
}

/// One charge, for counting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChargeRow {
    /// The charge's id, `ch_…`.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// In the currency's smallest unit.
    pub amount: u64,
    /// Three small letters.
    pub currency: String,
    /// Whose card it was, when a customer was named.
    pub customer: Option<String>,
    /// The payment intent that made it, if one did.
    pub payment_intent: Option<String>,
    /// `succeeded` or `failed`.
    pub status: &'static str,
    /// The `Idempotency-Key` that it was made under.
    pub idempotency_key: Option<String>,
    /// The caller's own notes.
    pub metadata: BTreeMap<String, String>,
}
