/** Jobs in the caller's own transaction: the example, killed at every statement, and the errors. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import {
  CheckpointConflictError,
  type FailedJob,
  Halyard,
  IdempotencyConflictError,
  type Job,
  LeaseLostError,
  SettingsError,
} from "@halyard/node";
import { fakeJob, startServer, type TestServer } from "@halyard/node/testing";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
// @ts-expect-error: the example has no types.
import { confirmOrder, placeOrder } from "../examples/outbox.js";

/** Begin, the row, the job, commit. */
const POINTS = [1, 2, 3, 4].flatMap((statement) => [
  { statement, after: "no" },
  { statement, after: "yes" },
]);
const PROGRAM = fileURLToPath(new URL("./outbox/program.js", import.meta.url));
const name = `outbox_${process.pid}`;
const given = process.env.HALYARD_TEST_POSTGRES_URL as string;
const DATABASE = given.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
let pool: pg.Pool;
let server: TestServer;
let halyard: Halyard;

async function administer(statement: string): Promise<void> {
  const client = new pg.Client(given);
  await client.connect();
  await client.query(statement);
  await client.end();
}

beforeAll(async () => {
  await administer(`create database ${name}`);
  pool = new pg.Pool({ connectionString: DATABASE, max: 20 });
  await pool.query(
    "create table orders (id text primary key, email text not null); " +
      "create table outgoing_mails (order_id text not null)",
  );
  server = await startServer({ args: ["--database-url", DATABASE] });
  halyard = new Halyard({ url: server.url });
});

afterAll(async () => {
  await server?.stop();
  await pool?.end();
  await administer(`drop database if exists ${name} with (force)`);
});

/** Runs the program until it kills itself. */
async function killed(settings: Record<string, string>): Promise<void> {
  const env = { ...process.env, DATABASE, HALYARD_URL: server.url, ...settings };
  const child = spawn(process.execPath, [PROGRAM], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [, signal] = await once(child, "exit");
  expect(signal).toBe("SIGKILL");
}

async function lend<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

async function count(table: string, order: string): Promise<number> {
  const column = table === "orders" ? "id" : "order_id";
  const { rows } = await pool.query(`select from ${table} where ${column} = $1`, [order]);
  return rows.length;
}

test("an order and its job are both there or none, wherever the program is killed", async () => {
  const found = await Promise.all(
    POINTS.map(async ({ statement, after }) => {
      const order = `killed-${statement}-${after}`;
      await killed({ WHAT: "order", ORDER: order, STATEMENT: `${statement}`, AFTER: after });
      const filter = { task: "confirm-order", idempotencyKey: `confirm:${order}` };
      const jobs = [];
      for await (const job of halyard.jobs.list(filter)) {
        jobs.push(job);
      }
      return [order, await count("orders", order), jobs.length];
    }),
  );
  const expected = POINTS.map(({ statement, after }) => {
    const committed = statement === 4 && after === "yes" ? 1 : 0;
    return [`killed-${statement}-${after}`, committed, committed];
  });
  expect(found).toEqual(expected);
});

test("an effect takes place once, wherever its worker is killed", async () => {
  await Promise.all(
    POINTS.map(async ({ statement, after }) => {
      const order = `worked-${statement}-${after}`;
      const job = await halyard.jobs.create({
        queue: order,
        task: "confirm-order",
        payload: { order_id: order },
        maxCrashes: 10,
        backoff: { initial: "1s", jitter: 0 },
      });
      const where = { STATEMENT: `${statement}`, AFTER: after };
      await killed({ WHAT: "work", QUEUE: order, ...where });
      const committed = statement === 4 && after === "yes";
      if (committed) {
        // Nobody needs to work any more.
        expect((await halyard.jobs.get(job.id)).state).toBe("completed");
      }
      const worker = halyard.worker({ queues: [order] });
      worker.task("confirm-order", async (again) =>
        lend(async (client) => confirmOrder(again, client)),
      );
      const ended = committed ? undefined : worker.start();
      const { state, result, attempt } = await halyard.jobs.wait(job.id);
      await worker.stop();
      await ended;
      expect([order, state, result, attempt, await count("outgoing_mails", order)]).toEqual([
        order,
        "completed",
        { confirmed: order },
        committed ? 1 : 2,
        1,
      ]);
    }),
  );
});

test("a create in a transaction answers as one over HTTP, and is its duplicate", async () => {
  const job = {
    task: "same",
    payload: { b: 1.5, a: ["é", null] },
    idempotencyKey: "same",
    tags: ["x"],
    delay: "1h",
    timeout: "5s",
  } as const;
  const made = await lend(async (client) => {
    await client.query("begin");
    const created = await halyard.jobs.createIn(client, job);
    await client.query("commit");
    return created;
  });
  expect(made).toMatchObject({ state: "scheduled", replayed: false, revived: false, life: 1 });
  const again = await halyard.jobs.create(job);
  expect([again.id, again.replayed, again.payload]).toEqual([made.id, true, job.payload]);
  expect(again).toMatchObject({ tags: ["x"], queue: "default" });
  await lend(async (client) => {
    await client.query("begin");
    const found = await halyard.jobs.createIn(client, job);
    expect([found.id, found.replayed]).toEqual([made.id, true]);
    const other = halyard.jobs.createIn(client, { ...job, payload: 2 });
    const error = await other.catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(IdempotencyConflictError);
    expect(error).toMatchObject({ existingJobId: made.id, status: 422 });
  });
});

test("what is refused is an error of this package", async () => {
  await lend(async (client) => {
    const refused = async (job: Parameters<typeof halyard.jobs.createIn>[1], schema?: string) => {
      await client.query("begin");
      const error = await halyard.jobs.createIn(client, job, { schema }).catch((e: unknown) => e);
      await client.query("rollback");
      return error;
    };
    expect(await refused({ task: "a b" })).toMatchObject({ status: 400, code: "invalid_field" });
    expect(await refused({ task: "a", payload: "x".repeat(2 ** 20) })).toMatchObject({
      status: 413,
    });
    expect(await refused({ task: "a" }, "nowhere")).toBeInstanceOf(SettingsError);
    expect(await refused({ task: "a" }, 'a"b')).toBeInstanceOf(SettingsError);
    const given = halyard.jobs.createIn(pool, { task: "a" });
    await expect(given).rejects.toThrow(/a pool takes another one/);
    await expect(fakeJob().completeIn(client)).rejects.toBeInstanceOf(SettingsError);
  });
});

test("a handler that completed its job reports nothing else", async () => {
  const { id } = await halyard.jobs.create({ queue: "own", task: "own" });
  const worker = halyard.worker({ queues: ["own"] });
  const seen: unknown[] = [];
  let stale: Job | undefined;
  worker.task("own", async (job) =>
    lend(async (client) => {
      await client.query("begin");
      await job.checkpointIn(client, "undone", 1);
      await client.query("rollback; begin");
      await job.checkpointIn(client, "one", { a: 1 });
      await client.query("savepoint here");
      seen.push(await job.checkpointIn(client, "one", 2).catch((error: unknown) => error));
      await client.query("rollback to here");
      await job.completeIn(client, { done: true });
      await client.query("commit");
      stale = job;
      return "something else";
    }),
  );
  const ended = worker.start();
  const done = await halyard.jobs.wait(id);
  await worker.stop();
  await ended;
  expect([done.state, done.result]).toEqual(["completed", { done: true }]);
  expect(done.checkpoints.map(({ name, value }) => [name, value])).toEqual([["one", { a: 1 }]]);
  expect(seen[0]).toBeInstanceOf(CheckpointConflictError);
  expect(seen[0]).toMatchObject({ checkpoint: "one", value: { a: 1 } });
  await lend(async (client) => {
    // The same again is a repeat; another result is refused.
    await client.query("begin");
    await stale?.completeIn(client, { done: true });
    await expect(stale?.completeIn(client, 7)).rejects.toBeInstanceOf(LeaseLostError);
  });
});

test("a handler that fails after its commit leaves its job completed", async () => {
  for (const [committed, state] of [
    [true, "completed"],
    [false, "failed"],
  ] as const) {
    const job = { queue: "late", task: "late", maxAttempts: 1 };
    const { id } = await halyard.jobs.create(job);
    const worker = halyard.worker({ queues: ["late"] });
    const told: FailedJob[] = [];
    const lost: unknown[] = [];
    worker.on("failed", (failed) => told.push(failed)).on("lost", (job) => lost.push(job));
    worker.task("late", async (job) =>
      lend(async (client) => {
        await client.query("begin");
        await job.completeIn(client, { done: true });
        await client.query(committed ? "commit" : "rollback");
        throw new TypeError("too late");
      }),
    );
    const ended = worker.start();
    const done = await halyard.jobs.wait(id);
    await expect.poll(() => told.length, { timeout: 10_000 }).toBe(1);
    await worker.stop();
    await ended;
    expect(done.state).toBe(state);
    const [{ type, message, retryInMs, completed }] = told as [FailedJob];
    const expected = ["TypeError", "too late", undefined, committed];
    expect([type, message, retryInMs, completed]).toEqual(expected);
    expect([told.length, lost]).toEqual([1, []]);
  }
});

test("a handler that returns without a commit runs again", async () => {
  const { id } = await halyard.jobs.create({
    queue: "open",
    task: "open",
    backoff: { initial: 0 },
  });
  const worker = halyard.worker({ queues: ["open"] });
  const told: FailedJob[] = [];
  worker.on("failed", (failed) => told.push(failed));
  worker.task("open", async (job) =>
    lend(async (client) => {
      await client.query("begin");
      await job.completeIn(client, job.attempt);
      if (job.attempt === 1) {
        // Swallowed: the commit is a rollback then, and no error.
        await client.query("insert into nowhere values (1)").catch(() => {});
      }
      await client.query("commit");
    }),
  );
  const ended = worker.start();
  const done = await halyard.jobs.wait(id);
  await worker.stop();
  await ended;
  expect(done).toMatchObject({ state: "completed", result: 2, attempt: 2, rejected: 0 });
  expect(told).toMatchObject([{ type: "NotCommitted", attempt: 1, completed: false }]);
});

test("an order is placed once, whoever places it twice", async () => {
  const order = { id: "twice", email: "a@example.com" };
  const id = await lend((client) => placeOrder(halyard, client, order));
  expect((await halyard.jobs.get(id as string)).payload).toEqual({ order_id: "twice" });
  await expect(lend((client) => placeOrder(halyard, client, order))).rejects.toThrow(/orders_pkey/);
});
