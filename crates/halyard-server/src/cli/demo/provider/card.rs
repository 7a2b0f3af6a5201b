//! Test cards by token: `tok_visa` or `pm_card_visa` pays, `…_chargeDeclined` does not.
//!
//! Source: <https://docs.stripe.com/testing>. Raw card numbers are absent.

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::Answer;
use super::id;

/// Why a bank says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decline {
    /// `card_declined` without a reason given.
    GenericDecline,
    /// `card_declined`, and the account is empty.
    InsufficientFunds,
    /// `expired_card`.
    ExpiredCard,
    /// `processing_error`.
    ProcessingError,
}

impl Decline {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::GenericDecline | Self::InsufficientFunds => "card_declined",
            Self::ExpiredCard => "expired_card",
            Self::ProcessingError => "processing_error",
        }
    }

    /// The bank's own word: the `decline_code`.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::GenericDecline => "generic_decline",
            Self::InsufficientFunds => "insufficient_funds",
            Self::ExpiredCard => "expired_card",
            Self::ProcessingError => "processing_error",
        }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Self::GenericDecline => "Your card was declined.",
            Self::InsufficientFunds => "Your card has insufficient funds.",
            Self::ExpiredCard => "Your card has expired.",
            Self::ProcessingError => {
                "An error occurred while processing your card. Try again in a little bit."
            }
        }
    }

    /// 402 with the card error.
    pub(super) fn answer(self) -> Answer {
        Answer::error(StatusCode::PAYMENT_REQUIRED, "card_error", self.message())
            .code(self.code())
            .with("decline_code", self.reason())
    }
}

/// A kind of test card; the row's first word ends its tokens.
#[derive(Debug)]
pub(super) struct Kind {
    name: &'static str,
    brand: &'static str,
    last4: &'static str,
    decline: Option<Decline>,
    /// A bank that declines also declines to be a customer's card, but for one.
    attachable: bool,
}

const fn pays(name: &'static str, brand: &'static str, last4: &'static str) -> Kind {
    Kind { name, brand, last4, decline: None, attachable: true }
}

const fn declines(name: &'static str, last4: &'static str, decline: Decline) -> Kind {
    Kind { name, brand: "Visa", last4, decline: Some(decline), attachable: false }
}

static VISA: Kind = pays("visa", "Visa", "4242");

static KINDS: [Kind; 7] = [
    pays("mastercard", "MasterCard", "4444"),
    pays("amex", "American Express", "8431"),
    declines("chargeDeclined", "0002", Decline::GenericDecline),
    declines("chargeDeclinedInsufficientFunds", "9995", Decline::InsufficientFunds),
    declines("chargeDeclinedExpiredCard", "0069", Decline::ExpiredCard),
    declines("chargeDeclinedProcessingError", "0119", Decline::ProcessingError),
    Kind {
        name: "chargeCustomerFail",
        brand: "Visa",
        last4: "0341",
        decline: Some(Decline::GenericDecline),
        attachable: true,
    },
];

/// A card in use, under an id of its own.
#[derive(Debug, Clone)]
pub(super) struct Card {
    pub(super) id: String,
    kind: &'static Kind,
}

impl Card {
    /// The card that always pays.
    pub(super) fn visa() -> Self {
        Self { id: id::object("card"), kind: &VISA }
    }

    /// A card from a parameter `source`.
    pub(super) fn from_source(token: &str) -> Result<Self, Answer> {
        let kind = token.strip_prefix("tok_").and_then(find);
        let kind = kind.ok_or_else(|| Answer::missing("token", token, "source"))?;
        Ok(Self { id: id::object("card"), kind })
    }

    /// A card from a parameter `payment_method`.
    pub(super) fn from_payment_method(token: &str) -> Result<Self, Answer> {
        let kind = token.strip_prefix("pm_card_").and_then(find);
        let kind = kind.ok_or_else(|| Answer::missing("PaymentMethod", token, "payment_method"))?;
        Ok(Self { id: id::object("pm"), kind })
    }

    pub(super) fn decline(&self) -> Option<Decline> {
        self.kind.decline
    }

    /// Why the card cannot become a customer's.
    pub(super) fn attach_decline(&self) -> Option<Decline> {
        self.kind.decline.filter(|_| !self.kind.attachable)
    }

    /// The card as a charge's `source`.
    pub(super) fn source_json(&self, customer: Option<&str>) -> Value {
        json!({
            "id": self.id, "object": "card", "brand": self.kind.brand, "country": "US",
            "customer": customer, "cvc_check": null, "dynamic_last4": null, "exp_month": 12,
            "exp_year": 2034, "funding": "credit", "last4": self.kind.last4, "metadata": {},
            "name": null, "tokenization_method": null,
        })
    }

    /// The card as a charge's `payment_method_details`.
    pub(super) fn details_json(&self) -> Value {
        json!({
            "type": "card",
            "card": {
                "brand": self.network(), "checks": null, "country": "US", "exp_month": 12,
                "exp_year": 2034, "funding": "credit", "installments": null,
                "last4": self.kind.last4, "network": self.network(), "three_d_secure": null,
                "wallet": null,
            },
        })
    }

    fn network(&self) -> String {
        match self.kind.brand {
            "American Express" => "amex".to_owned(),
            brand => brand.to_ascii_lowercase(),
        }
    }
}

/// `visa`, `chargeDeclined` or `visa_chargeDeclined`: Stripe uses both spellings of the latter.
fn find(name: &str) -> Option<&'static Kind> {
    let name = match name.strip_prefix("visa_") {
        Some(rest) if rest.starts_with("charge") => rest,
        Some(_) | None => name,
    };
    std::iter::once(&VISA).chain(&KINDS).find(|kind| kind.name == name)
}
