/** A server with 100,000 jobs: pages show them, one after the other, and filters find them. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fill } from "./filling.ts";
import { leave, open, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  await fill(server, 100_000);
}, 600_000);

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

test("the counts are those of the server, and each tab shows its own", async () => {
  const { page, odd } = await reader(browser, server.url);
  const { counts } = await server.call("GET", "/v1/stats");
  const of = (state: string) => counts[state] as number;
  expect(Object.values(counts).reduce((sum: number, n) => sum + Number(n), 0)).toBe(100_000);
  for (const state of ["failed", "retrying", "scheduled", "running", "cancelled", "completed"]) {
    expect(of(state), state).toBeGreaterThan(0);
    await visit(page, `/jobs?state=${state}`);
    const shown = page.locator("tbody tr");
    expect(await shown.count(), state).toBe(Math.min(50, of(state)));
    expect(await page.locator(`tbody .state-${state}`).count()).toBe(await shown.count());
    const tab = await page.locator("nav.tabs a[aria-current]").innerText();
    expect(tab.replace(/\D/g, "")).toBe(String(of(state)));
  }
  expect(odd).toEqual([]);
  await leave(page);
});

test("pages follow one another without a gap", async () => {
  const { page, odd } = await reader(browser, server.url);
  const ids = () =>
    page
      .locator("tbody a[href^='/jobs/job_']")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.slice(6) ?? ""));
  const seen = new Set<string>();
  await visit(page, "/jobs?task=charge&state=failed");
  const { data } = await server.call("GET", "/v1/jobs?task=charge&state=failed&limit=200");
  for (let n = 0; n < 4; n += 1) {
    for (const id of await ids()) seen.add(id);
    await page.getByRole("link", { name: "Further jobs" }).click();
    await page.waitForURL(/cursor=/);
    await page.locator("[aria-busy]").waitFor({ state: "detached" });
  }
  expect(seen.size).toBe(200);
  const shown = [...seen].every((id) => data.some((job: { id: string }) => job.id === id));
  expect(shown, "they are the newest 200, and no others").toBe(true);
  expect(odd).toEqual([]);
  await leave(page);
});

test("a search that stops at its bound says so", async () => {
  const { page, odd } = await reader(browser, server.url);
  await visit(page, "/jobs?queue=nobody-uses-this");
  await page.getByText("The search stopped after 10,000 jobs.").waitFor();
  expect(odd).toEqual([]);
  await leave(page);
});
