/** Records as they stand in Redis and PostgreSQL, and transactions. */

import net from "node:net";
import {
  KeyReusedError,
  NonRetryableError,
  OutcomeUnknownError,
  PostgresStore,
  RedisStore,
  StoreError,
} from "@halyard/node";
import { crashPoint, fakeJob, proveIdempotent } from "@halyard/node/testing";
import "@halyard/node/testing/vitest";
import { Redis } from "ioredis";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { read } from "../scenarios/file.js";
import { client, ioredis, key, pool } from "./stores.js";

interface Entry {
  name: string;
  redis: string;
  postgres: Record<string, unknown> & { fingerprint: string };
  claim_gets: { completed?: string; mine?: { unknown: boolean }; in_progress?: boolean };
}

const { records } = read<{ records: Entry[] }>("processed.json");
const redis = ioredis();
const database = pool(40);
const store = new PostgresStore(database);

beforeAll(async () => {
  await store.migrate();
  await database.query(
    "select pg_advisory_lock(7373); create table if not exists ledger_of_node " +
      "(id bigint generated always as identity primary key, job text not null); " +
      "select pg_advisory_unlock(7373)",
  );
});

afterAll(async () => {
  await redis.quit();
  await database.end();
});

const claim = (name: string, { postgres }: Entry) => ({
  key: name,
  fingerprint: postgres.fingerprint,
  owner: "the reader",
  inProgressMs: 60_000,
  expiresInMs: 3_600_000,
});

function expected({ claim_gets: gets }: Entry) {
  return gets.completed !== undefined
    ? { kind: "completed", response: gets.completed }
    : gets.mine !== undefined
      ? { kind: "mine", unknown: gets.mine.unknown }
      : { kind: "in_progress", leftMs: expect.any(Number) };
}

test.each(records)("$name of another SDK", async (record) => {
  const name = key("record");
  await redis.set(`halyard:processed:${name}`, record.redis, "PXAT", 4_102_444_800_000);
  expect(await new RedisStore(redis).claim(claim(name, record))).toEqual(expected(record));
  await database.query(
    "insert into halyard_processed select $1, fingerprint, state, owner, unknown, " +
      "in_progress_until, response, expires_at " +
      "from json_populate_record(null::halyard_processed, $2::json)",
    [name, JSON.stringify(record.postgres)],
  );
  expect(await store.claim(claim(name, record))).toEqual(expected(record));
});

test("what is written to Redis has the members that the others read", async () => {
  const [record] = records as [Entry];
  const name = key("record");
  const written = new RedisStore(redis);
  await written.claim(claim(name, record));
  await written.complete(name, "the reader", '{"charge":"ch_1"}', 3_600_000);
  const { owner, in_progress_until, expires_at, ...rest } = JSON.parse(
    (await redis.get(`halyard:processed:${name}`)) ?? "",
  );
  expect(owner).toBe("the reader");
  expect(in_progress_until).toBeGreaterThan(1_700_000_000_000);
  expect(await redis.call("PEXPIRETIME", `halyard:processed:${name}`)).toBe(expires_at);
  const { owner: _, in_progress_until: __, expires_at: ___, ...wanted } = JSON.parse(record.redis);
  expect(rest).toEqual(wanted);
});

test("expired rows are pruned, in a table of another name", async () => {
  await database.query("create schema if not exists pruned_by_node");
  const other = new PostgresStore(database, { table: "pruned_by_node.records" });
  await other.migrate();
  for (const [name, expiresInMs] of [
    ["old", 0],
    ["older", 0],
    ["new", 3_600_000],
  ] as const) {
    await other.claim({ key: name, fingerprint: "1:", owner: "me", inProgressMs: 0, expiresInMs });
  }
  expect(await other.prune()).toBe(2);
  const { rows } = await database.query("select key from pruned_by_node.records");
  expect(rows).toEqual([{ key: "new" }]);
  await database.query("drop schema pruned_by_node cascade");
  for (const table of ["x; drop table y", "A", "", "a.b.c", "a."]) {
    expect(() => new PostgresStore(database, { table })).toThrow("no plain name");
  }
});

test("a store that cannot be asked says why", async () => {
  const broken = new PostgresStore(database, { table: "nowhere.records" });
  const error = await broken.once("k", () => 1).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toContain("the processed store: ");
  expect(error.cause.code).toBe("42P01");
  const name = key("odd");
  await redis.set(`halyard:processed:${name}`, "no JSON");
  await expect(new RedisStore(redis).once(name, () => 1)).rejects.toThrow(StoreError);
  expect(() => new RedisStore({} as never)).toThrow("ioredis");
});

/** Books an entry into the ledger, as a handler does it. */
const book = (job: ReturnType<typeof fakeJob>, kept = store) =>
  kept.transaction(
    job.id,
    async (tx) => {
      const insert = "insert into ledger_of_node (job) values ($1) returning id";
      const { rows } = await tx.query(insert, [job.id]);
      if (job.payload === "fails") {
        throw new Error("the work fails");
      }
      return rows[0].id as string;
    },
    { job },
  );

async function entries(job: { id: string }): Promise<number> {
  const count = "select count(*)::int as entries from ledger_of_node where job = $1";
  return (await database.query(count, [job.id])).rows[0].entries;
}

test("rows in a transaction are there once", async () => {
  const job = fakeJob({ id: key("book") });
  const first = await book(job);
  expect(await book(job.nextAttempt())).toBe(first);
  expect(await entries(job)).toBe(1);
  const other = book(fakeJob({ id: job.id, payload: 2 }));
  await expect(other).rejects.toThrow(KeyReusedError);
});

test("a failure leaves neither", async () => {
  const id = key("book");
  const failing = fakeJob({ id, payload: "fails" });
  await expect(book(failing)).rejects.toThrow("the work fails");
  expect(await entries(failing)).toBe(0);
  await book(fakeJob({ id, payload: "works" }));
  expect(await entries(failing)).toBe(1);
});

test.each([
  ["rollback"],
  ["commit"],
  ["commit; begin"],
  ["rollback; begin"],
  ["select 1/0"],
  ["delete from halyard_processed where key = current_setting('halyard.key')"],
])("work that runs `%s` is told so", async (statement) => {
  const job = fakeJob({ id: key("ended") });
  const ended = store.transaction(
    job.id,
    async (tx) => {
      await tx.query("select set_config('halyard.key', $1, true)", [job.id]);
      await tx.query(statement).catch(() => {});
    },
    { job },
  );
  const error = await ended.catch((thrown) => thrown);
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toMatch(/ended or broke its transaction|took its record away/);
  // What it has committed itself stays: the record, which says that it has begun.
  const next = await store.once(job.id, () => "done", { job }).catch((thrown) => thrown.name);
  expect(next).toBe(statement.startsWith("commit") ? "AlreadyInProgressError" : "done");
});

test("thirty at once", async () => {
  const job = fakeJob({ id: key("book") });
  const ids = await Promise.all(Array.from({ length: 30 }, () => book(job.nextAttempt())));
  expect(new Set(ids).size).toBe(1);
  expect(await entries(job)).toBe(1);
});

test("after a run outside of a transaction", async () => {
  const job = fakeJob({ id: key("book") });
  const lost = store.once(
    job.id,
    () => {
      throw new OutcomeUnknownError("no answer");
    },
    { job },
  );
  await expect(lost).rejects.toThrow(OutcomeUnknownError);
  const fail = store.transaction(job.id, () => 1, { job, onUnknown: "fail" });
  await expect(fail).rejects.toThrow(NonRetryableError);
  expect(await store.transaction(job.id, () => 1, { job, onUnknown: () => 7 })).toBe(7);
});

test("a transaction needs a pool", async () => {
  const alone = client();
  await alone.connect();
  const refused = book(fakeJob({ id: key("book") }), new PostgresStore(alone));
  await expect(refused).rejects.toThrow("a pool of `pg`");
  await alone.end();
});

test("a proof of rows in a transaction", async () => {
  await database.query("create table if not exists postings_of_node (job text not null)");
  const named: pg.Pool = pool(40);
  named.options.application_name = "proof_of_node";
  named.on("error", () => {});
  const posted = new PostgresStore(named, { table: "posted_by_node" });
  await posted.migrate();
  const report = await proveIdempotent(
    async (job) => {
      await posted.transaction(
        job.id,
        async (tx) => {
          await tx.query("insert into postings_of_node (job) values ($1)", [job.id]);
          await crashPoint("posted");
        },
        { job },
      );
      await crashPoint("committed");
    },
    {
      world: async () => (await database.query("select job from postings_of_node")).rows,
      reset: () => database.query("truncate postings_of_node, posted_by_node"),
      // What becomes of the connections of a process that has died.
      afterKill: () =>
        database.query(
          "select pg_terminate_backend(pid, 10000) from pg_stat_activity " +
            "where application_name = 'proof_of_node'",
        ),
    },
  );
  expect(report).toBeIdempotent();
  expect(report.points).toEqual(["at `posted`", "at `committed`"]);
});

test("a claim that ioredis repeats because its answer was lost is one's own", async () => {
  const { hostname, port, password } = new URL(String(process.env.HALYARD_TEST_REDIS_URL));
  let cut = false;
  const proxy = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    let asked = false;
    near.on("data", (sent) => {
      asked ||= sent.includes("in_progress_until");
      far.write(sent);
    });
    far.on("data", (answer) => {
      if (asked && !cut) {
        cut = true;
        near.destroy();
      } else {
        near.write(answer);
      }
    });
    for (const socket of [near, far]) {
      socket.on("error", () => {});
      socket.on("close", () => [near, far].map((one) => one.destroy()));
    }
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  const { port: at } = proxy.address() as net.AddressInfo;
  const redis = new Redis({ host: "127.0.0.1", port: at, password });
  redis.on("error", () => {});
  const repeated = new RedisStore(redis);
  const done = repeated.once(key("repeated"), () => "done", { onUnknown: "fail" });
  expect(await done).toBe("done");
  expect(cut).toBe(true);
  await redis.quit();
  proxy.close();
});

test("a client that is in somebody's transaction is refused", async () => {
  const single = client();
  await single.connect();
  const own = new PostgresStore(single);
  const name = key("within");
  await single.query("begin");
  const within = own.once(name, () => "done");
  await expect(within).rejects.toThrow(StoreError);
  await expect(within).rejects.toThrow("its client is in a transaction");
  await single.query("rollback");
  expect(await own.once(name, () => "done")).toBe("done");
  await single.end();
});
