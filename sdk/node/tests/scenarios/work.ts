/** What scenarios stand on: a server, clients with patience, workers, and waiting. */

import {
  Halyard,
  type HalyardOptions,
  type JobDetail,
  type Worker,
  type WorkerOptions,
} from "@halyard/node";
import { startServer, type TestServer } from "@halyard/node/testing";

/** How long {@link until} waits before it gives up: far longer than anything here takes. */
export const PATIENCE_MS = 60_000;

/** No pause between attempts. */
export const NO_BACKOFF = { initial: 0, max: 0 } as const;

/** Asks `ready` again and again until it answers something, and returns that. */
export async function until<T>(
  what: string,
  ready: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const giveUp = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await ready();
    if (found !== undefined && found !== false) {
      return found;
    }
    if (performance.now() >= giveUp) {
      throw new Error(`waited ${PATIENCE_MS} ms in vain for: ${what}`);
    }
    await sleep(10);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** A client that has patience for a busy machine. */
export function client(url: string, options: HalyardOptions = {}): Halyard {
  return new Halyard({ url, retryFor: "30s", ...options });
}

/** A server that ends with the scenario. */
export async function withServer(
  play: (server: TestServer, halyard: Halyard) => Promise<void>,
): Promise<void> {
  const server = await startServer();
  const halyard = client(server.url);
  try {
    await play(server, halyard);
  } finally {
    halyard.close();
    await server.stop();
  }
}

/** A worker on the queue `q` that runs while `play` does. */
export async function withWorker(
  halyard: Halyard,
  tasks: (worker: Worker) => void,
  play: (work: Work) => Promise<void>,
  options: Partial<WorkerOptions> = {},
): Promise<void> {
  const own = { queues: ["q"], shutdownTimeout: "1s", handleSignals: false } as const;
  const worker = halyard.worker({ ...own, ...options });
  tasks(worker);
  await worker.start();
  try {
    await play({ worker, ended: (id) => halyard.jobs.wait(id, { timeout: PATIENCE_MS }) });
  } finally {
    await worker.stop();
  }
}

export interface Work {
  worker: Worker;
  /** The job once it has ended. */
  ended(id: string): Promise<JobDetail>;
}

/** The error that a call rejects with. */
export async function rejection<E extends Error>(
  call: Promise<unknown>,
  kind: abstract new (...of: never[]) => E,
): Promise<E> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    if (error instanceof kind) {
      return error;
    }
    throw error;
  }
  throw new Error(`expected ${kind.name}, got ${JSON.stringify(value)}`);
}
