/**
 * pg-boss: jobs are fetched `fetch` at a time by each of `concurrency` loops, again at once when a
 * fetch was full, and after half a second or, with `notify`, when the database tells of new ones.
 */

import { peer, run } from "./driver.js";

const { PgBoss } = peer("pg-boss");
const pg = peer("pg");
const QUEUE = "bench";
const WAIT_SECONDS = 0.5;
/** More connections than this help no caller on a small machine. */
const CONNECTIONS_MAX = 34;
let place;
let boss;

await run({
  async open({ port, callers, notify }, mode) {
    place = { host: "127.0.0.1", port, user: "postgres", database: "bench" };
    if (mode === "work" || mode === "left") {
      return;
    }
    const max = Math.min(callers + 2, CONNECTIONS_MAX);
    await start({ max, supervise: false });
    if (mode === "prepare") {
      await boss.createQueue(QUEUE, { retryLimit: 3, notify: notify === 1 });
    }
  },
  create: (data) => boss.send(QUEUE, data),
  createBatch: (all) =>
    boss.insert(
      QUEUE,
      all.map((data) => ({ data })),
    ),
  async work({ concurrency, fetch, notify }, handled) {
    await start({ max: concurrency + 4, useListenNotify: notify === 1 });
    const options = {
      batchSize: fetch,
      localConcurrency: concurrency,
      pollingIntervalSeconds: WAIT_SECONDS,
      burstWhenBatchFull: true,
    };
    await boss.work(QUEUE, options, async (jobs) => {
      for (const job of jobs) {
        handled(job.data);
      }
    });
    return () => boss.stop({ graceful: true, timeout: 5_000 });
  },
  async left() {
    const client = new pg.Client(place);
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*) FILTER (WHERE state = 'completed') AS done, count(*) AS all FROM pgboss.job",
    );
    await client.end();
    return { left: Number(rows[0].all) - Number(rows[0].done), done: Number(rows[0].done) };
  },
  close: () => boss?.stop({ graceful: false }),
});

async function start(options) {
  boss = new PgBoss({ ...place, schedule: false, ...options });
  boss.on("error", () => {});
  await boss.start();
}
