/** Many jobs at once: which are selected, what came of them, and how many there are. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { inEveryLook, LOOKED_AT, leave, open, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
let page: Page;
let odd: string[];

beforeAll(async () => {
  browser = await open();
});

afterAll(() => browser?.close());

beforeEach(async () => {
  server = await new Server().start();
  ({ page, odd } = await reader(browser, server.url, LOOKED_AT));
});

afterEach(async () => {
  await leave(page);
  await server.end();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const stateOf = async (id: string) => (await server.call("GET", `/v1/jobs/${id}`)).state;
const told = () => page.locator("dialog").innerText();
/** Presses the button of the open dialog that does it, and waits until it is done. */
const confirm = async () => {
  await page.locator("dialog [type=submit]").click();
  await page.locator("dialog").waitFor({ state: "detached" });
};
const selectAll = () => page.getByLabel("Select all of this page").check();

test("bulk run now and bulk cancel", async () => {
  const late = { queue: "mail", delay_ms: 3_600_000 };
  const ids = [(await server.create(late)).id, (await server.create(late)).id];
  await visit(page, "/jobs");
  await selectAll();
  await button("Run now…").click();
  expect(await told()).toContain("What waits for its time becomes claimable at once.");
  await confirm();
  await page.getByText("2 jobs were set to run now.").waitFor();
  expect(await Promise.all(ids.map(stateOf))).toEqual(["queued", "queued"]);
  await selectAll();
  await button("Cancel…").click();
  expect(await told()).toContain("What waits ends at once");
  await confirm();
  await page.getByText("2 jobs were cancelled").waitFor();
  expect(await Promise.all(ids.map(stateOf))).toEqual(["cancelled", "cancelled"]);
  expect(odd).toEqual([]);
});

test("a page over plain HTTP has no random UUIDs, and acts all the same", async () => {
  // Browsers give it to pages with TLS, or of this machine, only.
  await page.addInitScript(() => Reflect.deleteProperty(Crypto.prototype, "randomUUID"));
  const id = await server.fail("books");
  await visit(page, "/jobs");
  expect(await page.evaluate(() => "randomUUID" in crypto)).toBe(false);
  await selectAll();
  await button("Retry…").click();
  await confirm();
  await page.getByText("1 job was retried.").waitFor();
  await visit(page, `/jobs/${id}`);
  await button("Run as new…").click();
  await confirm();
  await page.getByText("Runs anew").waitFor();
  expect(odd).toEqual([]);
});

test("of a partly refused action only the rest is asked for again", async () => {
  for (let n = 0; n < 25; n += 1) await server.create({ queue: "busy" });
  const claim = { worker: { id: "wrk_test" }, queues: ["busy"], max: 25 };
  const { jobs } = await server.call("POST", "/v1/jobs/claim", claim);
  for (let n = 0; n < 2; n += 1) await server.create({ queue: "idle" });
  await visit(page, "/jobs");
  await selectAll();
  await button("Delete…").click();
  expect(await page.locator("dialog h2").innerText()).toBe("Delete 27 jobs?");
  await page.locator("dialog [type=submit]").click();
  await page.getByText("2 done, 25 refused:").waitFor();
  expect(await page.locator("dialog h2").innerText()).toBe("Delete 25 jobs?");
  expect(await page.locator("dialog [type=submit]").innerText()).toBe("Delete 25 jobs");
  // The sentence, then which they are, then how many more.
  const words = (await told()).replaceAll("\n", " ");
  expect(words).toMatch(/25 refused:.*…[0-9a-z]{10} .*and 5 more.*Back/);
  expect(await page.locator(".refused li").count()).toBe(21);
  await inEveryLook(page, "bulk-refused");

  const outcomes = jobs.map((it: { id: string; lease: { token: string } }) => ({
    ...{ id: it.id, token: it.lease.token, outcome: "completed" },
  }));
  await server.call("POST", "/v1/jobs/finish", { outcomes });
  const asked = page.waitForRequest("**/v1/jobs/bulk");
  await confirm();
  expect((await asked).postDataJSON().ids.length).toBe(25);
  await page.getByText("25 jobs were deleted.").waitFor();
  await page.getByText("There is no job any more.").waitFor();
  expect(odd).toEqual([]);
});

test("shift selects what lies between", async () => {
  for (let n = 0; n < 6; n += 1) await server.create({ queue: "billing" });
  await visit(page, "/jobs");
  const boxes = page.locator("tbody input");
  await boxes.nth(1).click();
  await boxes.nth(4).click({ modifiers: ["Shift"] });
  await page.getByText("4 selected").waitFor();
  const checked = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => boxes.nth(n).isChecked()));
  expect(checked).toEqual([false, true, true, true, true, false]);
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  await page.getByText("1 selected").waitFor();
  expect(odd).toEqual([]);
});

test("tabs count what the filters find, or nothing", async () => {
  await server.create({ queue: "mail", task: "send" });
  await server.create({ queue: "mail", task: "charge" });
  await server.create({ queue: "billing", task: "charge" });
  await server.create({ queue: "billing", task: "charge", tags: ["vip"] });
  const counts = page.locator("nav.tabs .count");
  const queued = page.locator("nav.tabs a", { hasText: "queued" });
  for (const [query, count] of [
    ["", "4"],
    ["?queue=mail", "2"],
    ["?task=charge&state=queued", "3"],
  ] as const) {
    await visit(page, `/jobs${query}`);
    await counts.first().waitFor();
    expect(await queued.innerText(), query).toMatch(new RegExp(`^queued\\s*${count}$`));
  }
  for (const query of ["?queue=billing&task=charge", "?tag=vip", "?queue=nobody-uses-this"]) {
    await visit(page, `/jobs${query}`);
    await queued.waitFor();
    expect(await counts.count(), query).toBe(0);
  }
  expect(odd).toEqual([]);
});

test("an empty server says so, and where to begin", async () => {
  await visit(page, "/jobs");
  await page.getByText("There is no job yet.").waitFor();
  expect(await page.getByText("No job matches these filters.").count()).toBe(0);
  await inEveryLook(page, "jobs-empty");
  await visit(page, "/jobs?state=failed");
  await page.getByText("No job matches these filters.").waitFor();
  await visit(page, "/jobs");
  await page.getByRole("link", { name: "The first steps" }).click();
  await page.locator(".first-run").waitFor();
  expect(odd).toEqual([]);
});
