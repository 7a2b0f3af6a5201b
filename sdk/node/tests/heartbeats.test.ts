/** Leases without the heartbeat thread, and calls through a transport of the program's own. */

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ApiError, Halyard, HttpTransport, type Transport } from "@halyard/node";
import { startServer } from "@halyard/node/testing";
import { expect, test } from "vitest";
import { rejection, sleep, withServer, withWorker } from "./scenarios/work.js";

/** Longer than a lease of 5 s. */
const LONG_MS = 7_000;

test.concurrent("a worker whose thread is missing goes on without it", () =>
  withServer(async (server) => {
    // As a bundler may leave it, which does not know of the file.
    const folder = mkdtempSync(join(tmpdir(), "halyard-bundle-"));
    cpSync(fileURLToPath(new URL("../dist", import.meta.url)), folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    rmSync(join(folder, "worker", "heartbeat-thread.js"));
    const bundled = await import(pathToFileURL(join(folder, "index.js")).href);
    const halyard: Halyard = new bundled.Halyard({ url: server.url });
    const errors: string[] = [];
    await withWorker(
      halyard,
      (worker) => worker.on("error", (error) => errors.push(error.message)).task("t", long),
      async (work) => {
        const { id } = await halyard.jobs.create({ task: "t", queue: "q" });
        expect(await work.ended(id)).toMatchObject({ state: "completed", starts: 1 });
        expect(errors).toHaveLength(1);
        expect(errors[0]).toContain("the heartbeat thread is gone");
      },
      { lease: "5s" },
    );
    halyard.close();
    rmSync(folder, { recursive: true });
  }));

test.concurrent("a transport of the program's own carries everything", () =>
  withServer(async (server) => {
    const inner = new HttpTransport(new URL(server.url));
    const calls = new Set<string>();
    const transport: Transport = {
      send(request) {
        calls.add(`${request.method} ${request.url.replace(/job_\w+/, ":id")}`);
        return inner.send(request);
      },
    };
    const halyard = new Halyard({ url: server.url, transport });
    await withWorker(
      halyard,
      (worker) => worker.task("t", long),
      async (work) => {
        const { id } = await halyard.jobs.create({ task: "t", queue: "q" });
        expect(await work.ended(id)).toMatchObject({ state: "completed", starts: 1 });
      },
      { lease: "5s" },
    );
    inner.close();
    for (const path of ["", "/claim", "/heartbeat", "/finish", "/:id/checkpoints"]) {
      expect([...calls]).toContain(`POST ${server.url}/v1/jobs${path}`);
    }
  }));

async function long(job: { checkpoint(name: string): Promise<void> }): Promise<void> {
  await job.checkpoint("begun");
  await sleep(LONG_MS);
}

test.concurrent("a key that is refused says what to do", async () => {
  const server = await startServer({ args: ["--api-key", "a-key-of-thirty-two-characters-00"] });
  const without = new Halyard({ url: server.url });
  const error = await rejection(without.jobs.create({ task: "t" }), ApiError);
  expect(error).toMatchObject({ status: 401, code: "unauthenticated" });
  expect(error.message).toContain("HALYARD_API_KEY");
  const worker = without.worker({ queues: ["q"] }).task("t", () => {});
  await rejection(worker.start(), ApiError);

  const halyard = new Halyard({ url: server.url, apiKey: "a-key-of-thirty-two-characters-00" });
  await withWorker(
    halyard,
    (own) => own.task("t", () => "done"),
    async (work) => {
      const { id } = await halyard.jobs.create({ task: "t", queue: "q" });
      expect((await work.ended(id)).result).toBe("done");
    },
  );
  without.close();
  halyard.close();
  await server.stop();
});
