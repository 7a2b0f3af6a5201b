/** Every page in both themes, wide and narrow: nothing odd, nothing for axe-core, a picture. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inEveryLook, LOOKED_AT, leave, open, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
let failed: string;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  failed = await server.fail("books", {
    task: "close-month",
    idempotency_key: "close:2026-11",
    payload: { month: "2026-11", lines: [{ account: { id: 4 } }, { account: { id: 5 } }] },
  });
  for (let n = 0; n < 60; n += 1) await server.create({ queue: "billing", payload: { n } });
  await server.create({ queue: "mail", task: "send-receipt", delay_ms: 3_600_000 });
  await server.finish(await server.claim("billing"), {
    outcome: "completed",
    result: { ok: true },
  });
  await server.claim("billing", { id: "wrk_1", name: "billing-7f", sdk: "halyard-node/0.1.0" });
  await server.call("POST", "/v1/queues/mail/pause");
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

const PAGES: [string, () => string][] = [
  ["overview", () => "/"],
  ["jobs", () => "/jobs"],
  ["failed", () => "/jobs?state=failed"],
  ["none", () => "/jobs?queue=nothing-is-here"],
  ["job", () => `/jobs/${failed}`],
  ["no-job", () => "/jobs/job_01jdvw3k8pf5tvn2c7m9a0r4xq"],
  ["nowhere", () => "/nowhere"],
  ["keys", () => "/keys?task=close-month&key=close:2026-11"],
  ["queues", () => "/queues"],
  ["workers", () => "/workers"],
  ["tasks", () => "/tasks"],
];
test.each(PAGES)("%s", async (name, path) => {
  const { page, odd } = await reader(browser, server.url, LOOKED_AT);
  await visit(page, path());
  await inEveryLook(page, name);
  // What is not there is a 404, which the browser tells in its console.
  const isMissing = name === "no-job" || name === "nowhere";
  expect(odd.filter((it) => !(isMissing && it.includes("404")))).toEqual([]);
  await leave(page);
});

test("the chart is drawn again when the system turns dark", async () => {
  const { page } = await reader(browser, server.url, { colorScheme: "light" });
  await visit(page, "/");
  const drawn = () =>
    page.locator(".chart canvas").evaluate((it: HTMLCanvasElement) => it.toDataURL());
  await page.locator(".chart canvas").waitFor();
  const light = await drawn();
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(drawn).not.toBe(light);
  await leave(page);
});
