/** Whatever a job holds is shown as text: nothing in it is run, loaded, or asked for. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visible } from "../../src/parts/visible.ts";
import { HOSTILE } from "./hostile.ts";
import { open, reader, turnTo, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
const jobs: string[] = [];

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  for (const text of HOSTILE) {
    const { id } = await server.create({
      queue: "hostile",
      payload: { [text]: [text] },
      idempotency_key: text,
      max_attempts: 1,
    });
    jobs.push(id);
    const job = await server.claim("hostile", { id: "wrk_test", name: text, sdk: text });
    const checkpoint = { token: job.lease.token, name: text, value: text };
    await server.call("POST", `/v1/jobs/${id}/checkpoints`, checkpoint);
    const error = { type: text, message: text, stack: text };
    await server.finish(job, { outcome: "failed", error });
  }
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

test("forty strings in every field on every page", { timeout: 300_000 }, async () => {
  const { page, odd } = await reader(browser, server.url);
  for (const path of ["/", "/jobs", "/jobs?state=failed", "/queues", "/workers", "/tasks"]) {
    await visit(page, path);
  }
  for (const [index, text] of HOSTILE.entries()) {
    await visit(page, `/jobs/${jobs[index]}`);
    await page.locator(".start summary").click();
    // A value that is long is folded, and runs nothing when it is unfolded either.
    const value = JSON.stringify(text);
    if (value.length > 60) await page.locator("table summary").click();
    expect(await page.locator("table td.wide").innerText()).toContain(visible(value));
    expect(await page.locator("section.problem").innerText()).toContain(visible(text));
    expect(await page.locator(".start pre").innerText()).toBe(visible(text));
    // Only the first of these is loaded anew for each: the others are turned to within the page.
    const id = jobs[index] ?? "";
    await turnTo(page, `/keys?${new URLSearchParams({ task: "charge", key: text })}`);
    await page.getByRole("link", { name: id }).waitFor();
    await turnTo(page, `/jobs?${new URLSearchParams({ task: "charge", idempotency_key: text })}`);
    await page.locator(`tbody a[href="/jobs/${id}"]`).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    await visit(page, `/jobs/${encodeURIComponent(text)}`).catch(() => {});
  }
  // A job that is not there is a 404, which the browser tells in its console.
  expect(odd.filter((it) => !it.includes("404"))).toEqual([]);
});
