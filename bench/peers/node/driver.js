/**
 * Runs the measured loops of every Node.js client, so that all are measured alike.
 *
 * A client is `{ open, create, createBatch, work, left, close }` (see {@link run}) and one more
 * file of this folder. It is called as `client.js MODE key=value…` and ends with `RESULT {…}`.
 * Times are seconds on CLOCK_MONOTONIC.
 */

import { createRequire } from "node:module";
import { join } from "node:path";

/** Untimed batches before timed ones. */
const WARM_BATCHES = 3;
/** A client that does not close its connections is left to itself after this. */
const CLOSE_MS = 3_000;

/** A package of the peers, from the folder that they were installed into. */
export function peer(name) {
  return createRequire(join(process.env.PEERS_NODE, "package.json"))(name);
}

/** Runs the mode that the command line asks for. */
export async function run(client) {
  const { mode, options } = readArguments();
  await client.open(options, mode);
  const found = await MODES[mode](client, options);
  console.log(`RESULT ${JSON.stringify(found)}`);
  setTimeout(() => process.exit(0), CLOSE_MS).unref();
  await client.close();
  process.exit(0);
}

const MODES = {
  prepare: async () => ({}),
  left: (client, options) => client.left(options),
  create,
  work,
  trickle,
};

function readArguments() {
  const [mode, ...words] = process.argv.slice(2);
  const options = { callers: 1, batch: 1, jobs: Number.POSITIVE_INFINITY, seconds: 60, warm: 20 };
  for (const word of words) {
    const [name, value] = word.split("=");
    options[name] = Number.isNaN(Number(value)) ? value : Number(value);
  }
  return { mode, options };
}

/** Creates from `callers` callers until there are `jobs`, or `seconds` are up. */
async function create(client, { callers, batch, jobs, seconds, size, warm }) {
  const add = (first, count) =>
    batch === 1
      ? client.create(payload(first, size))
      : client.createBatch(Array.from({ length: count }, (_, n) => payload(first + n, size)));
  const together = (loop) => Promise.all(Array.from({ length: callers }, loop));

  // Clients open their connections lazily, and JavaScript is slow at first.
  const rounds = batch === 1 ? warm : Math.min(warm, WARM_BATCHES);
  await together(async () => {
    for (let round = 0; round < rounds; round += 1) {
      await add(0, batch);
    }
  });
  let next = 0;
  let done = 0;
  const cpu = cpuSeconds();
  const begin = now();
  await together(async () => {
    while (next < jobs && now() - begin < seconds) {
      const first = next;
      const count = Math.min(batch, jobs - first);
      next += count;
      await add(first, count);
      done += count;
    }
  });
  return {
    jobs: done,
    warm: rounds * callers * batch,
    begin,
    seconds: now() - begin,
    cpu: cpuSeconds() - cpu,
  };
}

/** Handles `jobs` jobs; says READY when it has begun, or has handled the first `ready` ones. */
async function work(client, { jobs, seconds, ready = 0, latency = 0, ...options }) {
  const delays = [];
  const found = { jobs: 0, first: 0, last: 0 };
  const cpu = cpuSeconds();
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const handled = (data) => {
    found.last = now();
    found.jobs += 1;
    if (latency && found.jobs > ready) {
      delays.push((found.last - data.at) * 1_000);
    }
    if (found.jobs === 1) {
      found.first = found.last;
    }
    if (found.jobs === ready) {
      console.log("READY");
    }
    if (found.jobs === jobs) {
      finish();
    }
  };
  const stop = await client.work(options, handled);
  if (ready === 0) {
    console.log("READY");
  }
  const late = setTimeout(finish, seconds * 1_000);
  await finished;
  clearTimeout(late);
  await stop();
  delays.sort((a, b) => a - b);
  return { ...found, cpu: cpuSeconds() - cpu, p50: part(delays, 0.5), p99: part(delays, 0.99) };
}

/** Creates one job every 5 to 10 ms. */
async function trickle(client, { jobs, size }) {
  for (let n = 0; n < jobs; n += 1) {
    await client.create(payload(n, size));
    await new Promise((resolve) => setTimeout(resolve, 5 + ((n * 7919) % 50) / 10));
  }
  return { jobs };
}

/** A payload of `size` bytes as JSON. */
function payload(n, size) {
  const data = { id: n, to: `user${n}@example.com`, template: "welcome", at: now(), rest: "" };
  data.rest = "x".repeat(Math.max(0, size - JSON.stringify(data).length));
  return data;
}

function now() {
  return Number(process.hrtime.bigint()) / 1e9;
}

function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function part(sorted, share) {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
