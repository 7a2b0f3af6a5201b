//! What the handlers change: invoices, charges and mails in memory, with a point wherever a process
//! could die.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use halyard::processed::MemoryStore;
use halyard::testing::crash_point;
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct World {
    rows: Arc<Mutex<Rows>>,
    pub(crate) store: MemoryStore,
}

#[derive(Default)]
pub(crate) struct Rows {
    invoices: Vec<Invoice>,
    charges: Vec<Option<String>>,
    mails: Vec<Option<String>>,
    number: u64,
    pub(crate) processed: BTreeSet<String>,
    pub(crate) sending: bool,
}

#[derive(Clone)]
pub(crate) struct Invoice {
    pub(crate) paid: bool,
    number: Option<u64>,
}

impl World {
    pub(crate) fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().expect("nobody panics with it")
    }

    pub(crate) fn reset(&self) {
        *self.rows() = Rows::default();
        self.store.clear();
    }

    pub(crate) fn shown(&self) -> Value {
        let rows = self.rows();
        let invoices = rows.invoices.iter();
        json!({
            "invoices": invoices.map(|row| json!({"paid": row.paid})).collect::<Vec<_>>(),
            "charges": (1..=rows.charges.len()).map(|n| format!("ch_{n}")).collect::<Vec<_>>(),
            "mails": (1..=rows.mails.len()).map(|n| format!("mail_{n}")).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn find_invoice(&self) -> Option<Invoice> {
        self.rows().invoices.first().cloned()
    }

    pub(crate) async fn insert_invoice(&self) {
        self.rows().invoices.push(Invoice { paid: false, number: None });
        crash_point("inserted").await;
    }

    pub(crate) async fn upsert_invoice(&self, number: Option<u64>) -> Invoice {
        let invoice = {
            let mut rows = self.rows();
            let found = rows.invoices.iter().find(|row| row.number == number).cloned();
            found.unwrap_or_else(|| {
                let invoice = Invoice { paid: false, number };
                rows.invoices.push(invoice.clone());
                invoice
            })
        };
        crash_point("inserted").await;
        invoice
    }

    pub(crate) async fn pay_invoice(&self) {
        self.rows().invoices[0].paid = true;
        crash_point("paid").await;
    }

    pub(crate) async fn settle_invoice(&self) {
        {
            let mut rows = self.rows();
            if !std::mem::replace(&mut rows.invoices[0].paid, true) {
                add(&mut rows.mails, None);
            }
        }
        crash_point("settled").await;
    }

    pub(crate) fn knows_charge(&self, key: &str) -> bool {
        self.rows().charges.iter().any(|charge| charge.as_deref() == Some(key))
    }

    pub(crate) fn next_number(&self) -> u64 {
        let mut rows = self.rows();
        rows.number += 1;
        rows.number
    }

    pub(crate) async fn charge(&self, key: Option<String>) -> String {
        crash_point("charging").await;
        add(&mut self.rows().charges, key);
        crash_point("charged").await;
        "a charge".to_owned()
    }

    pub(crate) async fn send_mail(&self, key: Option<String>) {
        crash_point("sending").await;
        add(&mut self.rows().mails, key);
        crash_point("sent").await;
    }
}

fn add(rows: &mut Vec<Option<String>>, key: Option<String>) {
    if key.is_none() || !rows.contains(&key) {
        rows.push(key);
    }
}
