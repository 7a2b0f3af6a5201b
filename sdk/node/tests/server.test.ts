/** The server of a test. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { until } from "./scenarios/work.js";

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
