//! Payment intents: an amount that is tried with one card after another until one pays.

use http::StatusCode;
use serde_json::{Value, json};

use super::answer::Answer;
use super::card::{Card, Decline};
use super::charge::Charge;
use super::form::Group;
use super::id;
use super::ledger::{Ledger, Run};
use super::params::{Notes, Params, missing};
use super::shelf::Object;

/// Those that change nothing here: `automatic_payment_methods`, `confirmation_method`,
/// `error_on_requires_action`, `off_session`, `payment_method_types`, `return_url`,
/// `setup_future_usage`, `use_stripe_sdk`. No test card asks its owner for anything.
const CREATE: &[&str] = &[
    "amount",
    "automatic_payment_methods",
    "capture_method",
    "confirm",
    "confirmation_method",
    "currency",
    "customer",
    "description",
    "error_on_requires_action",
    "metadata",
    "off_session",
    "payment_method",
    "payment_method_types",
    "receipt_email",
    "return_url",
    "setup_future_usage",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_group",
    "use_stripe_sdk",
];
const CONFIRM: &[&str] = &[
    "error_on_requires_action",
    "off_session",
    "payment_method",
    "return_url",
    "setup_future_usage",
    "use_stripe_sdk",
];
/// Those of a `GET`, where the client's secret is the page's own key.
pub(super) const RETRIEVE: &[&str] = &["client_secret"];
const LIST: &[&str] = &["customer", "limit", "starting_after"];

#[derive(Debug)]
pub(super) struct Intent {
    id: String,
    secret: String,
    created_s: u64,
    amount: u64,
    currency: String,
    pub(super) customer: Option<String>,
    /// The card to try next, or the one that paid. A declined card is let go.
    card: Option<Card>,
    charge: Option<String>,
    paid: bool,
    last_error: Value,
    notes: Notes,
}

/// What `POST /v1/payment_intents` asks for.
#[derive(Debug)]
pub(super) struct Create {
    amount: u64,
    currency: String,
    customer: Option<String>,
    payment_method: Option<String>,
    confirm: bool,
    notes: Notes,
}

impl Create {
    pub(super) fn parse(fields: &Group) -> Result<Self, Answer> {
        let params = Params::new(fields, CREATE)?;
        params.only("capture_method", "automatic")?;
        Ok(Self {
            amount: params.amount()?,
            currency: params.currency()?,
            customer: params.text("customer")?,
            payment_method: params.text("payment_method")?,
            confirm: params.flag("confirm")?.unwrap_or(false),
            notes: params.notes()?,
        })
    }

    /// The card to try. Without a payment method, a confirmed intent takes the customer's default
    /// source, as Stripe does for those who come from charges.
    pub(super) fn card(&self, ledger: &Ledger) -> Result<Option<Card>, Answer> {
        let customer =
            self.customer.as_ref().map(|id| ledger.customers.get(id, "customer")).transpose()?;
        let card = match &self.payment_method {
            Some(token) => Some(Card::from_payment_method(token)?),
            None if self.confirm => customer.and_then(|customer| customer.card.clone()),
            None => None,
        };
        if self.confirm && card.is_none() {
            return Err(missing("payment_method"));
        }
        Ok(card)
    }

    pub(super) fn run(self, ledger: &mut Ledger, run: &Run) -> Answer {
        let card = match self.card(ledger) {
            Ok(card) => card,
            Err(refusal) => return refusal,
        };
        let id = id::object("pi");
        let secret = id::object(&format!("{id}_secret"));
        let mut intent = Intent {
            id,
            secret,
            created_s: run.now_s,
            amount: self.amount,
            currency: self.currency,
            customer: self.customer,
            card: card.clone(),
            charge: None,
            paid: false,
            last_error: Value::Null,
            notes: self.notes,
        };
        let answer = match card {
            Some(card) if self.confirm => {
                let (charge, answer) = intent.try_card(card, run);
                ledger.charges.insert(charge);
                answer
            }
            Some(_) | None => Answer::object(intent.json()),
        };
        ledger.intents.insert(intent);
        answer
    }
}

/// What `POST /v1/payment_intents/{id}/confirm` asks for.
#[derive(Debug)]
pub(super) struct Confirm {
    id: String,
    payment_method: Option<String>,
}

impl Confirm {
    pub(super) fn parse(id: &str, fields: &Group) -> Result<Self, Answer> {
        let params = Params::new(fields, CONFIRM)?;
        Ok(Self { id: id.to_owned(), payment_method: params.text("payment_method")? })
    }

    /// The card that the call names. An error is a reference to nothing.
    pub(super) fn card(&self, ledger: &Ledger) -> Result<Option<Card>, Answer> {
        let not_found = |refusal: Answer| refusal.status(StatusCode::NOT_FOUND);
        ledger.intents.get(&self.id, "intent").map_err(not_found)?;
        self.payment_method.as_deref().map(Card::from_payment_method).transpose()
    }

    pub(super) fn run(self, ledger: &mut Ledger, run: &Run) -> Answer {
        let named = match self.card(ledger) {
            Ok(named) => named,
            Err(refusal) => return refusal,
        };
        let Some(intent) = ledger.intents.get_mut(&self.id) else {
            return Answer::missing(Intent::NOUN, &self.id, "intent").status(StatusCode::NOT_FOUND);
        };
        if intent.paid {
            return intent.unexpected(
                "You cannot confirm this PaymentIntent because it has already succeeded after \
                 being previously confirmed.",
            );
        }
        let Some(card) = named.or_else(|| intent.card.clone()) else {
            return intent.unexpected(
                "You cannot confirm this PaymentIntent because it's missing a payment method. You \
                 can either update the PaymentIntent with a payment method and then confirm it \
                 again, or confirm it again directly with a payment method.",
            );
        };
        let (charge, answer) = intent.try_card(card, run);
        ledger.charges.insert(charge);
        answer
    }
}

pub(super) fn list(ledger: &Ledger, fields: &Group) -> Result<Answer, Answer> {
    let params = Params::new(fields, LIST)?;
    let customer = params.text("customer")?;
    ledger.intents.list(&params.page()?, |intent| customer.is_none() || intent.customer == customer)
}

impl Intent {
    /// Makes the charge with the card and says what the endpoint answers.
    fn try_card(&mut self, card: Card, run: &Run) -> (Charge, Answer) {
        let decline = run.decline.or(card.decline());
        let charge = Charge {
            id: id::object("ch"),
            created_s: run.now_s,
            amount: self.amount,
            currency: self.currency.clone(),
            customer: self.customer.clone(),
            intent: Some(self.id.clone()),
            card: card.clone(),
            decline,
            notes: self.notes.clone(),
            key: run.key.clone(),
        };
        self.charge = Some(charge.id.clone());
        let answer = match decline {
            None => {
                self.paid = true;
                self.card = Some(card);
                self.last_error = Value::Null;
                Answer::object(self.json())
            }
            Some(decline) => self.declined(decline, &card, &charge.id),
        };
        (charge, answer)
    }

    fn declined(&mut self, decline: Decline, card: &Card, charge: &str) -> Answer {
        let mut method = card.details_json();
        if let Value::Object(members) = &mut method {
            members.insert("id".to_owned(), card.id.as_str().into());
            members.insert("object".to_owned(), "payment_method".into());
        }
        let answer = decline.answer().with("charge", charge).with("payment_method", method);
        self.card = None;
        self.last_error = answer.error_object();
        answer.with("payment_intent", self.json())
    }

    fn unexpected(&self, message: &str) -> Answer {
        let answer = Answer::invalid(message).code("payment_intent_unexpected_state");
        answer.with("payment_intent", self.json())
    }

    fn status(&self) -> &'static str {
        match (self.paid, &self.card) {
            (true, _) => "succeeded",
            (false, Some(_)) => "requires_confirmation",
            (false, None) => "requires_payment_method",
        }
    }
}

impl Object for Intent {
    const NOUN: &'static str = "payment_intent";
    const URL: &'static str = "/v1/payment_intents";

    fn id(&self) -> &str {
        &self.id
    }

    fn json(&self) -> Value {
        let mut intent = json!({
            "id": self.id, "object": "payment_intent", "amount": self.amount,
            "amount_capturable": 0, "amount_details": { "tip": {} },
            "amount_received": if self.paid { self.amount } else { 0 }, "application": null,
            "application_fee_amount": null, "automatic_payment_methods": null,
            "canceled_at": null, "cancellation_reason": null, "capture_method": "automatic",
            "client_secret": self.secret, "confirmation_method": "automatic",
            "created": self.created_s, "currency": self.currency, "customer": self.customer,
            "last_payment_error": self.last_error, "latest_charge": self.charge,
            "livemode": false, "next_action": null, "on_behalf_of": null,
            "payment_method": self.card.as_ref().map(|card| &card.id),
            "payment_method_options": {}, "payment_method_types": ["card"], "processing": null,
            "review": null, "setup_future_usage": null, "shipping": null, "source": null,
            "status": self.status(), "transfer_data": null,
        });
        self.notes.write(&mut intent);
        intent
    }
}
