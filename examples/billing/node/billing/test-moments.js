// billing/test-moments.js: how the story meets a moment. Workers as processes that can be stopped
// and killed, locks in PostgreSQL that hold them up, and conditions to wait for.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll } from "vitest";
import { db } from "./db.js";

const PATIENCE_MS = 60_000;

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Asks again and again until the answer is true, and returns it. */
export async function until(what, condition) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`it never came to this: ${what}`);
    await pause(20);
  }
}

/** Runs a program of this folder to its end; its lines. */
export async function run(name) {
  const { stdout } = await promisify(execFile)(process.execPath, [file(name)]);
  return stdout.trim().split("\n");
}

const workers = new Set();
afterAll(() => {
  for (const child of workers) child.kill("SIGKILL");
});

/** The worker, as a process. A job that it holds is given away after 5 s without a sign of life. */
export async function startWorker({ concurrency }) {
  const env = { ...process.env, CONCURRENCY: String(concurrency), LEASE: "5s" };
  const child = spawn(process.execPath, [file("./worker.js")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  workers.add(child);
  const ended = once(child, "exit").finally(() => workers.delete(child));
  await once(createInterface({ input: child.stdout }), "line");
  return {
    /** No line of it runs any more. */
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    /** It stands still, and can still be killed. */
    async freeze() {
      child.kill("SIGSTOP");
      const isStopped = async () =>
        (await readFile(`/proc/${child.pid}/stat`, "utf8")).includes(") T");
      await until("the worker is stopped", isStopped);
    },
    /** Asks it to end, as a deploy does. */
    terminate: () => child.kill("SIGTERM"),
    /** Its exit code. */
    ended: async () => (await ended)[0],
  };
}

/** Takes a lock by a statement, for as long as the caller likes. */
export async function lock(sql, values) {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.query("begin");
  await client.query(sql, values);
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const waiting = () =>
    db.one("select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))", [
      rows[0].pid,
    ]);
  return {
    /** Waits until somebody waits for it. */
    waiter: () => until("somebody waits for the lock", waiting),
    /** Ends the connection that waits for it, as PostgreSQL does when its client is gone. */
    async dropWaiter() {
      const { pid } = await waiting();
      await db.one("select pg_terminate_backend($1, 10000)", [pid]);
    },
    async release() {
      await client.query("rollback");
      await client.end();
    },
  };
}
