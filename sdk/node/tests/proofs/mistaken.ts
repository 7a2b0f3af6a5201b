/** Handlers with one mistake each, by the names of the shared list. */

import { randomUUID } from "node:crypto";
import type { Job } from "@halyard/node";
import { crashPoint } from "@halyard/node/testing";
import { module_state } from "./module-state.js";
import { invoices, mail, marks, numbers, payments } from "./world.js";

class AlreadySending extends Error {
  override name = "AlreadySending";
}

export async function charge(key: string | undefined): Promise<void> {
  if ((await invoices.upsert()).paid) {
    return;
  }
  await payments.charge(key);
  await invoices.pay();
}

export async function settle(job: Job, recover: () => Promise<void>): Promise<void> {
  await invoices.upsert();
  if (invoices.find()?.paid) {
    return;
  }
  if (payments.knows(job.id)) {
    await recover();
    return;
  }
  await payments.charge(job.id);
  await invoices.settle();
}

export const mistaken = {
  insert_without_constraint: () => invoices.insert(),

  async checkpoint_before_work(job: Job) {
    if (!job.checkpoints.includes("invoices")) {
      await job.checkpoint("invoices");
      await invoices.upsert();
    }
  },

  charge_without_key: () => charge(undefined),
  random_key: () => charge(randomUUID()),
  key_from_attempt: (job: Job) => charge(`${job.id}:${job.attempt}`),
  mail_without_flag: () => mail.send(),

  async check_then_act() {
    if (invoices.find() === undefined) {
      await crashPoint("looked");
      await invoices.insert();
    }
  },

  module_state,

  async finally_hides_the_crash(job: Job) {
    if (marks.sending) {
      throw new AlreadySending("already sending");
    }
    marks.sending = true;
    try {
      await mail.send(job.keyFor("reminder"));
    } finally {
      marks.sending = false;
    }
  },

  async record_before_effect(job: Job) {
    if (marks.processed.has(job.id)) {
      return;
    }
    marks.processed.add(job.id);
    await crashPoint("recorded");
    await payments.charge(job.id);
  },

  async step_value_ignored(job: Job) {
    const number = numbers.next();
    await job.step("number", () => number);
    await invoices.upsert(number);
  },

  recovery_in_two_steps: (job: Job) =>
    settle(job, async () => {
      await mail.send();
      await invoices.pay();
    }),
};
