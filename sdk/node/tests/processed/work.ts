/** Work that ends in every way of the shared list. */

import { once } from "node:events";
import { createServer } from "node:net";
import { NonRetryableError, OutcomeUnknownError } from "@halyard/node";
import type { FakeJob } from "@halyard/node/testing";

type Work = (job: FakeJob) => Promise<string>;

/** A port where something does `meet` with each connection. */
async function listen(meet: (socket: import("node:net").Socket) => void) {
  const server = createServer(meet).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { server, url: `http://127.0.0.1:${port}/` };
}

export const works: Record<string, Work> = {
  returns: async () => "first",
  "throws an error that nobody knows": async () => {
    throw new Error("declined");
  },
  "throws NonRetryableError": async () => {
    throw new NonRetryableError("declined");
  },
  "throws OutcomeUnknownError": async () => {
    throw new OutcomeUnknownError("no answer");
  },
  "throws an error caused by OutcomeUnknownError": async () => {
    throw new Error("it failed", { cause: new OutcomeUnknownError("no answer") });
  },
  "sends a request whose connection is refused": async () => {
    const { server, url } = await listen(() => {});
    server.close();
    await once(server, "close");
    return await (await fetch(url)).text();
  },
  "sends a request whose answer does not come in time": async () => {
    const { server, url } = await listen((socket) => socket.resume());
    try {
      const signal = AbortSignal.timeout(200);
      return await (await fetch(url, { method: "POST", signal })).text();
    } finally {
      server.close();
    }
  },
  "sends a request whose connection breaks before the answer": async () => {
    const { server, url } = await listen((socket) => socket.once("data", () => socket.destroy()));
    try {
      return await (await fetch(url, { method: "POST" })).text();
    } finally {
      server.close();
    }
  },
  "is aborted because the lease is lost, and throws": async (job) => {
    job.abort("lease_lost");
    throw new Error("stopped");
  },
  "is aborted because the lease is lost, and returns": async (job) => {
    job.abort("lease_lost");
    return "first";
  },
  "never ends": async (job) => {
    await job.checkpoint("begun");
    return await new Promise(() => {});
  },
};
