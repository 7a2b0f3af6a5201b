//! Who appears in the story, and what each of them meets. It never changes, so that the numbers at
//! the end can be known beforehand.

use super::provider::{Behaviour, Behaviours, Decline};

/// The month that is billed.
pub(super) const PERIOD: &str = "2026-11";
/// The task that charges one subscription for one month.
pub(super) const CHARGE: &str = "charge-subscription";
/// The task that closes a month.
pub(super) const CLOSE: &str = "close-month";

/// The queue of both.
pub(super) const QUEUE: &str = "billing";

/// How long the provider keeps its first answer to a slow charge: longer than any attempt may take.
const HOLD_MS: u64 = 30_000;
/// What the provider's rate limit asks for.
const RETRY_AFTER_S: u32 = 2;

/// What happens to a subscription on its way to a paid invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing out of the way.
    Plain,
    /// The worker is killed after the charge and before its report.
    Killed,
    /// The charge succeeds, but its answer takes longer than the job's timeout.
    Slow,
    /// The bank declines the card.
    Declined,
    /// The provider has had too many requests.
    Limited,
    /// The subscription is not in the table yet when its job runs.
    Unknown,
}

/// A subscription and its price in cents a month.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) price: u32,
    pub(super) fate: Fate,
}

const fn member(name: &'static str, price: u32, fate: Fate) -> Member {
    Member { name, price, fate }
}

/// In the order of their jobs. The one during which worker 1 is killed stands before everything
/// else that goes wrong, so that this is the only job lost with it.
pub(super) const CAST: [Member; 10] = [
    member("ada", 1200, Fate::Plain),
    member("ben", 4800, Fate::Plain),
    member("chloe", 1200, Fate::Plain),
    member("dora", 2900, Fate::Killed),
    member("emil", 4800, Fate::Slow),
    member("fay", 1200, Fate::Declined),
    member("gus", 2900, Fate::Limited),
    member("hugo", 1200, Fate::Unknown),
    member("ines", 4800, Fate::Plain),
    member("jun", 2900, Fate::Plain),
];

impl Member {
    pub(super) fn subscription_id(&self) -> String {
        format!("sub_{}", self.name)
    }

    pub(super) fn customer_id(&self) -> String {
        format!("cus_{}", self.name)
    }

    /// Whether there is money to be had: said here, not found out by charging.
    pub(super) fn can_pay(&self) -> bool {
        self.fate != Fate::Declined
    }

    /// What the provider does to the member's charges.
    fn behaviour(&self) -> Behaviour {
        let plain = Behaviour::default();
        match self.fate {
            Fate::Plain | Fate::Killed | Fate::Unknown => plain,
            Fate::Slow => Behaviour { hold_ms: HOLD_MS, hold_first: Some(1), ..plain },
            Fate::Declined => Behaviour { decline: Some(Decline::InsufficientFunds), ..plain },
            Fate::Limited => {
                Behaviour { rate_limit_first: 1, retry_after_s: RETRY_AFTER_S, ..plain }
            }
        }
    }
}

/// The members as the provider's customers.
pub(super) fn behaviours() -> Behaviours {
    let customer =
        |all: Behaviours, member: &Member| all.customer(member.customer_id(), member.behaviour());
    CAST.iter().fold(Behaviours::default(), customer)
}

/// An amount in cents, for people.
pub(super) fn euros(cents: u32) -> String {
    format!("{}.{:02} EUR", cents / 100, cents % 100)
}
