/**
 * What the types let a program say, and what they do not: `npm run lint` compiles this strictly and
 * nobody runs it.
 */

import {
  ApiError,
  type CreatedJob,
  defineTask,
  Halyard,
  type Handler,
  IdempotencyConflictError,
  idempotent,
  type Job,
  type JobDetail,
  type JobSummary,
  type Jsonify,
  MemoryStore,
} from "@halyard/node";
import { fakeJob, proveIdempotent, startServer } from "@halyard/node/testing";
import "@halyard/node/testing/vitest";
import * as v from "valibot";
import { expect } from "vitest";
import { z } from "zod";

/** Fails to compile unless both are the same type. */
function same<A, B>(
  _: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? 1 : 0,
) {}

const halyard = new Halyard({ url: "http://127.0.0.1:7373", retryFor: "5s", bigint: true });
const worker = halyard.worker({ queues: ["billing"], concurrency: 10, lease: "1m" });

export async function producer(): Promise<void> {
  const created = await halyard.jobs.create({
    task: "t",
    payload: { any: ["thing"] },
    delay: "5m",
  });
  same<typeof created, CreatedJob>(1);
  same<typeof created.createdAt, Date>(1);
  // @ts-expect-error: a length of time has a unit
  await halyard.jobs.create({ task: "t", delay: "5 weeks" });
  // @ts-expect-error: there is no such option
  await halyard.jobs.create({ task: "t", idempotency_key: "k" });
  // @ts-expect-error: a job needs a task
  await halyard.jobs.create({ queue: "q" });

  for (const result of await halyard.jobs.createBatch([{ task: "a", payload: 1 }, { task: "b" }])) {
    if (result.ok) {
      same<typeof result.job, CreatedJob>(1);
    } else {
      result.error.status satisfies number | undefined;
    }
  }
  for await (const job of halyard.jobs.list({ state: ["failed", "retrying"] })) {
    same<typeof job, JobSummary>(1);
  }
  const ended = await halyard.jobs.wait(created.id, { timeout: "1m" });
  same<typeof ended, JobDetail>(1);
  try {
    await halyard.jobs.create({ task: "t", idempotencyKey: "k" });
  } catch (error) {
    if (error instanceof IdempotencyConflictError) {
      error.existingJobId satisfies string;
    } else if (error instanceof ApiError) {
      error.status satisfies number;
    }
  }
}

export async function typedTasks(): Promise<void> {
  const charge = defineTask({
    name: "charge-subscription",
    queue: "billing",
    schema: z.object({ subscription_id: z.string(), period: z.string() }),
  });
  const payload = { subscription_id: "sub_1", period: "2026-11" };
  await halyard.jobs.create({ task: charge, payload });
  worker.task(charge, async (job) => job.payload.period);
  // @ts-expect-error: the period is missing
  await halyard.jobs.create({ task: charge, payload: { subscription_id: "sub_1" } });
  // @ts-expect-error: there is no such member
  worker.task(charge, async (job) => job.payload.amount);

  // What a create gives is not what the handler gets, when the schema makes something of it.
  const at = defineTask({
    name: "at",
    schema: z.object({ at: z.iso.datetime().transform(String) }),
  });
  worker.task(at, (job) => job.payload.at.length);
  const count = defineTask({ name: "count", schema: v.pipe(v.string(), v.transform(Number)) });
  worker.task(count, (job) => same<typeof job.payload, number>(1));
  await halyard.jobs.create({ task: count, payload: "7" });
  // @ts-expect-error: the create gives a text
  await halyard.jobs.create({ task: count, payload: 7 });
}

const chargeSubscription: Handler<{ subscription_id: string }> = async (job) => {
  job.data.jobId satisfies string;
  job.data.subscription_id satisfies string;
  // @ts-expect-error: the payload is for reading
  job.payload = { subscription_id: "" };
  // @ts-expect-error: the list grows by checkpoints only
  job.checkpoints.push("x");
  const charge = await job.step("charge", async () => ({ id: "ch_1" }));
  return { charge: charge.id };
};

export function handlers(): void {
  worker
    .task("charge-subscription", chargeSubscription)
    .task("any", async (job) => job.payload.whatever)
    .task("own", (job: Job<{ n: number }>) => job.payload.n)
    .task("options", { schema: v.object({ n: v.number() }) }, (job) => job.payload.n)
    .on("lost", ({ id, reason }) => console.log(id, reason satisfies "lease_lost" | "timed_out"))
    .on("error", (error) => console.log(error.message))
    // @ts-expect-error: there is no such hook
    .on("done", () => {});
  // @ts-expect-error: a worker needs queues
  halyard.worker({ concurrency: 1 });
}

export async function values(job: Job): Promise<void> {
  const store = new MemoryStore();
  // What comes back has been JSON.
  const at = await job.step("at", () => new Date());
  same<typeof at, string>(1);
  const nothing = await job.step("mail", async () => {});
  same<typeof nothing, null>(1);
  const charge = await store.once("charge", async () => ({
    id: "ch_1",
    at: new Date(),
    fee: undefined as number | undefined,
    lines: [[1, new Date()] as const],
    refund() {},
  }));
  charge satisfies { id: string; at: string; fee?: number | undefined };
  same<(typeof charge)["fee"], number | undefined>(1);
  charge.lines[0]?.[1] satisfies string | undefined;
  // @ts-expect-error: methods are gone
  charge.refund();
  interface Charge {
    id: string;
    items?: { amount: number }[];
  }
  (await job.step<Charge>("plain", () => ({ id: "ch_1" }))) satisfies Charge;
  same<Jsonify<unknown>, unknown>(1);
  const once = idempotent((one: Job) => one.createdAt, { store });
  same<ReturnType<typeof once>, Promise<string>>(1);
}

export async function tests(): Promise<unknown> {
  await using server = await startServer();
  const job = fakeJob({ id: "job_1", payload: { subscription_id: server.url } });
  job.nextAttempt().fresh().abort("cancelled");
  const proof = { world: () => ({}), reset: () => {} };
  expect(await proveIdempotent(chargeSubscription, proof)).toBeIdempotent();
  return chargeSubscription(job);
}
