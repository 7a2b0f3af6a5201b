//! Which verb a method and a path mean.

use http::Method;

/// A call that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Read {
    Charge(String),
    Charges,
    Customer(String),
    Customers,
    Intent(String),
    Intents,
}

/// A call that may have an effect, and so may carry an `Idempotency-Key`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Write {
    CreateCharge,
    CreateCustomer,
    CreateIntent,
    ConfirmIntent(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Read(Read),
    Write(Write),
}

impl Route {
    /// `None` for what the provider does not know.
    pub(super) fn find(method: &Method, path: &str) -> Option<Self> {
        let segments: Vec<&str> = path.strip_prefix("/v1/")?.split('/').collect();
        let id = |id: &&str| (*id).to_owned();
        if *method == Method::GET {
            return Some(Self::Read(match segments.as_slice() {
                ["charges"] => Read::Charges,
                ["charges", charge] => Read::Charge(id(charge)),
                ["customers"] => Read::Customers,
                ["customers", customer] => Read::Customer(id(customer)),
                ["payment_intents"] => Read::Intents,
                ["payment_intents", intent] => Read::Intent(id(intent)),
                _ => return None,
            }));
        }
        if *method == Method::POST {
            return Some(Self::Write(match segments.as_slice() {
                ["charges"] => Write::CreateCharge,
                ["customers"] => Write::CreateCustomer,
                ["payment_intents"] => Write::CreateIntent,
                ["payment_intents", intent, "confirm"] => Write::ConfirmIntent(id(intent)),
                _ => return None,
            }));
        }
        None
    }
}
