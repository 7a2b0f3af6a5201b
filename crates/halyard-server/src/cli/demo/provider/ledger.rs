//! All that the provider knows, and the two steps of a call that may change it.
//!
//! [`Ledger::admit`] refuses or replays, or lets the call in; [`Ledger::finish`] makes the effect
//! and records the answer in one go. Each is one hold of the lock, so that no other call sees an
//! effect without its record. Time passes between the two, never within.

use std::collections::BTreeMap;

use super::answer::Answer;
use super::behaviour::Behaviour;
use super::card::Decline;
use super::charge::{self, Charge};
use super::customer::{self, Customer};
use super::form::{Field, Group};
use super::intent::{self, Intent};
use super::keys::{Found, Keyed, Keys};
use super::params::Params;
use super::route::{Read, Write};
use super::shelf::{Object, Shelf};
use super::summary::{ChargeRow, CustomerSummary, Summary};

#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub(super) charges: Shelf<Charge>,
    pub(super) customers: Shelf<Customer>,
    pub(super) intents: Shelf<Intent>,
    keys: Keys,
    scripts: BTreeMap<String, Script>,
    /// Calls and replays; what was charged is counted from the charges.
    tally: Summary,
}

/// A behaviour and how much of it was used up.
#[derive(Debug, Default)]
struct Script {
    behaviour: Behaviour,
    rate_limited: u32,
    errors: u32,
    held: u32,
}

/// One call that may have an effect.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) write: Write,
    pub(super) fields: Group,
    /// Present when the call carries an `Idempotency-Key`.
    pub(super) keyed: Option<Keyed>,
}

/// A call that was let in: the endpoint runs from here on.
#[derive(Debug)]
pub(super) struct Admitted {
    order: Order,
    key: Option<String>,
    /// The endpoint will break and charge nothing.
    breaks: bool,
    pub(super) behaviour: Behaviour,
}

/// What an endpoint needs besides its parameters.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) now_s: u64,
    /// The script's decline, which goes before the card's own.
    pub(super) decline: Option<Decline>,
    pub(super) key: Option<String>,
}

/// A call's parameters, read and found in order.
#[derive(Debug)]
enum Order {
    Charge(charge::Create),
    Customer(customer::Create),
    Intent(intent::Create),
    Confirm(intent::Confirm),
}

impl Order {
    fn parse(write: &Write, fields: &Group, ledger: &Ledger) -> Result<Self, Answer> {
        match write {
            Write::CreateCharge => {
                let create = charge::Create::parse(fields)?;
                create.card(ledger)?;
                Ok(Self::Charge(create))
            }
            Write::CreateCustomer => customer::Create::parse(fields).map(Self::Customer),
            Write::CreateIntent => {
                let create = intent::Create::parse(fields)?;
                create.card(ledger)?;
                Ok(Self::Intent(create))
            }
            Write::ConfirmIntent(id) => {
                let confirm = intent::Confirm::parse(id, fields)?;
                confirm.card(ledger)?;
                Ok(Self::Confirm(confirm))
            }
        }
    }

    fn run(self, ledger: &mut Ledger, run: &Run) -> Answer {
        match self {
            Self::Charge(create) => create.run(ledger, run),
            Self::Customer(create) => create.run(ledger, run),
            Self::Intent(create) => create.run(ledger, run),
            Self::Confirm(confirm) => confirm.run(ledger, run),
        }
    }
}

impl Ledger {
    /// Counts a call under `/v1/`.
    pub(super) fn count_call(&mut self, authorized: bool) {
        self.tally.calls += 1;
        self.tally.unauthorized += u64::from(!authorized);
    }

    pub(super) fn read(&self, read: &Read, fields: &Group) -> Result<Answer, Answer> {
        let object = match read {
            Read::Charges => return charge::list(self, fields),
            Read::Customers => return customer::list(self, fields),
            Read::Intents => return intent::list(self, fields),
            Read::Charge(id) => {
                Params::new(fields, &[])?;
                self.charges.get(id, "id").map(Object::json)
            }
            Read::Customer(id) => {
                Params::new(fields, &[])?;
                self.customers.get(id, "id").map(Object::json)
            }
            Read::Intent(id) => {
                Params::new(fields, intent::RETRIEVE)?;
                self.intents.get(id, "intent").map(Object::json)
            }
        };
        object.map(Answer::object).map_err(|refusal| refusal.status(http::StatusCode::NOT_FOUND))
    }

    /// Lets the call in, or answers it: a replay or a refusal, neither of which is recorded.
    pub(super) fn admit(&mut self, call: &Call, now_ms: u64) -> Result<Admitted, Answer> {
        let customer = self.customer_of(call);
        if let Some(customer) = &customer {
            self.count_for(customer).calls += 1;
        }
        self.limit_rate(customer.as_deref())?;
        self.look_up(call, customer.as_deref(), now_ms)?;
        let order = Order::parse(&call.write, &call.fields, self)?;
        if let Some(keyed) = &call.keyed {
            self.keys.begin(keyed.clone(), now_ms);
        }
        self.tally.under_way += 1;
        let mut script = customer.and_then(|customer| self.scripts.get_mut(&customer));
        let breaks = script.as_mut().is_some_and(|script| script.use_error());
        let behaviour = script.map(|script| script.use_hold()).unwrap_or_default();
        let key = call.keyed.as_ref().map(|keyed| keyed.key.clone());
        Ok(Admitted { order, key, breaks, behaviour })
    }

    /// Runs the endpoint and records its answer.
    pub(super) fn finish(&mut self, admitted: Admitted, now_ms: u64) -> Answer {
        let Admitted { order, key, breaks, behaviour } = admitted;
        let run = Run { now_s: now_ms / 1_000, decline: behaviour.decline, key: key.clone() };
        let answer = if breaks { Answer::internal() } else { order.run(self, &run) };
        match key {
            Some(key) if breaks && !behaviour.error_recorded => self.keys.free(&key),
            Some(key) => self.keys.record(&key, answer.clone()),
            None => {}
        }
        self.tally.under_way -= 1;
        answer
    }

    /// Gives a customer a behaviour from its beginning, and makes the customer if need be.
    pub(super) fn script(&mut self, customer: &str, behaviour: Behaviour, now_ms: u64) {
        if self.customers.get(customer, "customer").is_err() {
            self.customers.insert(Customer::scripted(customer, now_ms / 1_000));
        }
        self.scripts.insert(customer.to_owned(), Script { behaviour, ..Script::default() });
    }

    pub(super) fn summary(&self) -> Summary {
        let mut summary = self.tally.clone();
        for customer in self.customers.iter() {
            summary.customers.entry(customer.id().to_owned()).or_default();
        }
        for charge in self.charges.iter() {
            let succeeded = charge.decline.is_none();
            summary.charges_succeeded += u64::from(succeeded);
            summary.charges_failed += u64::from(!succeeded);
            let Some(customer) = &charge.customer else { continue };
            let of_customer = summary.customers.entry(customer.clone()).or_default();
            of_customer.charges_succeeded += u64::from(succeeded);
            of_customer.charges_failed += u64::from(!succeeded);
            of_customer.amount_succeeded += if succeeded { charge.amount } else { 0 };
        }
        summary
    }

    pub(super) fn charge_rows(&self) -> Vec<ChargeRow> {
        let row = |charge: &Charge| ChargeRow {
            id: charge.id.clone(),
            created: charge.created_s,
            amount: charge.amount,
            currency: charge.currency.clone(),
            customer: charge.customer.clone(),
            payment_intent: charge.intent.clone(),
            status: charge.status(),
            idempotency_key: charge.key.clone(),
            metadata: charge.notes.metadata.clone(),
        };
        self.charges.iter().map(row).collect()
    }

    /// The existing customer that the call names, directly or by its payment intent.
    pub(super) fn customer_of(&self, call: &Call) -> Option<String> {
        let id = match &call.write {
            Write::CreateCharge | Write::CreateIntent => match call.fields.get("customer")? {
                Field::Text(id) => id,
                Field::Group(_) => return None,
            },
            Write::ConfirmIntent(id) => self.intents.get(id, "intent").ok()?.customer.as_ref()?,
            Write::CreateCustomer => return None,
        };
        self.customers.get(id, "customer").ok().map(|customer| customer.id().to_owned())
    }

    fn limit_rate(&mut self, customer: Option<&str>) -> Result<(), Answer> {
        let Some(script) = customer.and_then(|customer| self.scripts.get_mut(customer)) else {
            return Ok(());
        };
        if script.rate_limited >= script.behaviour.rate_limit_first {
            return Ok(());
        }
        script.rate_limited += 1;
        self.tally.rate_limited += 1;
        Err(Answer::rate_limited(script.behaviour.retry_after_s))
    }

    /// An error is the answer that the key brings with it.
    fn look_up(&mut self, call: &Call, customer: Option<&str>, now: u64) -> Result<(), Answer> {
        let Some(keyed) = &call.keyed else { return Ok(()) };
        match self.keys.find(keyed, now) {
            Found::Nothing => Ok(()),
            Found::Recorded(answer) => {
                self.tally.replays += 1;
                if let Some(customer) = customer {
                    self.count_for(customer).replays += 1;
                }
                Err(answer)
            }
            Found::UnderWay(refusal) => {
                self.tally.key_in_use += 1;
                Err(refusal)
            }
            Found::Refused(refusal) => {
                self.tally.key_reused += 1;
                Err(refusal)
            }
        }
    }

    fn count_for(&mut self, customer: &str) -> &mut CustomerSummary {
        self.tally.customers.entry(customer.to_owned()).or_default()
    }
}

impl Script {
    fn use_error(&mut self) -> bool {
        let breaks = self.errors < self.behaviour.error_first;
        self.errors += u32::from(breaks);
        breaks
    }

    /// The behaviour towards one call: without a hold when all of those are used up.
    fn use_hold(&mut self) -> Behaviour {
        let mut behaviour = self.behaviour.clone();
        if behaviour.hold_first.is_some_and(|first| self.held >= first) {
            behaviour.hold_ms = 0;
        }
        self.held = self.held.saturating_add(1);
        behaviour
    }
}
