/**
 * graphile-worker, with its local queue and batched completion where the test asks for them
 * (`queued`, `delay`).
 */

import { run as drive, peer } from "./driver.js";

const { run, makeWorkerUtils, Logger } = peer("graphile-worker");
const pg = peer("pg");
/** More connections than this help no caller on a small machine. */
const CONNECTIONS_MAX = 34;
const logger = new Logger(() => () => {});
let pool;
let producer;

await drive({
  async open({ port, callers }, mode) {
    const max = Math.min(callers + 10, CONNECTIONS_MAX);
    pool = new pg.Pool({ host: "127.0.0.1", port, user: "postgres", database: "bench", max });
    pool.on("error", () => {});
    producer = await makeWorkerUtils({ pgPool: pool, logger });
    if (mode === "prepare") {
      await producer.migrate();
    }
  },
  create: (payload) => producer.addJob("task", payload),
  createBatch: (all) => producer.addJobs(all.map((payload) => ({ identifier: "task", payload }))),
  async work({ concurrency, queued, delay }, handled) {
    const worker = { concurrentJobs: concurrency, maxPoolSize: 10, pollInterval: 2_000 };
    if (queued !== undefined) {
      worker.localQueue = { size: queued };
      worker.completeJobBatchDelay = delay;
      worker.failJobBatchDelay = delay;
    }
    const runner = await run({
      preset: { worker },
      pgPool: pool,
      logger,
      noHandleSignals: true,
      taskList: { task: async (payload) => handled(payload) },
    });
    return () => runner.stop();
  },
  async left() {
    const { rows } = await pool.query("SELECT count(*) FROM graphile_worker._private_jobs");
    return { left: Number(rows[0].count) };
  },
  close: () => producer.release(),
});
