//! The count at the end: charges at the provider, invoices in the company's table, subscriptions
//! that can pay. The queue is asked about none of these; it only says how much work it took.

use std::collections::BTreeMap;

use anyhow::Context;
use halyard::JobDetail;
use halyard::api::state::AttemptState;
use serde::Deserialize;

use super::billing::{Invoice, Step};
use super::cast::{CAST, CLOSE, Fate, Member, PERIOD};
use super::stage::Stage;
use super::story::Told;
use super::voices::Narrator;

/// A charge, as `GET /test/charges` of the provider shows it.
#[derive(Clone, Debug, Deserialize)]
struct Charge {
    id: String,
    customer: Option<String>,
    amount: u32,
    status: String,
}

/// What is left when the story is over.
#[derive(Debug)]
struct Evidence {
    /// Those that took money.
    charges: Vec<Charge>,
    /// Those of the month.
    invoices: Vec<Invoice>,
    /// Handler runs by subject, counted by the workers.
    runs: BTreeMap<String, u64>,
    /// How often each step of closing the month was done.
    steps: Vec<(Step, u32)>,
}

/// A subscription in the table at the end.
#[derive(Debug)]
struct Row<'e> {
    member: &'static Member,
    runs: u64,
    charges: Vec<&'e Charge>,
    invoice: Option<&'e Invoice>,
}

/// Prints the count, and answers whether it is right.
///
/// # Errors
///
/// When something cannot be asked.
pub(super) async fn print(stage: &Stage, told: &Told) -> anyhow::Result<bool> {
    let evidence = Evidence::collect(stage).await?;
    let rows = evidence.rows();
    let wrong = evidence.wrong(&rows);
    let out = &stage.narrator;
    out.chapter(
        "The count",
        "Charges from the provider, invoices from the company; the queue is not asked.",
    );
    print_table(out, &rows);
    print_totals(out, &evidence);
    print_work(out, &evidence, told);
    out.print("");
    if wrong.is_empty() {
        out.judge(true, "Right: who can pay was charged exactly once, who cannot was not charged.");
    }
    for what in &wrong {
        out.judge(false, &format!("WRONG: {what}"));
    }
    Ok(wrong.is_empty())
}

impl Evidence {
    async fn collect(stage: &Stage) -> anyhow::Result<Self> {
        let url = format!("{}/test/charges", stage.provider_url);
        let http = reqwest::Client::builder().no_proxy().build()?;
        let answer = http.get(url).send().await.context("cannot ask the provider")?;
        let mut charges: Vec<Charge> = answer.error_for_status()?.json().await?;
        charges.retain(|charge| charge.status == "succeeded");
        let steps = Step::ALL.map(|step| Ok((step, stage.billing.step_runs(step, PERIOD)?)));
        Ok(Self {
            charges,
            invoices: stage.billing.invoices(PERIOD)?,
            runs: stage.runs.all(),
            steps: steps.into_iter().collect::<rusqlite::Result<_>>()?,
        })
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let row = |member: &'static Member| {
            let (customer, subscription) = (member.customer_id(), member.subscription_id());
            let is_theirs = |charge: &&Charge| charge.customer.as_ref() == Some(&customer);
            Row {
                member,
                runs: self.runs.get(member.name).copied().unwrap_or_default(),
                charges: self.charges.iter().filter(is_theirs).collect(),
                invoice: self.invoices.iter().find(|of| of.subscription_id == subscription),
            }
        };
        CAST.iter().map(row).collect()
    }

    fn paid(&self) -> usize {
        self.invoices.iter().filter(|invoice| invoice.status == "paid").count()
    }

    /// Everything that is not as it must be.
    fn wrong(&self, rows: &[Row<'_>]) -> Vec<String> {
        let mut wrong: Vec<String> = rows.iter().filter_map(Row::wrong).collect();
        let (charges, paid, payers) = (self.charges.len(), self.paid(), payers());
        if charges != payers || paid != payers {
            wrong.push(format!(
                "{charges} charges and {paid} paid invoices for {payers} subscriptions that can pay"
            ));
        }
        for (step, runs) in &self.steps {
            if *runs != 1 {
                wrong.push(format!("{CLOSE} did its step {} {runs} times", step.name()));
            }
        }
        wrong
    }
}

impl Row<'_> {
    fn wrong(&self) -> Option<String> {
        let name = self.member.name;
        let expected = usize::from(self.member.can_pay());
        if self.charges.len() != expected {
            return Some(format!(
                "{name} was charged {} times instead of {expected}",
                self.charges.len()
            ));
        }
        let paid = self.invoice.filter(|invoice| invoice.status == "paid");
        match (self.charges.first(), paid) {
            (None, None) => None,
            (Some(charge), Some(invoice))
                if invoice.charge_id.as_ref() == Some(&charge.id)
                    && invoice.amount == charge.amount =>
            {
                None
            }
            (Some(_), Some(_)) => Some(format!("{name}'s invoice names another charge")),
            (Some(_), None) => Some(format!("{name} was charged, but the invoice is not paid")),
            (None, Some(_)) => Some(format!("{name}'s invoice is paid without a charge")),
        }
    }
}

fn payers() -> usize {
    CAST.iter().filter(|member| member.can_pay()).count()
}

fn met(fate: Fate) -> &'static str {
    match fate {
        Fate::Plain => "nothing unusual",
        Fate::Killed => "worker killed after the charge",
        Fate::Slow => "charge slower than the timeout",
        Fate::Declined => "card declined",
        Fate::Limited => "rate limit",
        Fate::Unknown => "unknown at first, retried by hand",
    }
}

fn print_table(out: &Narrator, rows: &[Row<'_>]) {
    let line = |name: &str, met: &str, runs: &str, charges: &str, invoice: &str| {
        out.print(&format!("  {name:<12}  {met:<33}  {runs:>4}  {charges:>7}  {invoice:>7}"));
    };
    line("subscription", "what it met", "runs", "charges", "invoice");
    for row in rows {
        let (runs, charges) = (row.runs.to_string(), row.charges.len().to_string());
        let invoice = row.invoice.map_or("none", |invoice| &invoice.status);
        line(row.member.name, met(row.member.fate), &runs, &charges, invoice);
    }
}

fn print_totals(out: &Narrator, evidence: &Evidence) {
    out.print("");
    for (number, what) in [
        (evidence.charges.len(), "charges that took money, in the provider's list"),
        (evidence.paid(), "invoices paid, in the company's table"),
        (payers(), "subscriptions that can pay"),
    ] {
        out.print(&format!("  {number:>2} {what}"));
    }
}

/// How much it took: here the queue is asked.
fn print_work(out: &Narrator, evidence: &Evidence, told: &Told) {
    let attempts = || told.jobs.iter().flat_map(|job: &JobDetail| &job.attempts);
    let ended = |state| attempts().filter(|attempt| attempt.state == state).map(|_| 1).sum::<u64>();
    let by_hand: u64 = told.jobs.iter().map(|job| job.life.saturating_sub(1)).sum();
    let runs: u64 = evidence.runs.values().sum();
    let steps: Vec<String> =
        evidence.steps.iter().map(|(step, runs)| format!("{} {runs}", step.name())).collect();
    out.print("");
    for (number, what) in [
        (runs, format!("handler runs for {} jobs", told.jobs.len())),
        (told.replays, "creates answered with the job that was there".to_owned()),
        (ended(AttemptState::Lost), "attempts lost with a killed worker".to_owned()),
        (ended(AttemptState::TimedOut), "attempt timed out".to_owned()),
        (by_hand, "job retried by hand".to_owned()),
    ] {
        out.print(&format!("  {number:>2} {what}"));
    }
    out.print(&format!("     steps of {CLOSE} done: {}", steps.join(", ")));
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    /// How it must be.
    fn right() -> Evidence {
        let payers = || CAST.iter().filter(|member| member.can_pay());
        let charge = |member: &Member| Charge {
            id: format!("ch_{}", member.name),
            customer: Some(member.customer_id()),
            amount: member.price,
            status: "succeeded".to_owned(),
        };
        let invoice = |(id, member): (i64, &Member)| Invoice {
            id,
            subscription_id: member.subscription_id(),
            amount: member.price,
            status: if member.can_pay() { "paid" } else { "open" }.to_owned(),
            charge_id: member.can_pay().then(|| format!("ch_{}", member.name)),
        };
        Evidence {
            charges: payers().map(charge).collect(),
            invoices: (1..).zip(&CAST).map(invoice).collect(),
            runs: BTreeMap::new(),
            steps: Step::ALL.map(|step| (step, 1)).into(),
        }
    }

    fn check(spoil: impl FnOnce(&mut Evidence), expected: &[&str]) {
        let mut evidence = right();
        spoil(&mut evidence);
        assert_eq!(evidence.wrong(&evidence.rows()), expected);
    }

    fn invoice<'e>(evidence: &'e mut Evidence, subscription: &str) -> &'e mut Invoice {
        let mut invoices = evidence.invoices.iter_mut();
        invoices.find(|invoice| invoice.subscription_id == subscription).unwrap()
    }

    #[test]
    fn what_is_wrong() {
        check(|_| (), &[]);
        check(
            |evidence| {
                let again = Charge { id: "ch_2".to_owned(), ..evidence.charges.remove(0) };
                evidence.charges.push(again);
            },
            &["ada's invoice names another charge"],
        );
        check(
            |evidence| evidence.charges.push(evidence.charges.first().unwrap().clone()),
            &[
                "ada was charged 2 times instead of 1",
                "10 charges and 9 paid invoices for 9 subscriptions that can pay",
            ],
        );
        check(
            |evidence| drop(evidence.charges.pop()),
            &[
                "jun was charged 0 times instead of 1",
                "8 charges and 9 paid invoices for 9 subscriptions that can pay",
            ],
        );
        // One too many and one too few add up to a total that looks right.
        check(
            |evidence| {
                evidence.charges.last_mut().unwrap().customer = Some("cus_fay".to_owned());
            },
            &["fay was charged 1 times instead of 0", "jun was charged 0 times instead of 1"],
        );
        check(
            |evidence| evidence.charges.first_mut().unwrap().amount += 1,
            &["ada's invoice names another charge"],
        );
        check(
            |evidence| invoice(evidence, "sub_ben").status = "open".to_owned(),
            &[
                "ben was charged, but the invoice is not paid",
                "9 charges and 8 paid invoices for 9 subscriptions that can pay",
            ],
        );
        check(
            |evidence| invoice(evidence, "sub_fay").status = "paid".to_owned(),
            &[
                "fay's invoice is paid without a charge",
                "9 charges and 10 paid invoices for 9 subscriptions that can pay",
            ],
        );
        check(
            |evidence| evidence.steps.last_mut().unwrap().1 = 2,
            &["close-month did its step statements 2 times"],
        );
    }
}
