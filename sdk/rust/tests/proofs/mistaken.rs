//! Handlers with one mistake each.

use halyard::testing::crash_point;
use halyard::{HandlerResult, Job};

use crate::world::World;

pub(crate) async fn insert_without_constraint(world: World, _: Job) -> HandlerResult<()> {
    world.insert_invoice().await;
    Ok(())
}

pub(crate) async fn checkpoint_before_work(world: World, job: Job) -> HandlerResult<()> {
    if !job.has_checkpoint("invoices") {
        job.checkpoint("invoices").await?;
        world.upsert_invoice(None).await;
    }
    Ok(())
}

async fn charge_with(world: World, key: Option<String>) -> HandlerResult<()> {
    if world.upsert_invoice(None).await.paid {
        return Ok(());
    }
    world.charge(key).await;
    world.pay_invoice().await;
    Ok(())
}

pub(crate) async fn charge_without_key(world: World, _: Job) -> HandlerResult<()> {
    charge_with(world, None).await
}

pub(crate) async fn random_key(world: World, _: Job) -> HandlerResult<()> {
    charge_with(world, Some(rand::random::<u128>().to_string())).await
}

pub(crate) async fn key_from_attempt(world: World, job: Job) -> HandlerResult<()> {
    charge_with(world, Some(format!("{}:{}", job.id(), job.attempt()))).await
}

pub(crate) async fn mail_without_flag(world: World, _: Job) -> HandlerResult<()> {
    world.send_mail(None).await;
    Ok(())
}

pub(crate) async fn check_then_act(world: World, _: Job) -> HandlerResult<()> {
    if world.find_invoice().is_none() {
        crash_point("looked").await;
        world.insert_invoice().await;
    }
    Ok(())
}

#[derive(Debug, thiserror::Error)]
#[error("already sending")]
struct AlreadySending;

/// Takes the mark away when it is dropped, as `finally` would.
struct Sending(World);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.rows().sending = false;
    }
}

pub(crate) async fn finally_hides_the_crash(world: World, job: Job) -> HandlerResult<()> {
    if std::mem::replace(&mut world.rows().sending, true) {
        return Err(AlreadySending.into());
    }
    let _sending = Sending(world.clone());
    world.send_mail(Some(job.key_for("reminder"))).await;
    Ok(())
}

pub(crate) async fn record_before_effect(world: World, job: Job) -> HandlerResult<()> {
    if !world.rows().processed.insert(job.id().to_owned()) {
        return Ok(());
    }
    crash_point("recorded").await;
    world.charge(Some(job.id().to_owned())).await;
    Ok(())
}

pub(crate) async fn step_value_ignored(world: World, job: Job) -> HandlerResult<()> {
    let number = world.next_number();
    job.step("number", async || HandlerResult::Ok(number)).await?;
    world.upsert_invoice(Some(number)).await;
    Ok(())
}

/// Charges, and settles in one step; a run that finds the charge done recovers.
pub(crate) async fn settle<F, Fut>(world: &World, job: &Job, recover: F) -> HandlerResult<()>
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = ()>,
{
    world.upsert_invoice(None).await;
    if world.find_invoice().is_some_and(|invoice| invoice.paid) {
        return Ok(());
    }
    if world.knows_charge(job.id()) {
        recover().await;
        return Ok(());
    }
    world.charge(Some(job.id().to_owned())).await;
    world.settle_invoice().await;
    Ok(())
}

pub(crate) async fn recovery_in_two_steps(world: World, job: Job) -> HandlerResult<()> {
    let recover = || async {
        world.send_mail(None).await;
        world.pay_invoice().await;
    };
    settle(&world, &job, recover).await
}
