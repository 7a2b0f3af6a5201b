//! Customers: who pays, and with which card unless told otherwise.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::Answer;
use super::card::Card;
use super::form::Group;
use super::id;
use super::ledger::{Ledger, Run};
use super::params::Params;
use super::shelf::Object;

const CREATE: &[&str] = &["description", "email", "metadata", "name", "phone", "source"];
const LIST: &[&str] = &["email", "limit", "starting_after"];

#[derive(Debug)]
pub(super) struct Customer {
    id: String,
    created_s: u64,
    details: Details,
    /// The default source.
    pub(super) card: Option<Card>,
}

#[derive(Debug, Default)]
struct Details {
    description: Option<String>,
    email: Option<String>,
    metadata: BTreeMap<String, String>,
    name: Option<String>,
    phone: Option<String>,
}

/// What `POST /v1/customers` asks for.
#[derive(Debug)]
pub(super) struct Create {
    details: Details,
    card: Option<Card>,
}

impl Create {
    pub(super) fn parse(fields: &Group) -> Result<Self, Answer> {
        let params = Params::new(fields, CREATE)?;
        let details = Details {
            description: params.text("description")?,
            email: params.text("email")?,
            metadata: params.metadata()?,
            name: params.text("name")?,
            phone: params.text("phone")?,
        };
        let card = params.text("source")?.as_deref().map(Card::from_source).transpose()?;
        Ok(Self { details, card })
    }

    pub(super) fn run(self, ledger: &mut Ledger, run: &Run) -> Answer {
        if let Some(decline) = self.card.as_ref().and_then(Card::attach_decline) {
            return decline.answer();
        }
        let customer = Customer {
            id: id::object("cus"),
            created_s: run.now_s,
            details: self.details,
            card: self.card,
        };
        let answer = Answer::object(customer.json());
        ledger.customers.insert(customer);
        answer
    }
}

pub(super) fn list(ledger: &Ledger, fields: &Group) -> Result<Answer, Answer> {
    let params = Params::new(fields, LIST)?;
    let email = params.text("email")?;
    ledger
        .customers
        .list(&params.page()?, |customer| email.is_none() || customer.details.email == email)
}

impl Customer {
    /// A customer of the story, under a known id and with a card that pays.
    pub(super) fn scripted(id: &str, now_s: u64) -> Self {
        Self {
            id: id.to_owned(),
            created_s: now_s,
            details: Details::default(),
            card: Some(Card::visa()),
        }
    }
}

impl Object for Customer {
    const NOUN: &'static str = "customer";
    const URL: &'static str = "/v1/customers";

    fn id(&self) -> &str {
        &self.id
    }

    fn json(&self) -> Value {
        json!({
            "id": self.id, "object": "customer", "address": null, "balance": 0,
            "created": self.created_s, "currency": null,
            "default_source": self.card.as_ref().map(|card| &card.id), "delinquent": false,
            "description": self.details.description, "discount": null,
            "email": self.details.email, "invoice_prefix": null,
            "invoice_settings": {
                "custom_fields": null, "default_payment_method": null, "footer": null,
                "rendering_options": null,
            },
            "livemode": false, "metadata": self.details.metadata, "name": self.details.name,
            "phone": self.details.phone, "preferred_locales": [], "shipping": null,
            "tax_exempt": "none", "test_clock": null,
        })
    }
}
