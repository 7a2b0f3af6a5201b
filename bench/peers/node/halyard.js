/** Halyard's SDK for Node.js, as it is built in `sdk/node`, with its default settings. */

import { Halyard } from "../../../sdk/node/dist/index.js";
import { run } from "./driver.js";

const queue = "bench";
const task = "task";
let halyard;

await run({
  open({ port }) {
    halyard = new Halyard({ url: `http://127.0.0.1:${port}` });
  },
  create: (payload) => halyard.jobs.create({ queue, task, payload }),
  async createBatch(all) {
    const results = await halyard.jobs.createBatch(
      all.map((payload) => ({ queue, task, payload })),
    );
    const failed = results.find((result) => !result.ok);
    if (failed !== undefined) {
      throw failed.error;
    }
  },
  async work({ concurrency }, handled) {
    const worker = halyard.worker({ queues: [queue], concurrency });
    worker.task(task, (job) => {
      handled(job.payload);
    });
    await worker.start();
    return () => worker.stop();
  },
  async left() {
    const { counts } = await halyard.stats.get();
    const { completed, failed, cancelled, ...waiting } = counts;
    const left = Object.values(waiting).reduce((sum, count) => sum + count, failed + cancelled);
    return { left, done: completed };
  },
  close() {},
});
