/** The pages about access in both themes, wide and narrow, and names that somebody means badly. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOSTILE } from "./hostile.ts";
import { complaints, leave, open, picture, reader, visit, withoutRefusals } from "./reader.ts";
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

const looks = SHOWN.flatMap((shown) =>
  (["light", "dark"] as const).flatMap((theme) =>
    [1280, 390].map((width) => ({ ...shown, theme, width })),
  ),
);

test.each(looks)("$name, $theme, $width wide", async (look) => {
  const { name, theme, width } = look;
  const viewport = { width, height: 860 };
  const at = (look.on?.() ?? server).url;
  const { page, odd } = await reader(browser, at, {
    viewport,
    colorScheme: theme,
    bypassCSP: true,
  });
  if (look.key) await page.context().request.post("/v1/session", { data: { key: look.key() } });
  await visit(page, look.path());
  await look.after?.(page);
  expect(await complaints(page)).toEqual([]);
  await picture(page, `${name}-${theme}-${width}`);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wider, "the page itself is not scrolled sideways").toBeLessThanOrEqual(0);
  expect(withoutRefusals(odd)).toEqual([]);
  await leave(page);
});

test("a key as it is shown once, and the door above a page", async () => {
  for (const theme of ["light", "dark"] as const) {
    for (const width of [1280, 390]) {
      const { page } = await reader(browser, server.url, {
        viewport: { width, height: 860 },
        colorScheme: theme,
        bypassCSP: true,
      });
      await page.context().request.post("/v1/session", { data: { key: ROOT } });
      await visit(page, "/access");
      await create(page);
      await page.locator("dialog [type=submit]").click();
      await page.getByLabel("Key, role producer").waitFor();
      expect(await complaints(page)).toEqual([]);
      await picture(page, `made-${theme}-${width}`);
      await page.getByRole("button", { name: "I have kept it" }).click();
      await page.context().clearCookies();
      await server.create({ queue: "billing" });
      await page.locator(".door").waitFor();
      expect(await complaints(page)).toEqual([]);
      await picture(page, `again-${theme}-${width}`);
      await leave(page);
    }
  }
});

test("forty strings as names of keys", async () => {
  const { page, odd } = await reader(browser, server.url);
  const made: { id: string; key: string }[] = [];
  for (const text of HOSTILE) made.push(await server.makeKey(text, "admin"));
  for (const [index, text] of HOSTILE.entries()) {
    await page.context().request.post("/v1/session", { data: { key: made[index]?.key } });
    await visit(page, "/access");
    const row = page.locator("tbody tr", { hasText: made[index]?.id ?? "" });
    expect(await row.locator("th").innerText()).toBe(text);
    await row.getByRole("button").click();
    expect(await page.locator("dialog h2").innerText()).toBe(`Revoke ${text}?`);
    await page.getByText("You are signed in with a key of this name").waitFor();
    expect(await page.locator(".account .cut").innerText()).toContain(text);
    await visit(page, "/audit");
    await page.locator("tbody th", { hasText: text }).first().waitFor();
  }
  expect(odd).toEqual([]);
});
