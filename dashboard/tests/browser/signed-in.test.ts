/** The pages about access in both themes, wide and narrow, and names that somebody means badly. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visible } from "../../src/parts/visible.ts";
import { HOSTILE } from "./hostile.ts";
import { inEveryLook, LOOKED_AT, leave, open, reader, visit, withoutRefusals } from "./reader.ts";
import { Server } from "./server.ts";

const ROOT = `hyd_${"test".repeat(10)}`;

let browser: Browser;
let server: Server;
let empty: Server;
let readOnly: Server;
let producer: string;
let job: string;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server(ROOT).start()];
  empty = await new Server(ROOT).start();
  readOnly = await new Server(ROOT).start("--read-only");
  ({ key: producer } = await server.makeKey("checkout", "producer"));
  await server.makeKey("billing-worker", "worker");
  await server.makeKey("Maria, on call", "admin");
  job = await server.fail("books", { idempotency_key: "close:2026-11" });
  const others = [
    await server.create({ queue: "billing" }),
    await server.create({ queue: "mail" }),
  ];
  const ids = others.map(({ id }) => id);
  await server.call("POST", `/v1/jobs/${job}/retry`, { life: 1 });
  await server.call("POST", "/v1/jobs/bulk", { action: "cancel", ids });
  await server.call("POST", "/v1/queues/billing/pause");
  const { id } = await server.makeKey("left the company", "producer");
  await server.call("DELETE", `/v1/api-keys/${id}`);
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
  await empty?.end();
  await readOnly?.end();
});

const create = async (page: Page) => {
  await page.getByRole("button", { name: "Create a key…" }).click();
  await page.getByLabel("Name").fill("nightly-report");
};

interface Shown {
  name: string;
  path: () => string;
  key?: () => string;
  on?: () => Server;
  after?: (page: Page) => Promise<void>;
}

const SHOWN: Shown[] = [
  { name: "sign-in", path: () => "/jobs" },
  {
    name: "sign-in-wrong",
    path: () => "/",
    after: async (page) => {
      await page.getByLabel("Key", { exact: true }).fill("hyd_wrong");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").waitFor();
    },
  },
  { name: "access", path: () => "/access", key: () => ROOT },
  { name: "access-create", path: () => "/access", key: () => ROOT, after: create },
  {
    name: "access-revoke",
    path: () => "/access",
    key: () => ROOT,
    after: (page) => page.getByRole("button", { name: "Revoke… billing-worker" }).click(),
  },
  { name: "audit", path: () => "/audit", key: () => ROOT },
  { name: "admins-only", path: () => "/audit", key: () => producer },
  { name: "job-as-producer", path: () => `/jobs/${job}`, key: () => producer },
  { name: "first-run-with-keys", path: () => "/", key: () => ROOT, on: () => empty },
  { name: "read-only", path: () => "/", key: () => ROOT, on: () => readOnly },
];

test.each(SHOWN)("$name", async ({ name, path, key, on, after }) => {
  const { page, odd } = await reader(browser, (on?.() ?? server).url, LOOKED_AT);
  if (key) await page.context().request.post("/v1/session", { data: { key: key() } });
  await visit(page, path());
  await after?.(page);
  await inEveryLook(page, name);
  expect(withoutRefusals(odd)).toEqual([]);
  await leave(page);
});

test("a key as it is shown once, and the door above a page", async () => {
  const { page } = await reader(browser, server.url, LOOKED_AT);
  await page.context().request.post("/v1/session", { data: { key: ROOT } });
  await visit(page, "/access");
  await create(page);
  await page.locator("dialog [type=submit]").click();
  await page.getByLabel("Key, role producer").waitFor();
  await inEveryLook(page, "made");
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.context().clearCookies();
  await server.create({ queue: "billing" });
  await page.locator(".door").waitFor();
  await inEveryLook(page, "again");
  await leave(page);
});

test("forty strings as names of keys", { timeout: 300_000 }, async () => {
  const { page, odd } = await reader(browser, server.url);
  const made: { id: string; key: string }[] = [];
  for (const text of HOSTILE) made.push(await server.makeKey(text, "admin"));
  for (const [index, text] of HOSTILE.entries()) {
    await page.context().request.post("/v1/session", { data: { key: made[index]?.key } });
    await visit(page, "/audit");
    expect(await page.locator(".account .cut").innerText()).toContain(visible(text));
    await page
      .locator("tbody th", { hasText: visible(text) })
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Access" }).click();
    const row = page.locator("tbody tr", { hasText: made[index]?.id ?? "" });
    expect(await row.locator("th").innerText()).toBe(visible(text));
    await row.getByRole("button").click();
    expect(await page.locator("dialog h2").innerText()).toBe(`Revoke ${visible(text)}?`);
    await page.getByText("You are signed in with a key of this name").waitFor();
  }
  expect(odd).toEqual([]);
});
