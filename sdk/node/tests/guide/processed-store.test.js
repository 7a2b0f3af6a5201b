// What docs/processed-store.md shows.

import { randomUUID } from "node:crypto";
import {
  idempotent,
  MemoryStore,
  NonRetryableError,
  OutcomeUnknownError,
  PostgresStore,
  RedisStore,
} from "@halyard/node";
import { fakeJob } from "@halyard/node/testing";
import { Redis } from "ioredis";
import pg from "pg";
import { expect, test } from "vitest";

let charges = 0;

/** The provider's side. */
async function pay(_key) {
  charges += 1;
  return `ch_${charges}`;
}

/** What the provider knows of a charge. */
async function findCharge(_key) {
  return "ch_found";
}

async function charge(job) {
  return await pay(job.id);
}

test("in Redis", async () => {
  const redisUrl = process.env.HALYARD_TEST_REDIS_URL;
  const redis = new Redis(redisUrl);
  const store = new RedisStore(redis);

  const chargeOnce = idempotent(charge, { store });
  const job = fakeJob({ id: `job_${randomUUID()}` });
  expect(await chargeOnce(job.nextAttempt())).toBe(await chargeOnce(job));
  await redis.quit();
});

test("in PostgreSQL", async () => {
  const databaseUrl = process.env.HALYARD_TEST_POSTGRES_URL;
  const pool = new pg.Pool({ connectionString: databaseUrl });
  const store = new PostgresStore(pool);
  await store.migrate();

  const chargeOnce = idempotent(charge, { store });
  const job = fakeJob({ id: `job_${randomUUID()}` });
  expect(await chargeOnce(job.nextAttempt())).toBe(await chargeOnce(job));
  await store.prune();
  await pool.end();
});

test("a key of one's own", async () => {
  const store = new MemoryStore();
  const chargeOnce = idempotent(charge, {
    store,
    key: ({ payload }) => `charge:${payload.subscription_id}:${payload.period}`,
    expiresIn: "90d",
  });
  const november = { subscription_id: "sub_1", period: "2026-11" };
  const december = { subscription_id: "sub_1", period: "2026-12" };
  const first = await chargeOnce(fakeJob({ payload: november }));
  expect(await chargeOnce(fakeJob({ payload: november }))).toBe(first);
  expect(await chargeOnce(fakeJob({ payload: december }))).not.toBe(first);
});

const store = new MemoryStore();

async function closeMonth(job) {
  const key = job.keyFor("charge");
  const charge = await store.once(key, () => pay(key), { job });
  return `closed with ${charge}`;
}

test("a part of a handler", async () => {
  const job = fakeJob();
  expect(await closeMonth(job.nextAttempt())).toBe(await closeMonth(job));
});

test("an outcome that is not known", async () => {
  const job = fakeJob();
  const lost = async () => {
    throw new OutcomeUnknownError("no answer");
  };
  await expect(idempotent(lost, { store })(job)).rejects.toThrow("no answer");
  const failing = idempotent(charge, { store, onUnknown: "fail" });
  await expect(failing(job.nextAttempt())).rejects.toThrow(NonRetryableError);

  const chargeOnce = idempotent(charge, { store, onUnknown: ({ key }) => findCharge(key) });
  expect(await chargeOnce(job.nextAttempt())).toBe("ch_found");
});

async function post(job, store) {
  return await store.transaction(
    job.id,
    async (tx) => {
      const insert = "insert into entries (job) values ($1) returning id";
      const { rows } = await tx.query(insert, [job.id]);
      return rows[0].id;
    },
    { job },
  );
}

test("rows in the same database", async () => {
  const pool = new pg.Pool({ connectionString: process.env.HALYARD_TEST_POSTGRES_URL });
  const store = new PostgresStore(pool);
  await store.migrate();
  await pool.query(
    "create table if not exists entries " +
      "(id bigint generated always as identity primary key, job text not null)",
  );
  const job = fakeJob({ id: `job_${randomUUID()}` });
  expect(await post(job.nextAttempt(), store)).toBe(await post(job, store));
  await pool.end();
});
