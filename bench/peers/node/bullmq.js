/** BullMQ, with jobs that are removed when they have ended, which is its fastest way. */

import { peer, run } from "./driver.js";

const { Queue, Worker } = peer("bullmq");
const NAME = "bench";
let connection;
let queue;

await run({
  async open({ port }) {
    connection = { host: "127.0.0.1", port, maxRetriesPerRequest: null };
    const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
    queue = new Queue(NAME, { connection, defaultJobOptions });
    await queue.waitUntilReady();
  },
  create: (data) => queue.add("task", data),
  createBatch: (all) => queue.addBulk(all.map((data) => ({ name: "task", data }))),
  async work({ concurrency }, handled) {
    const options = {
      connection,
      concurrency,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    };
    const worker = new Worker(NAME, async (job) => handled(job.data), options);
    await worker.waitUntilReady();
    return () => worker.close();
  },
  async left() {
    const counts = await queue.getJobCounts();
    return { left: Object.values(counts).reduce((sum, count) => sum + count, 0) };
  },
  close: () => queue.close(),
});
