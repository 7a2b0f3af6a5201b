/** The server of a test, and an address that is not quite its own. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { Halyard } from "../src/index.js";
import { until, withServer } from "./scenarios/work.js";

test("https where the server speaks http", () =>
  withServer(async (server) => {
    const url = server.url.replace("http:", "https:");
    const halyard = new Halyard({ url, retryFor: 0 });
    await expect(halyard.jobs.get("job_1")).rejects.toThrow(
      `cannot reach ${url}: what answers there speaks no TLS; \`halyard serve\` itself speaks ` +
        "http:// (wrong version number)",
    );
  }));

test("a server does not outlive a test that is killed", async () => {
  const program = `
    import { startServer } from "@halyard/node/testing";
    const server = await startServer();
    console.log(server.process.pid);
    setInterval(() => {}, 1_000);
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: parent.stdout });
  const pid = await new Promise<string>((resolve) => lines.once("line", resolve));
  expect(existsSync(`/proc/${pid}/exe`)).toBe(true);
  parent.kill("SIGKILL");
  await until("the server is gone", () => !existsSync(`/proc/${pid}/exe`));
});
