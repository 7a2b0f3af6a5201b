// A worker in a process of its own: `node worker-process.js ROLE URL GO`. What it has to say it
// says on lines of its standard output.

import { existsSync } from "node:fs";
import { Halyard, NonRetryableError } from "@halyard/node";

const [, , role, url, go] = process.argv;
const say = (words) => process.stdout.write(`${words}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for something that never comes, in a process that goes on. */
const forever = () => sleep(2 ** 31 - 1);

async function gone() {
  while (!existsSync(go)) {
    await sleep(10);
  }
}

const roles = {
  brief() {},

  /** Three parts; its first start does not come to the end of the third one. */
  async month(job) {
    say(`saw ${job.checkpoints.join(" ")}`);
    if (!job.checkpoints.includes("a")) {
      say("work a");
      await job.checkpoint("a");
    }
    const value = await job.step("b", () => {
      say("work b");
      return process.pid;
    });
    say("work c");
    if (job.start === 1) {
      await forever();
    }
    await job.checkpoint("c");
    return value;
  },

  async sleeper(job) {
    say("running");
    await sleep(job.payload * 1000);
    return "slept";
  },

  /** The same, in a worker that waits for its handlers for a minute. */
  patient: (job) => roles.sleeper(job),

  idle(job) {
    say(`start ${job.start}`);
  },

  /** Writes a checkpoint when it is told to go on, which is after its lease. */
  async late(job) {
    say("running");
    await gone();
    try {
      await job.checkpoint("late");
      say("the checkpoint was taken");
    } catch (error) {
      say(`${error.name}: ${error.message}`);
    }
    if (!job.signal.aborted) {
      await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
    }
    say(`told ${job.signal.reason.reason}`);
    return "first";
  },

  /** Ends the process when its payload says so; a neighbour waits for that, once. */
  async poison(job) {
    say("running");
    if (job.payload) {
      await gone();
      process.kill(process.pid, "SIGKILL");
      await forever();
    }
    if (job.start === 1) {
      await forever();
    }
    return "unharmed";
  },

  /** Leaves a promise that rejects to itself, in its first start. */
  async floating(job) {
    if (job.start === 1) {
      void Promise.reject(new Error("nobody awaits me"));
      await forever();
    }
    return "again";
  },

  /** Fails with a text that would clear the screen, and then for good. */
  failing(job) {
    const error = job.attempt === 1 ? Error : NonRetryableError;
    throw new error("a\nb\u001b[2J");
  },

  /** Blocks its thread for as many seconds as its payload says. */
  blocker(job) {
    say("running");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, job.payload * 1000);
    return "blocked";
  },
};

const halyard = new Halyard({ url, retryFor: "30s" });
const worker = halyard.worker({
  queues: ["q"],
  concurrency: role === "late" || role === "brief" ? 1 : 10,
  lease: "5s",
  shutdownTimeout: role === "patient" ? "1m" : "2s",
});
worker.task("t", roles[role]);
if (role === "brief") {
  say("beginning");
}
await worker.start();
if (role === "idle") {
  say("waiting");
}
