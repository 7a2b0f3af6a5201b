//! What a customer meets: the script of the story, beside what its card does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::card::Decline;
use super::witness::{Deed, Witness};

/// The bearer key that a provider asks for unless told otherwise.
pub const SECRET_KEY_DEFAULT: &str = "sk_test_halyard_demo";

/// How a provider behaves from its start.
#[derive(Debug, Clone)]
pub struct Behaviours {
    /// The bearer key it accepts; any other gets a 401.
    pub secret_key: String,
    /// Customers by id (`cus_ada`). Each exists from the start with `tok_visa` as default source.
    pub customers: BTreeMap<String, Behaviour>,
    /// Who is told of what it does.
    pub witness: Option<Witness>,
}

impl Default for Behaviours {
    fn default() -> Self {
        let secret_key = SECRET_KEY_DEFAULT.to_owned();
        Self { secret_key, customers: BTreeMap::new(), witness: None }
    }
}

impl Behaviours {
    /// Adds a customer that exists from the start and meets `behaviour`.
    #[must_use]
    pub fn customer(mut self, id: impl Into<String>, behaviour: Behaviour) -> Self {
        self.customers.insert(id.into(), behaviour);
        self
    }

    /// Tells `told` of every answer to a call that may have an effect; see [`Witness`].
    #[must_use]
    pub fn witness(mut self, told: impl Fn(Deed) + Send + Sync + 'static) -> Self {
        self.witness = Some(Witness::new(told));
        self
    }
}

/// What happens to the `POST` calls that name one customer. The default: nothing out of the way.
///
/// As JSON (`PUT /test/customers/{id}`) each member may be left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behaviour {
    /// Every charge is declined for this reason, whatever the card.
    pub decline: Option<Decline>,
    /// So many calls are answered 429 before anything else is looked at.
    pub rate_limit_first: u32,
    /// The `Retry-After` of those, in seconds.
    pub retry_after_s: u32,
    /// So many charges that got past the door end in a 500 and charge nothing.
    pub error_first: u32,
    /// Whether such a 500 is recorded under its key, and so replayed.
    pub error_recorded: bool,
    /// How long a charge takes before it is made, in milliseconds; its key is under way meanwhile.
    pub work_ms: u64,
    /// How long the answer is held after the charge and its record were made, in milliseconds. A
    /// repeat under the same key is replayed at once.
    pub hold_ms: u64,
    /// How many answers are held; all when absent.
    pub hold_first: Option<u32>,
}
