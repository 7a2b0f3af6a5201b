/** Every page in both themes, wide and narrow: nothing odd, nothing for axe-core, a picture. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { complaints, leave, open, picture, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
let failed: string;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  failed = await server.fail("books", { task: "close-month", idempotency_key: "close:2026-11" });
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
  ["keys", () => "/keys?task=close-month&key=close:2026-11"],
  ["queues", () => "/queues"],
  ["workers", () => "/workers"],
  ["tasks", () => "/tasks"],
];
const looks = PAGES.flatMap(([name, path]) =>
  (["light", "dark"] as const).flatMap((theme) =>
    [1280, 390].map((width) => ({ name, path, theme, width })),
  ),
);

test.each(looks)("$name, $theme, $width wide", async ({ name, path, theme, width }) => {
  const viewport = { width, height: 860 };
  const options = { viewport, colorScheme: theme, bypassCSP: true };
  const { page, odd } = await reader(browser, server.url, options);
  await visit(page, path());
  expect(await complaints(page)).toEqual([]);
  await picture(page, `${name}-${theme}-${width}`);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider, "the page itself is not scrolled sideways").toBeLessThanOrEqual(0);
  // A job that is not there is a 404, which the browser tells in its console.
  expect(odd.filter((it) => !(name === "no-job" && it.includes("404")))).toEqual([]);
  await leave(page);
});
