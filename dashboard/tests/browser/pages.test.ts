/** Every page in both themes, wide and narrow: nothing odd, nothing for axe-core, a picture. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inEveryLook, LOOKED_AT, leave, open, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
let failed: string;
let running: string;
let retrying: string;
let completed: string;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  failed = await server.fail("books", {
    task: "close-month",
    idempotency_key: "close:2026-11",
    payload: { month: "2026-11", lines: [{ account: { id: 4 } }, { account: { id: 5 } }] },
  });
  for (let n = 0; n < 60; n += 1) await server.create({ queue: "billing", payload: { n } });
  await server.create({ queue: "mail", task: "send-receipt", delay_ms: 3_600_000 });
  const worker = { id: "wrk_1", name: "billing-7f", sdk: "halyard-node/0.1.0" };
  const [done, declined] = [await server.claim("billing"), await server.claim("billing")];
  await server.finish(done, { outcome: "completed", result: { ok: true } });
  const error = { type: "Down", message: "The provider is down." };
  await server.finish(declined, { outcome: "failed", error, retry_after_ms: 3_600_000 });
  const taken = await server.claim("billing", worker);
  const value = { charged: Array.from({ length: 20 }, (_, n) => `sub_${n}`) };
  const checkpoint = { token: taken.lease.token, name: "charges", value };
  await server.call("POST", `/v1/jobs/${taken.id}/checkpoints`, checkpoint);
  [completed, retrying, running] = [done.id, declined.id, taken.id];
  await server.call("POST", "/v1/queues/mail/pause");
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

/** Its dialog, opened by this button and looked at, and closed again. */
const opened = async (page: Page, name: string, label: string) => {
  await page.getByRole("button", { name: label, exact: true }).click();
  await page.locator("dialog").waitFor();
  await inEveryLook(page, name);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
};

const dialogs = async (page: Page) => {
  await opened(page, "job-retry", "Retry…");
  await opened(page, "job-run-as-new", "Run as new…");
  await opened(page, "job-forget-key", "Forget key…");
};

const select = async (page: Page) => {
  await page.getByLabel("Select all of this page").check();
  await page.getByText("1 selected").waitFor();
  await opened(page, "jobs-retry", "Retry…");
};

const unfold = async (page: Page) => {
  await page.locator("table summary").click();
  await page.getByRole("button", { name: "Copy the value of charges" }).waitFor();
};

/** Name of the pictures, path, and what is done before they are taken. */
const PAGES: [string, () => string, ((page: Page) => Promise<void>)?][] = [
  ["overview", () => "/"],
  ["jobs", () => "/jobs"],
  ["failed", () => "/jobs?state=failed"],
  ["jobs-selected", () => "/jobs?state=failed", select],
  ["none", () => "/jobs?queue=nothing-is-here"],
  ["job", () => `/jobs/${failed}`, dialogs],
  ["job-running", () => `/jobs/${running}`, unfold],
  ["job-retrying", () => `/jobs/${retrying}`],
  ["job-completed", () => `/jobs/${completed}`],
  ["no-job", () => "/jobs/job_01jdvw3k8pf5tvn2c7m9a0r4xq"],
  ["nowhere", () => "/nowhere"],
  ["keys", () => "/keys?task=close-month&key=close:2026-11"],
  ["queues", () => "/queues"],
  ["workers", () => "/workers"],
  ["tasks", () => "/tasks"],
];
test.each(PAGES)("%s", async (name, path, before) => {
  const { page, odd } = await reader(browser, server.url, LOOKED_AT);
  await visit(page, path());
  await before?.(page);
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
