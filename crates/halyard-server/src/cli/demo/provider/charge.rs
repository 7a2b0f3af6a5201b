//! Charges: one card, one amount, paid or declined at once.

use http::StatusCode;
use serde_json::{Value, json};

use super::answer::Answer;
use super::card::{Card, Decline};
use super::form::Group;
use super::id;
use super::ledger::{Ledger, Run};
use super::params::{Notes, Params};
use super::shelf::Object;

const CREATE: &[&str] = &[
    "amount",
    "capture",
    "currency",
    "customer",
    "description",
    "metadata",
    "receipt_email",
    "source",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_group",
];
const LIST: &[&str] = &["customer", "limit", "payment_intent", "starting_after"];

#[derive(Debug)]
pub(super) struct Charge {
    pub(super) id: String,
    pub(super) created_s: u64,
    pub(super) amount: u64,
    pub(super) currency: String,
    pub(super) customer: Option<String>,
    pub(super) intent: Option<String>,
    pub(super) card: Card,
    /// Why it failed; a charge without a reason succeeded.
    pub(super) decline: Option<Decline>,
    pub(super) notes: Notes,
    /// The `Idempotency-Key` that it was made under.
    pub(super) key: Option<String>,
}

/// What `POST /v1/charges` asks for.
#[derive(Debug)]
pub(super) struct Create {
    amount: u64,
    currency: String,
    customer: Option<String>,
    source: Option<String>,
    notes: Notes,
}

impl Create {
    pub(super) fn parse(fields: &Group) -> Result<Self, Answer> {
        let params = Params::new(fields, CREATE)?;
        params.only("capture", "true")?;
        let create = Self {
            amount: params.amount()?,
            currency: params.currency()?,
            customer: params.text("customer")?,
            source: params.text("source")?,
            notes: params.notes()?,
        };
        if create.customer.is_none() && create.source.is_none() {
            let message = "Must provide source or customer.";
            return Err(Answer::invalid(message).code("parameter_missing").param("source"));
        }
        Ok(create)
    }

    /// The card to charge: the token's, or the customer's own. An error is a reference to nothing.
    pub(super) fn card(&self, ledger: &Ledger) -> Result<Option<Card>, Answer> {
        let Some(customer) = &self.customer else {
            return self.source.as_deref().map(Card::from_source).transpose();
        };
        let own = ledger.customers.get(customer, "customer")?.card.as_ref();
        match &self.source {
            Some(source) if own.is_none_or(|card| card.id != *source) => {
                let message =
                    format!("Customer {customer} does not have a linked source with ID {source}.");
                Err(Answer::invalid(message).code("missing").param("source"))
            }
            Some(_) | None => Ok(own.cloned()),
        }
    }

    pub(super) fn run(self, ledger: &mut Ledger, run: &Run) -> Answer {
        let card = match self.card(ledger) {
            Ok(Some(card)) => card,
            Ok(None) => {
                let message = "Cannot charge a customer that has no active card";
                let status = StatusCode::PAYMENT_REQUIRED;
                return Answer::error(status, "card_error", message).code("missing").param("card");
            }
            Err(refusal) => return refusal,
        };
        let charge = Charge {
            id: id::object("ch"),
            created_s: run.now_s,
            amount: self.amount,
            currency: self.currency,
            customer: self.customer,
            intent: None,
            decline: run.decline.or(card.decline()),
            card,
            notes: self.notes,
            key: run.key.clone(),
        };
        let answer = match charge.decline {
            Some(decline) => decline.answer().with("charge", charge.id.as_str()),
            None => Answer::object(charge.json()),
        };
        ledger.charges.insert(charge);
        answer
    }
}

pub(super) fn list(ledger: &Ledger, fields: &Group) -> Result<Answer, Answer> {
    let params = Params::new(fields, LIST)?;
    let customer = params.text("customer")?;
    let intent = params.text("payment_intent")?;
    ledger.charges.list(&params.page()?, |charge| {
        (customer.is_none() || charge.customer == customer)
            && (intent.is_none() || charge.intent == intent)
    })
}

impl Object for Charge {
    const NOUN: &'static str = "charge";
    const URL: &'static str = "/v1/charges";

    fn id(&self) -> &str {
        &self.id
    }

    fn json(&self) -> Value {
        let paid = self.decline.is_none();
        // A payment intent's charge names its payment method, a plain one shows its source.
        let source = self.intent.is_none().then(|| self.card.source_json(self.customer.as_deref()));
        let mut charge = json!({
            "id": self.id, "object": "charge", "amount": self.amount,
            "amount_captured": if paid { self.amount } else { 0 }, "amount_refunded": 0,
            "application": null, "application_fee": null, "application_fee_amount": null,
            "balance_transaction": paid.then(|| self.id.replacen("ch_", "txn_", 1)),
            "billing_details": {
                "address": {
                    "city": null, "country": null, "line1": null, "line2": null,
                    "postal_code": null, "state": null,
                },
                "email": null, "name": null, "phone": null,
            },
            "calculated_statement_descriptor": "HALYARD DEMO", "captured": paid,
            "created": self.created_s, "currency": self.currency, "customer": self.customer,
            "disputed": false, "failure_balance_transaction": null,
            "failure_code": self.decline.map(Decline::code),
            "failure_message": self.decline.map(Decline::message), "fraud_details": {},
            "livemode": false, "on_behalf_of": null, "outcome": self.outcome(), "paid": paid,
            "payment_intent": self.intent, "payment_method": self.card.id,
            "payment_method_details": self.card.details_json(), "receipt_number": null,
            "receipt_url": null, "refunded": false, "review": null, "shipping": null,
            "source": source, "source_transfer": null, "status": self.status(),
            "transfer_data": null,
        });
        self.notes.write(&mut charge);
        charge
    }
}

impl Charge {
    /// Stripe's word for how it ended.
    pub(super) fn status(&self) -> &'static str {
        if self.decline.is_none() { "succeeded" } else { "failed" }
    }

    fn outcome(&self) -> Value {
        match self.decline {
            None => json!({
                "network_status": "approved_by_network", "reason": null, "risk_level": "normal",
                "seller_message": "Payment complete.", "type": "authorized",
            }),
            Some(decline) => json!({
                "network_status": "declined_by_network", "reason": decline.reason(),
                "risk_level": "normal", "type": "issuer_declined",
                "seller_message": "The bank returned a decline code.",
            }),
        }
    }
}
