/** What the page of a job says of what happened, and of what an action would do. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { open, reader, saved, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
let page: Page;
let odd: string[];

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

beforeEach(async () => {
  ({ page, odd } = await reader(browser, server.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  }));
  return () => page.context().close();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const says = (text: string) => page.getByText(text).first().waitFor();
const dialog = () => page.locator("dialog").innerText();
const confirm = async () => {
  await page.locator("dialog [type=submit]").click();
  await page.locator("dialog").waitFor({ state: "detached" });
};
const job = (id: string) => server.call("GET", `/v1/jobs/${id}`);
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it has written.
const checkpoint = (claimed: any, name: string, value: unknown) =>
  server.call("POST", `/v1/jobs/${claimed.id}/checkpoints`, {
    ...{ token: claimed.lease.token, name, value },
  });

test("a start that nobody reported, and the one after it", async () => {
  const made = {
    ...{ queue: "lost", idempotency_key: "close:1", timeout_ms: 5_000, max_attempts: 3 },
    backoff: { initial_ms: 3_600_000, factor: 1, max_ms: 3_600_000, jitter: 0 },
  };
  const { id } = await server.create(made);
  expect((await server.create(made)).id).toBe(id);
  await checkpoint(await server.claim("lost"), "invoices", 1);
  await visit(page, `/jobs/${id}`);
  await page.locator(".head .state-retrying").waitFor();
  await says("1 create was answered with this job instead of a new one");
  await says("1 h after the last, the backoff of a job with this many attempts.");
  await says("Start 1 ended without a report. What it did after the last checkpoint");
  await says("what it did may have happened, or not. Unknown is not failed.");

  await button("Cancel…").click();
  await confirm();
  await page.locator(".head .state-cancelled").waitFor();
  await button("Retry…").click();
  const told = await dialog();
  expect(told).toContain("Its last start ended without a report.");
  expect(told).toContain("its own key stays too.");
  await confirm();
  await page.locator(".head .state-queued").waitFor();
  await server.claim("lost");
  await says("Start 2 resumed after invoices.");
  expect(odd).toEqual([]);
});

test("what waits for its time is run now", async () => {
  const { id } = await server.create({ queue: "late", delay_ms: 3_600_000 });
  await visit(page, `/jobs/${id}`);
  await button("Run now").click();
  expect(await dialog()).toContain("It becomes claimable at once");
  await confirm();
  await page.locator(".head .state-queued").waitFor();
  expect((await job(id)).state).toBe("queued");
  expect(odd).toEqual([]);
});

test("a recorded refusal stays with the id, and a new job does what was done again", async () => {
  const id = await server.fail("books");
  await visit(page, `/jobs/${id}`);
  await button("Retry…").click();
  expect(await dialog()).toContain("a declined card for instance, it gives the same answer again");
  await button("Back").click();
  await button("Run as new…").click();
  const told = await dialog();
  expect(told).toContain("Done again: invoices, ledger");
  expect(told).toContain("has recorded a refusal under the old id, such as a declined card");
  expect(odd).toEqual([]);
});

test("a key that is freed is held by nobody, and a retry takes it again", async () => {
  const id = await server.fail("freed", { idempotency_key: "k1" });
  await visit(page, `/jobs/${id}`);
  await says("Held until");
  await button("Forget key…").click();
  expect(await dialog()).toContain("makes a new job");
  await confirm();
  await says("This job holds no key: it had none, or it was freed or went to another job.");
  expect(await page.getByText("Created without a key").count()).toBe(0);
  await button("Retry…").click();
  expect(await dialog()).toContain(
    "a key that it had and lost is held again, unless another job holds it",
  );
  await confirm();
  await page.locator(".head .state-queued").waitFor();
  await page.locator(".facts .id", { hasText: "k1" }).waitFor();
  expect((await job(id)).idempotency_key).toBe("k1");
  expect(odd).toEqual([]);
});

test("a key whose time is over is told as that", async () => {
  const id = await server.fail("over", { idempotency_key: "k2", idempotency_ttl_ms: 60_000 });
  await page.clock.setFixedTime(Date.now() + 86_400_000);
  await visit(page, `/jobs/${id}`);
  await says("Was held until");
  await says("; a create with it makes a new job");
  await button("Retry…").click();
  const told = await dialog();
  expect(told).toContain("its own key, whose time is over, is held again, unless another job");
  expect(told).not.toContain("its own key stays too");
  await button("Back").click();
  await button("Delete…").click();
  expect(await dialog()).toContain("Its key is held no more");
  expect(odd).toEqual([]);
});

test("the value of a checkpoint is read whole, exact, and copied", async () => {
  const { id } = await server.create({ queue: "values" });
  const { lease } = await server.claim("values");
  const long = "x".repeat(200_000);
  const value = `{"exact": 12345678901234567890.10, "long": "${long}", "end": "here"}`;
  const body = `{"token": ${JSON.stringify(lease.token)}, "name": "big", "value": ${value}}`;
  await server.call("POST", `/v1/jobs/${id}/checkpoints`, body);
  await visit(page, `/jobs/${id}`);
  await page.locator("table summary").click();
  await page.getByText('"end": "here"').waitFor();
  await button("Copy the value of big").click();
  await says("Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("12345678901234567890.10");
  expect(copied.replace(/^ +|\n/gm, "").replaceAll(",", ", ")).toBe(value);
  const file = await saved(page, "Download the value of big");
  expect(file).toEqual([`${id}-checkpoint-1.json`, value]);
  expect(odd).toEqual([]);
});

test("the id is copied", async () => {
  const { id } = await server.create({ queue: "copied" });
  await visit(page, `/jobs/${id}`);
  await button("Copy the id").click();
  await says("Copied");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);
});

test("signs that deceive are shown by their number in dialogs too", async () => {
  const bad = "a\u202eb";
  const { id } = await server.create({ queue: "signs", max_attempts: 1, idempotency_key: bad });
  const claimed = await server.claim("signs");
  await checkpoint(claimed, bad, 1);
  const error = { type: bad, message: bad };
  await server.finish(claimed, { outcome: "failed", error });
  await visit(page, `/jobs/${id}`);
  await button("Retry…").click();
  await page.locator("dialog select").waitFor();
  const texts = [await page.locator("dialog").textContent()];
  await button("Back").click();
  await button("Run as new…").click();
  texts.push(await page.locator("dialog").textContent());
  await visit(page, `/jobs?${new URLSearchParams({ task: "charge", idempotency_key: bad })}`);
  await page.locator("tbody input").check();
  await button("Retry…").click();
  texts.push(await page.locator("dialog").textContent());
  for (const text of texts) {
    expect(text).toContain("a\\u202eb");
    expect(text).not.toContain(bad);
  }
  expect(texts[0]?.split("a\\u202eb").length, "report twice, skipped, begin before").toBe(5);
});
