/** The quickstart works as it is written: its programs are run. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startServer } from "@halyard/node/testing";
import { expect, test } from "vitest";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const run = promisify(execFile);

test("the programs run", async () => {
  const server = await startServer();
  const env = { ...process.env, HALYARD_URL: server.url, HALYARD_API_KEY: "" };
  const worker: ChildProcess = spawn(process.execPath, [file("../examples/billing-worker.js")], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said: string[] = [];
  const lines = createInterface({ input: worker.stdout as NodeJS.ReadableStream });
  lines.on("line", (line) => said.push(line));
  try {
    await once(lines, "line");
    for (const replayed of [false, true]) {
      const { stdout } = await run(process.execPath, [file("../examples/renewals.js")], { env });
      const [first, charged, second, , closed] = stdout.split("\n");
      expect(first).toMatch(new RegExp(`replayed=${replayed}$`));
      expect(second).toMatch(new RegExp(`replayed=${replayed}$`));
      expect(charged).toMatch(/^sub_1: completed {"charge":"ch_job_/);
      expect(closed).toBe("close-month: completed invoices ledger");
    }
    worker.kill("SIGTERM");
    const [code] = await once(worker, "exit");
    expect(code).toBe(0);
    expect(said).toEqual([
      "waiting for jobs; stop with Ctrl-C",
      "charging sub_1 for 2026-11",
      "charging sub_2 for 2026-11",
      "finalizing the invoices of 2026-11",
      "posting 2026-11 to the ledger",
      "3 entries are in the ledger",
    ]);
  } finally {
    worker.kill("SIGKILL");
    await server.stop();
  }
});
