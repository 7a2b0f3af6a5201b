/** The same handlers without their mistakes. */

import type { Job } from "@halyard/node";
import { crashPoint } from "@halyard/node/testing";
import { charge, settle } from "./mistaken.js";
import { invoices, mail, numbers, payments, store } from "./world.js";

const remind = (job: Job) => mail.send(job.keyFor("reminder"));

export const mended = {
  insert_without_constraint: () => invoices.upsert(),

  async checkpoint_before_work(job: Job) {
    if (!job.checkpoints.includes("invoices")) {
      await invoices.upsert();
      await job.checkpoint("invoices");
    }
  },

  charge_without_key: (job: Job) => charge(job.id),
  random_key: (job: Job) => charge(job.keyFor("charge")),
  key_from_attempt: ({ payload }: Job) => charge(`${payload.subscription}:${payload.period}`),
  mail_without_flag: remind,

  async check_then_act() {
    if (invoices.find() === undefined) {
      await crashPoint("looked");
      await invoices.upsert();
    }
  },

  module_state: remind,
  finally_hides_the_crash: remind,
  record_before_effect: (job: Job) => store.once(job.id, () => payments.charge(job.id), { job }),

  async step_value_ignored(job: Job) {
    await invoices.upsert(await job.step("number", () => numbers.next()));
  },

  recovery_in_two_steps: (job: Job) => settle(job, () => invoices.settle()),
};
