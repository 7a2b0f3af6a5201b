/** Scenarios of producers. */

import {
  ApiError,
  type CreatedJob,
  type Halyard,
  HalyardError,
  IdempotencyConflictError,
  InvalidValueError,
  type NewJob,
  NonRetryableError,
} from "@halyard/node";
import { expect } from "vitest";
import { data, scenario } from "./file.js";
import { LossyProxy } from "./proxy.js";
import { client, rejection, withServer, withWorker } from "./work.js";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

scenario("create_and_read", () =>
  withServer(async (_, halyard) => {
    const runAt = new Date(Date.now() + 300 * 86_400_000);
    const created = await halyard.jobs.create({
      task: "charge-subscription",
      queue: "billing",
      payload: { b: 1, a: [null] },
      idempotencyKey: "charge:sub_1:2026-11",
      idempotencyTtl: "1h",
      ifFailed: "return",
      runAt,
      priority: -7,
      maxAttempts: 3,
      maxCrashes: 2,
      timeout: "1.5s",
      backoff: { initial: 10, factor: 1.5, max: "100ms", jitter: 0 },
      tags: ["eu", "monthly"],
      traceparent: TRACEPARENT,
    });
    expect(created.replayed).toBe(false);
    expect(created.id).toMatch(/^job_[0-9a-z]{26}$/);
    const read = await halyard.jobs.get(created.id);
    expect(read).toMatchObject({
      task: "charge-subscription",
      queue: "billing",
      idempotencyKey: "charge:sub_1:2026-11",
      state: "scheduled",
      runAt,
      priority: -7,
      maxAttempts: 3,
      maxCrashes: 2,
      timeout: 1500,
      backoff: { initial: 10, factor: 1.5, max: 100, jitter: 0 },
      tags: ["eu", "monthly"],
      traceparent: TRACEPARENT,
    });
    expect(JSON.stringify(read.payload)).toBe('{"b":1,"a":[null]}');

    const plain = await halyard.jobs.create({ task: "plain" });
    expect(plain.replayed).toBe(false);
    const defaults = { queue: "default", payload: null, maxAttempts: 20, state: "queued" };
    expect(await halyard.jobs.get(plain.id)).toMatchObject(defaults);
  }),
);

scenario("replay", () =>
  withServer(async (_, halyard) => {
    const job = (queue: string, payload: object): NewJob => ({
      task: "charge",
      queue,
      payload,
      idempotencyKey: "k",
    });
    const first = await halyard.jobs.create(job("billing", { a: 1, b: 2 }));
    const again = await halyard.jobs.create(job("other", { b: 2, a: 1 }));
    expect(again).toMatchObject({ id: first.id, queue: "billing", replayed: true });
    expect(first.replayed).toBe(false);

    const keyed = { task: "t", idempotencyKey: "one" };
    const all = await Promise.all(Array.from({ length: 100 }, () => halyard.jobs.create(keyed)));
    expect(new Set(all.map((one) => one.id)).size).toBe(1);
    expect(all.filter((one) => !one.replayed)).toHaveLength(1);
  }),
);

/** The results of callers who create at the same time. */
function createAtOnce(halyard: Halyard, callers: number, job: (n: number) => NewJob) {
  return Promise.all(
    Array.from({ length: callers }, (_, n) =>
      halyard.jobs.create(job(n)).catch((error: HalyardError) => error),
    ),
  );
}

function checkConflict(result: CreatedJob | HalyardError | undefined, id: string): void {
  expect(result).toBeInstanceOf(IdempotencyConflictError);
  expect(result).toMatchObject({ existingJobId: id, changed: ["/period"], status: 422 });
}

scenario("mismatch", () =>
  withServer(async (_, halyard) => {
    const job = (period: string): NewJob => ({
      task: "charge",
      payload: { subscription_id: "sub_1", period },
      idempotencyKey: "k",
    });
    const first = await halyard.jobs.create(job("2026-11"));
    const alone = await createAtOnce(halyard, 1, () => job("2026-12"));
    checkConflict(alone[0], first.id);

    const other = (n: number) => (n === 5 ? job("2026-12") : { task: "other" });
    const joined = await createAtOnce(halyard, 20, other);
    checkConflict(joined[5], first.id);
    expect(joined.filter((result) => !(result instanceof HalyardError))).toHaveLength(19);

    const [created, conflict] = await halyard.jobs.createBatch([{ task: "a" }, job("2026-12")]);
    expect(created?.ok).toBe(true);
    checkConflict(conflict?.error, first.id);
  }),
);

scenario("if_failed", () =>
  withServer(async (server, sure) => {
    const proxy = await LossyProxy.losingFirst(server.url, "lose answer");
    const halyard = client(proxy.url);
    const fail = () => {
      throw new NonRetryableError("declined");
    };
    const job = { task: "t", queue: "q", idempotencyKey: "k" } as const;
    await withWorker(
      sure,
      (worker) => worker.task("t", fail),
      async (work) => {
        const first = await halyard.jobs.create(job);
        await work.ended(first.id);
        const same = await halyard.jobs.create(job);
        expect(same).toMatchObject({ id: first.id, state: "failed", life: 1, replayed: true });
        const revived = await halyard.jobs.create({ ...job, ifFailed: "retry" });
        expect(revived).toMatchObject({ id: first.id, life: 2, replayed: true });
        await work.ended(first.id);
        const replaced = await halyard.jobs.create({ ...job, ifFailed: "replace" });
        expect(replaced.replayed).toBe(false);
        expect(replaced.id).not.toBe(first.id);

        const old = await sure.jobs.get(first.id);
        expect(old).toMatchObject({ life: 2, replacedBy: replaced.id });
        expect((await sure.jobs.list().page()).data).toHaveLength(2);
        await work.ended(replaced.id);
        const retried = await halyard.jobs.retry(replaced.id);
        // One life for one wish, whatever was lost.
        expect(retried.life).toBe(2);
      },
    );
    halyard.close();
    proxy.stop();
  }),
);

scenario("joined_creates", () =>
  withServer(async (server) => {
    const proxy = await LossyProxy.start(server.url);
    const halyard = client(proxy.url);
    await halyard.jobs.create({ task: "t" });
    expect(proxy.takeCalls()).toEqual(["POST /v1/jobs"]);

    const all = await createAtOnce(halyard, 300, (n) => ({ task: "t", payload: n }));
    const ids = new Set<string>();
    for (const [n, job] of all.entries()) {
      if (job instanceof HalyardError) {
        throw job;
      }
      expect(job.payload).toBe(n);
      ids.add(job.id);
    }
    expect(ids.size).toBe(300);
    expect(proxy.takeCalls().length).toBeLessThanOrEqual(20);
    expect(proxy.underWayMax).toBeLessThanOrEqual(2);
    halyard.close();
    proxy.stop();
  }),
);

scenario("joined_create_refused", () =>
  withServer(async (_, halyard) => {
    const keyed = { task: "charge", idempotencyKey: "k" };
    const first = await halyard.jobs.create({ ...keyed, payload: 1 });
    const odd: Record<number, NewJob> = {
      7: { task: "t", priority: 101 },
      21: { task: "t", payload: "x".repeat(1024 * 1024) },
      33: { ...keyed, payload: 2 },
    };
    const all = await createAtOnce(halyard, 40, (n) => odd[n] ?? { task: "t", payload: n });
    const priority = all[7] as ApiError;
    expect(priority).toBeInstanceOf(ApiError);
    expect(priority).toMatchObject({ status: 400, code: "invalid_field" });
    expect(priority.errors.map((fault) => fault.pointer)).toEqual(["/priority"]);
    expect(all[21]).toMatchObject({ status: 413, code: "payload_too_large" });
    expect(all[33]).toMatchObject({ status: 422, existingJobId: first.id });
    const created = all.filter((result) => !(result instanceof HalyardError));
    expect(new Set(created.map((job) => (job as CreatedJob).id)).size).toBe(37);
    expect((await halyard.queues.get("default")).counts.queued).toBe(38);
  }),
);

scenario("create_batch", () =>
  withServer(async (server) => {
    const proxy = await LossyProxy.start(server.url);
    const halyard = client(proxy.url);
    const keyed = (n: number) => ({ task: "t", payload: { n }, idempotencyKey: "k" });
    const results = await halyard.jobs.createBatch([
      keyed(1),
      keyed(1),
      keyed(2),
      { task: "t", queue: "no spaces please" },
      { task: "t", payload: Number.NaN },
      { task: "t" },
    ]);
    const [first, replayed, conflict, refused, noJson, last] = results;
    expect(first).toMatchObject({ ok: true, job: { replayed: false } });
    expect(replayed).toMatchObject({ ok: true, job: { id: first?.job?.id, replayed: true } });
    expect(conflict?.error).toBeInstanceOf(IdempotencyConflictError);
    expect(refused?.error?.status).toBe(400);
    expect(noJson?.error).toBeInstanceOf(InvalidValueError);
    expect(last).toMatchObject({ ok: true, job: { replayed: false } });
    proxy.takeCalls();

    const many = Array.from({ length: 2_500 }, (_, n) => ({ task: "many", payload: n }));
    const created = await halyard.jobs.createBatch(many);
    expect(created.every((result) => result.ok)).toBe(true);
    expect(created[2_499]?.job?.payload).toBe(2_499);
    expect(proxy.takeCalls()).toEqual(new Array(3).fill("POST /v1/jobs/batch"));

    const large = { task: "large", payload: "x".repeat(900 * 1024) };
    const stored = await halyard.jobs.createBatch(Array.from({ length: 20 }, () => large));
    expect(stored.every((result) => result.ok)).toBe(true);
    expect(proxy.seen).toHaveLength(3);
    for (const { body } of proxy.seen) {
      expect(body.length).toBeLessThanOrEqual(8 * 1024 * 1024 + 1024);
    }
    halyard.close();
    proxy.stop();
  }),
);

/** What is read of those that were written in another way, where that is another value. */
const READ_BACK = new Map<string, unknown>([
  ["-0", 0],
  ['{"n":18446744073709551616.000}', { n: 18446744073709552000n }],
]);

/** Creates a job with a payload of exactly these bytes. */
async function createRaw(url: string, id: string, payload: string): Promise<void> {
  const body = `{"task":"t","queue":"q","id":"${id}","payload":${payload}}`;
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/jobs`, { method: "POST", headers, body });
  expect(answer.status, await answer.text()).toBe(201);
}

/** The job as the server tells it, as text. */
async function readRaw(url: string, id: string): Promise<string> {
  return (await fetch(`${url}/v1/jobs/${id}`)).text();
}

/** Numbers that JavaScript has no exact form for, even with bigints. */
const NO_NUMBER = new Set(["1e400"]);
/** Numbers that JavaScript writes in another way. */
const REWRITTEN: Record<string, string> = {
  "-0": "0",
  "1.0": "1",
  '"a\\u0301\\ud83d\\ude00"': '"a\u0301\u{1f600}"',
  '{"n":18446744073709551616.000}': '{"n":18446744073709552000}',
};

scenario("values", () =>
  withServer(async (server) => {
    const halyard = client(server.url, { bigint: true });
    const rounding = client(server.url);
    const echo = async (job: {
      payload: unknown;
      checkpoint(n: string, v: unknown): Promise<void>;
    }) => {
      await job.checkpoint("value", job.payload);
      return job.payload;
    };
    await withWorker(
      halyard,
      (worker) => worker.task("t", echo),
      async (work) => {
        for (const text of data<string[]>("values", "json")) {
          const { id } = await halyard.jobs.create({ task: "made", queue: "ids" });
          await halyard.jobs.delete(id);
          await createRaw(server.url, id, text);
          const job = await work.ended(id);
          if (NO_NUMBER.has(text)) {
            expect(job.state, text).toBe("failed");
            expect(() => job.payload, text).toThrow(InvalidValueError);
            continue;
          }
          expect(job, text).toMatchObject({ state: "completed", error: null });
          const written = REWRITTEN[text] ?? text;
          const raw = await readRaw(server.url, id);
          expect(raw, text).toContain(`"payload":${text},`);
          expect(raw, text).toContain(`"result":${written},`);
          expect(raw, text).toContain(`"value":${written},`);
          expect(job.result, text).toEqual(READ_BACK.get(text) ?? job.payload);
          const copy = await halyard.jobs.create({ task: "copy", payload: job.payload });
          expect(await readRaw(server.url, copy.id), text).toContain(`"payload":${written},`);
          const large = /\d{16}/.test(text) && !text.includes(".");
          const plain = await rounding.jobs.get(id);
          if (large) {
            // Never rounded in silence, and the rest of the job can be read.
            expect(() => plain.payload, text).toThrow(/bigint: true/);
          } else {
            expect(plain.payload, text).toEqual(job.payload);
          }
        }
      },
    );
    halyard.close();
    rounding.close();
  }),
);

scenario("no_json", async () => {
  const halyard = client("http://127.0.0.1:1");
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  const cases: [unknown, string][] = [
    [Number.NaN, "."],
    [{ a: [1, Number.POSITIVE_INFINITY] }, "a[1]"],
    [{ a: [1, undefined] }, "a[1]"],
    [{ a: { "b c": () => 1 } }, 'a["b c"]'],
    [[Symbol("s")], "[0]"],
    [{ a: 1n }, "a"],
    [{ a: new Uint8Array(2) }, "a"],
    [{ a: Buffer.from("x") }, "a"],
    [{ a: new Map([[{}, 1]]) }, "a"],
    [{ a: new Set() }, "a"],
    [{ at: new Date(Number.NaN) }, "at"],
  ];
  for (const [payload, path] of cases) {
    const error = await rejection(halyard.jobs.create({ task: "t", payload }), InvalidValueError);
    expect(error).toMatchObject({ what: "payload", path });
  }
  const circular = halyard.jobs.create({ task: "t", payload: circle });
  expect((await rejection(circular, InvalidValueError)).path).toBe("self");
});
