/** Signing in, being signed out meanwhile, what a role may do, and keys made and revoked. */
import { spawnSync } from "node:child_process";
import { env } from "node:process";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { leave, open, reader, signIn, visit, withoutRefusals } from "./reader.ts";
import { Server } from "./server.ts";

const ROOT = `hyd_${"test".repeat(10)}`;

let browser: Browser;
let server: Server;
let page: Page;
let odd: string[];

beforeAll(async () => {
  browser = await open();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  server = await new Server(ROOT).start();
});

afterEach(async () => {
  await leave(page);
  await server.end();
});

const come = async (path: string, options: BrowserContextOptions = {}) => {
  ({ page, odd } = await reader(browser, server.url, options));
  await page.goto(path);
};
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
const field = () => page.getByLabel("Key", { exact: true });
const confirm = async () => {
  await page.locator("dialog [type=submit]").click();
  await page.locator("dialog").waitFor({ state: "detached" });
};

test("by the keyboard alone, after a wrong key, and out again", async () => {
  await server.create({ queue: "billing" });
  const { key } = await server.makeKey("night shift", "producer");
  await come("/jobs?queue=billing");
  await field().waitFor();
  expect(await field().evaluate((it) => it === document.activeElement)).toBe(true);
  await page.keyboard.type("hyd_wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("alert").innerText()).toMatch(/revoked|not known/);
  expect(await field().evaluate((it) => it === document.activeElement)).toBe(true);
  expect(await field().getAttribute("aria-invalid")).toBe("true");
  // What was wrong is selected: typing takes its place.
  await page.keyboard.type(` ${key} `);
  await page.keyboard.press("Enter");
  await page.locator("tbody tr").waitFor();
  expect(page.url()).toBe(`${server.url}/jobs?queue=billing`);
  await page.locator("main:focus").waitFor();
  expect(await page.locator("header.frame").innerText()).toMatch(/night shift\s+producer/);
  await page.getByText("Live").waitFor();

  await button("Sign out").focus();
  await page.keyboard.press("Enter");
  await field().waitFor();
  expect(await page.locator("tbody, header.frame").count()).toBe(0);
  await page.reload();
  await field().waitFor();
  expect(withoutRefusals(odd)).toEqual([]);
});

test("the key is kept by nothing that a script can read", async () => {
  await come("/");
  await signIn(page, ROOT);
  await page.getByText("There is no job yet").waitFor();
  const kept = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
  );
  expect(kept).not.toContain(ROOT);
  expect(await page.content()).not.toContain(ROOT);
  const [cookie] = await page.context().cookies();
  expect([cookie?.httpOnly, cookie?.sameSite]).toEqual([true, "Strict"]);
  expect(cookie?.value).not.toContain(ROOT);
});

test("a session that ends meanwhile leaves the page as it was", async () => {
  const id = await server.fail("books");
  const { id: old, key } = await server.makeKey("old", "producer");
  await come(`/jobs/${id}`);
  await signIn(page, key);
  await button("Retry…").click();
  await page.locator("dialog select").selectOption("ledger");
  await server.call("DELETE", `/v1/api-keys/${old}`);
  await page.locator("dialog [type=submit]").click();
  await field().waitFor();
  expect(await page.locator(".door").innerText()).toContain("The page is kept as you left it");
  for (let press = 0; press < 2; press += 1) await page.keyboard.press("Escape");
  expect(await field().isVisible()).toBe(true);
  await signIn(page, (await server.makeKey("new", "producer")).key);
  expect(await page.locator("dialog").innerText()).toContain("this was not done");
  expect(await page.locator("dialog select").inputValue()).toBe("ledger");
  await confirm();
  await page.locator(".state-queued").waitFor();
  expect((await server.call("GET", `/v1/jobs/${id}`)).checkpoints.length).toBe(1);
  expect(withoutRefusals(odd)).toEqual([]);
});

test("changes are heard again after signing in again", async () => {
  const { id, key } = await server.makeKey("old", "producer");
  await server.create({ queue: "billing" });
  await come("/");
  await signIn(page, key);
  await page.locator(".counters", { hasText: "1 queued" }).waitFor();
  await page.getByText("Live").waitFor();
  await server.call("DELETE", `/v1/api-keys/${id}`);
  await server.create({ queue: "billing" });
  await field().waitFor();
  await signIn(page, ROOT);
  await page.locator(".counters", { hasText: "2 queued" }).waitFor();
  await server.create({ queue: "billing" });
  await page.locator(".counters", { hasText: "3 queued" }).waitFor();
  await page.getByText("Live").waitFor();
});

test("who signs in in one tab is let in in the others", async () => {
  await come("/jobs");
  await field().waitFor();
  const other = await page.context().newPage();
  await other.goto("/jobs");
  await signIn(other, ROOT);
  await page.bringToFront();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.locator("header.frame").waitFor();
  await button("Sign out").click();
  await field().waitFor();
  await other.bringToFront();
  await other.locator(".door").waitFor();
});

test("two servers of one host do not sign each other out", async () => {
  const other = await new Server(ROOT).start();
  try {
    await come("/jobs");
    await signIn(page, ROOT);
    await page.goto(`${other.url}/jobs`);
    await signIn(page, ROOT);
    await visit(page, `${server.url}/jobs`);
    await visit(page, `${other.url}/jobs`);
    await button("Sign out").click();
    await field().waitFor();
    await visit(page, `${server.url}/jobs`);
  } finally {
    await other.end();
  }
});

test("a refusal from before signing in does not shut the door again", async () => {
  await come("/jobs");
  await field().waitFor();
  const signedIn = new Promise<void>((resolve) => {
    let isFirst = true;
    void page.route("**/v1/session", async (route) => {
      const answer = await route.fetch();
      const isHeld = isFirst && route.request().method() === "GET";
      isFirst = false;
      if (isHeld) await signedIn;
      await route.fulfill({ response: answer });
      if (route.request().method() === "POST") resolve();
    });
  });
  await Promise.all([
    page.waitForRequest("**/v1/session"),
    page.evaluate(() => document.dispatchEvent(new Event("visibilitychange"))),
  ]);
  await signIn(page, ROOT);
  await page.locator("header.frame").waitFor();
});

test("the first steps run as they stand, with a key in the environment", async () => {
  await come("/");
  await signIn(page, ROOT);
  const create = await page.locator(".steps pre").first().innerText();
  const { key } = await server.makeKey("me", "worker");
  const bash = spawnSync("bash", ["-c", create], {
    env: { ...env, HALYARD_API_KEY: key },
    encoding: "utf8",
  });
  expect(JSON.parse(bash.stdout).state).toBe("queued");
  await page.locator(".counters", { hasText: "1 queued" }).waitFor();
  expect(withoutRefusals(odd)).toEqual([]);
});

test("too many wrong keys are told", async () => {
  await come("/");
  for (let n = 0; n < 40; n += 1) {
    await field().fill(`hyd_wrong${n}`);
    await button("Sign in").click();
    await page.locator(".door button:not([aria-disabled])").waitFor();
    if ((await page.getByRole("alert").innerText()).includes("oo many")) return;
  }
  throw new Error("forty wrong keys, and no end of it");
});

test.each(["producer", "worker"])("what a %s may do", async (role) => {
  const id = await server.fail("books", { idempotency_key: "k" });
  await come(`/jobs/${id}`);
  await signIn(page, (await server.makeKey("someone", role)).key);
  const why = async (name: string | RegExp) => {
    const described = await button(name).first().getAttribute("aria-describedby");
    return described && page.locator(`[id="${described}"]`).textContent();
  };
  await button("Retry…").waitFor();
  const needs = (what: string) => `${what} needs a key with the role admin; yours has ${role}.`;
  expect(await why("Retry…")).toBeNull();
  expect(await why("Run as new…")).toBeNull();
  expect(await why("Delete…")).toBe(needs("Deleting a job"));
  expect(await why("Forget key…")).toBe(needs("Forgetting a key"));
  await visit(page, "/queues");
  expect(await why("Pause books")).toBe(needs("Pausing and resuming a queue"));
  await visit(page, "/jobs");
  await page.locator("tbody input").check();
  expect(await why("Retry…")).toBe(needs("Acting on many jobs at once"));
  await page.locator("h1").click();
  await page.keyboard.press("r");
  expect(await page.locator("dialog").count()).toBe(0);
  const menu = await page.getByRole("navigation", { name: "Pages", exact: true }).innerText();
  expect(menu).not.toMatch(/Access|Audit/);
  for (const path of ["/access", "/audit"]) {
    await visit(page, path);
    await page.getByText("This page is for keys with the role admin").waitFor();
  }
  await visit(page, `/jobs/${id}`);
  await button("Retry…").click();
  await confirm();
  await page.locator(".state-queued").waitFor();
  expect(withoutRefusals(odd)).toEqual([]);
});

test("a read-only server says so, and so does each button", async () => {
  const id = await server.fail("books", { idempotency_key: "k" });
  await server.makeKey("someone", "producer");
  await server.kill();
  await server.start("--read-only");
  await come(`/jobs/${id}`);
  await signIn(page, ROOT);
  await page.locator(".banner", { hasText: "read-only" }).waitFor();
  const refused = async () => {
    const names = await page.locator("main button[aria-disabled]").allInnerTexts();
    return names.map((name) => name.trim());
  };
  await button("Retry…").waitFor();
  expect(await refused()).toEqual([
    "Retry…",
    "Run now",
    "Cancel…",
    "Run as new…",
    "Delete…",
    "Forget key…",
  ]);
  await visit(page, "/queues");
  expect((await refused()).length).toBe(1);
  await visit(page, "/access");
  await page.locator("tbody tr").waitFor();
  expect((await refused()).length).toBe(2);
  await button("Sign out").click();
  await field().waitFor();
});

test("a key is made, shown once, used, and revoked", async () => {
  await come("/access");
  await signIn(page, ROOT);
  await button("Create a key…").click();
  await page.getByLabel("Name").fill("billing-worker");
  await page.getByRole("radio", { name: /^worker/ }).check();
  await page.locator("dialog [type=submit]").click();
  const shown = page.getByLabel("Key, role worker");
  const key = await shown.inputValue();
  expect(key).toMatch(/^hyd_/);
  // It is not lost to a key that closes dialogs.
  for (let press = 0; press < 2; press += 1) await page.keyboard.press("Escape");
  expect(await shown.isVisible()).toBe(true);
  await button("I have kept it").click();
  await page.locator("tbody tr", { hasText: "billing-worker" }).waitFor();
  expect(await page.content()).not.toContain(key);

  const claim = () =>
    fetch(`${server.url}/v1/jobs/claim`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ worker: { id: "wrk_key" }, queues: ["q"] }),
    });
  expect((await claim()).status).toBe(200);
  await button("Revoke… billing-worker").click();
  expect(await page.locator("dialog").innerText()).toContain("cannot report what they run now");
  await confirm();
  await page.getByText("There is no key yet").waitFor();
  expect((await claim()).status).toBe(401);

  await visit(page, "/audit");
  const rows = page.locator("tbody tr");
  await rows.nth(2).waitFor();
  const told = await rows.allInnerTexts();
  expect(told[0]).toMatch(/HALYARD_API_KEY\s+revoked the key/);
  expect(told[1]).toMatch(/HALYARD_API_KEY\s+made the key/);
  expect(told[2]).toMatch(/HALYARD_API_KEY\s+signed in/);
  expect(withoutRefusals(odd)).toEqual([]);
});

test("the audit log has who did what to which jobs, a page at a time", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    const { id } = await server.create({ queue: "billing" });
    await server.call("POST", `/v1/jobs/${id}/cancel`);
    ids.push(id);
  }
  const filter = `queue=billing&tag=\u202evip${"x".repeat(200)}`;
  await server.call("POST", "/v1/jobs/bulk", { action: "retry", ids: ids.slice(0, 3), filter });
  await server.call("POST", "/v1/queues/billing/pause");
  const again = await server.call("POST", `/v1/jobs/${ids[9]}/run-as-new`, {});
  await come("/audit");
  await signIn(page, ROOT);
  const rows = page.locator("tbody tr");
  await rows.nth(49).waitFor();
  expect(await rows.nth(1).innerText()).toMatch(
    new RegExp(`ran as new\\s+${ids[9]} as\\s+${again.id}`),
  );
  expect(await rows.nth(1).locator("a").count()).toBe(2);
  expect(await rows.nth(2).innerText()).toMatch(/paused the queue\s+billing/);
  expect(await rows.nth(3).innerText()).toMatch(
    /retried\s+3 jobs\s+of all that match\s+queue=billing&tag=\\u202evipx+…\s+3/,
  );
  await rows.nth(3).getByText("…").click();
  await rows
    .nth(3)
    .getByText(`vip${"x".repeat(200)}`)
    .waitFor();
  await rows.nth(3).locator("summary").first().click();
  expect(await rows.nth(3).locator("a").count()).toBe(3);
  await page.getByRole("link", { name: "Further back" }).click();
  await page.waitForURL("**/audit?cursor=*");
  await rows.getByRole("link", { name: ids[0] ?? "" }).click();
  await page.waitForURL(`**/jobs/${ids[0]}`);
  await page.locator(".state-queued").waitFor();
  expect(withoutRefusals(odd)).toEqual([]);
});
