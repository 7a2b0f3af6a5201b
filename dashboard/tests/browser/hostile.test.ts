/** Whatever a job holds is shown as text: nothing in it is run, loaded, or asked for. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { visible } from "../../src/parts/visible.ts";
import { HOSTILE } from "./hostile.ts";
import { open, reader, turnTo, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
const jobs: string[] = [];
/** Those that completed, each with a hostile result. */
const completed: string[] = [];

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  for (const [n, text] of HOSTILE.entries()) {
    const { id } = await server.create({
      queue: "hostile",
      payload: { [text]: [text] },
      idempotency_key: text,
      max_attempts: 1,
    });
    jobs.push(id);
    const job = await server.claim("hostile", { id: `wrk_${n}`, name: text, sdk: text });
    const checkpoint = { token: job.lease.token, name: text, value: text };
    await server.call("POST", `/v1/jobs/${id}/checkpoints`, checkpoint);
    const error = { type: text, message: text, stack: text };
    await server.finish(job, { outcome: "failed", error });
    const done = await server.create({ queue: "completed", task: "sum" });
    const result = { [text]: text };
    await server.finish(await server.claim("completed"), { outcome: "completed", result });
    completed.push(done.id);
  }
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

/** The dialog of a retry tells this text, and is closed again. */
async function dialog(page: Page, text: string): Promise<void> {
  await page.getByRole("button", { name: "Retry…", exact: true }).click();
  expect(await page.locator("dialog").innerText()).toContain(text);
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
}

test("forty strings in every field on every page", { timeout: 600_000 }, async () => {
  const { page, odd } = await reader(browser, server.url);
  for (const path of ["/", "/jobs", "/jobs?state=failed", "/queues", "/workers", "/tasks"]) {
    await visit(page, path);
  }
  await turnTo(page, "/workers");
  await page.locator("tbody tr").nth(HOSTILE.length).waitFor();
  const names = await page.locator("tbody th").allInnerTexts();
  for (const [n, text] of HOSTILE.entries()) {
    expect(names).toContain(`${visible(text)}\nwrk_${n}`);
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
    await dialog(page, visible(text));
    // Only the first of these is loaded anew for each: the others are turned to within the page.
    const id = jobs[index] ?? "";
    await turnTo(page, `/keys?${new URLSearchParams({ task: "charge", key: text })}`);
    await page.getByRole("link", { name: id }).waitFor();
    await turnTo(page, `/jobs?${new URLSearchParams({ task: "charge", idempotency_key: text })}`);
    await page.locator(`tbody a[href="/jobs/${id}"]`).waitFor();
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.getByLabel("Select all of this page").check();
    await dialog(page, visible(text));
    await turnTo(page, `/jobs/${completed[index]}`);
    const json = visible(JSON.stringify(text));
    await page.getByRole("region", { name: "result" }).getByText(`${json}: ${json}`).waitFor();
    await visit(page, `/jobs/${encodeURIComponent(text)}`).catch(() => {});
  }
  // A job that is not there is a 404, which the browser tells in its console.
  expect(odd.filter((it) => !it.includes("404"))).toEqual([]);
});
