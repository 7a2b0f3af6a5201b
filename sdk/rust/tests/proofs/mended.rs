//! The same handlers without their mistakes.

use halyard::processed::Store;
use halyard::testing::crash_point;
use halyard::{HandlerResult, Job};

use crate::mistaken::settle;
use crate::world::World;

pub(crate) async fn insert_without_constraint(world: World, _: Job) -> HandlerResult<()> {
    world.upsert_invoice(None).await;
    Ok(())
}

pub(crate) async fn checkpoint_before_work(world: World, job: Job) -> HandlerResult<()> {
    if !job.has_checkpoint("invoices") {
        world.upsert_invoice(None).await;
        job.checkpoint("invoices").await?;
    }
    Ok(())
}

async fn charge_with(world: World, key: String) -> HandlerResult<()> {
    if world.upsert_invoice(None).await.paid {
        return Ok(());
    }
    world.charge(Some(key)).await;
    world.pay_invoice().await;
    Ok(())
}

pub(crate) async fn charge_without_key(world: World, job: Job) -> HandlerResult<()> {
    charge_with(world, job.id().to_owned()).await
}

pub(crate) async fn random_key(world: World, job: Job) -> HandlerResult<()> {
    charge_with(world, job.key_for("charge")).await
}

pub(crate) async fn key_from_attempt(world: World, job: Job) -> HandlerResult<()> {
    let payload: serde_json::Value = job.payload()?;
    charge_with(world, format!("charge:{}:{}", payload["subscription"], payload["period"])).await
}

pub(crate) async fn mail_without_flag(world: World, job: Job) -> HandlerResult<()> {
    world.send_mail(Some(job.key_for("reminder"))).await;
    Ok(())
}

pub(crate) async fn check_then_act(world: World, _: Job) -> HandlerResult<()> {
    if world.find_invoice().is_none() {
        crash_point("looked").await;
        world.upsert_invoice(None).await;
    }
    Ok(())
}

pub(crate) async fn module_state(world: World, job: Job) -> HandlerResult<()> {
    mail_without_flag(world, job).await
}

pub(crate) async fn finally_hides_the_crash(world: World, job: Job) -> HandlerResult<()> {
    mail_without_flag(world, job).await
}

pub(crate) async fn record_before_effect(world: World, job: Job) -> HandlerResult<()> {
    let charge = || async { HandlerResult::Ok(world.charge(Some(job.id().to_owned())).await) };
    world.store.once(job.id()).job(&job).run(charge).await?;
    Ok(())
}

pub(crate) async fn step_value_ignored(world: World, job: Job) -> HandlerResult<()> {
    let number = job.step("number", async || HandlerResult::Ok(world.next_number())).await?;
    world.upsert_invoice(Some(number)).await;
    Ok(())
}

pub(crate) async fn recovery_in_two_steps(world: World, job: Job) -> HandlerResult<()> {
    settle(&world, &job, || world.settle_invoice()).await
}
