/** One action to more jobs than a call takes: page by page, told, stopped, and not disturbed. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { inEveryLook, LOOKED_AT, leave, open, reader, visit, withoutRefusals } from "./reader.ts";
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
  for (const count of [1_000, 1_000, 500]) {
    const jobs = Array.from({ length: count }, () => ({ task: "send", queue: "mail" }));
    await server.call("POST", "/v1/jobs/batch", { jobs });
  }
});

afterEach(async () => {
  await leave(page);
  await server.end();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });
const press = () => page.locator("dialog [type=submit]").click();
const gone = () => page.locator("dialog").waitFor({ state: "detached" });
const queued = async () => (await server.call("GET", "/v1/stats")).counts.queued;

/** Asks for an action to all jobs that the address finds. */
async function ask(path: string, action: string): Promise<void> {
  await visit(page, path);
  await page.getByLabel("Select all of this page").check();
  await button("Select all that match").click();
  await page.getByText("selected: all that match").waitFor();
  await button(action).click();
}

/** Holds back the second call until it is let go. */
async function holdSecond(): Promise<{ held: Promise<void>; letGo: () => void }> {
  let calls = 0;
  let letGo = () => {};
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const held = new Promise<void>((resolve) => {
    void page.route("**/v1/jobs/bulk", async (route) => {
      calls += 1;
      if (calls === 2) {
        resolve();
        await free;
      }
      await route.continue();
    });
  });
  return { held, letGo };
}

test("all that match, whatever comes in between, and none that came later", async () => {
  await ask("/jobs?state=queued&queue=mail&order=asc", "Cancel…");
  const words = await page.locator("dialog").innerText();
  expect(words).toContain("Cancel about 2 500 jobs?");
  expect(words).toContain("All jobs that are queued, in the queue mail.");
  expect(words).toContain("If you stop, or close this page, what is done stays done");
  const later = await server.create({ queue: "mail" });
  const sent: string[] = [];
  await page.route("**/v1/jobs/bulk", async (route) => {
    sent.push((await route.request().headerValue("idempotency-key")) ?? "");
    if (sent.length === 2) await server.create({ queue: "mail" });
    // Of the second call the first answer is lost, and the second one is a refusal for the moment.
    if (sent.length === 2) await route.fetch();
    if (sent.length === 2) await route.abort();
    else if (sent.length === 3) await route.fulfill({ status: 503, body: "{}" });
    else await route.continue();
  });
  await press();
  await gone();
  await page.getByText("2 500 jobs were cancelled").waitFor();
  expect(sent.length).toBe(5);
  expect(new Set(sent.slice(1, 4)).size).toBe(1);
  expect(new Set(sent).size).toBe(3);
  expect([await queued(), (await server.call("GET", `/v1/jobs/${later.id}`)).state]).toEqual([
    2,
    "queued",
  ]);
  const { data } = await server.call("GET", "/v1/audit");
  const filter = "state=queued&queue=mail&order=asc";
  expect(data.map((it: { count: number; target: string }) => [it.count, it.target])).toEqual([
    [500, filter],
    [1_000, filter],
    [1_000, filter],
  ]);
  expect(odd.filter((it) => !it.includes("ERR_FAILED") && !it.includes("status of 503"))).toEqual(
    [],
  );
});

test("a run is stopped, says what came of it, and goes on when asked again", async () => {
  await ask("/jobs?queue=mail", "Cancel…");
  const { held, letGo } = await holdSecond();
  await press();
  await held;
  await page.getByText("1 000 done, 0 refused, about 1 500 jobs to go").waitFor();
  await inEveryLook(page, "run-under-way");
  await button("Stop").click();
  await button("Stopping…").waitFor();
  letGo();
  await page.getByText("Stopped: 2 000 done, 0 refused, about 500 jobs not tried.").waitFor();
  expect(await page.locator("dialog h2").innerText()).toBe("Cancel about 500 jobs?");
  await page.getByText("2 000 jobs were cancelled").waitFor();
  await inEveryLook(page, "run-stopped");
  expect(await queued()).toBe(500);
  await press();
  await gone();
  await page.getByText("2 500 jobs were cancelled").waitFor();
  expect(await queued()).toBe(0);
  expect(odd).toEqual([]);
});

test("a dialog that is closed goes no further; what was refused is asked for again", async () => {
  const { id } = await server.claim("mail");
  await ask("/jobs?task=send&queue=mail", "Delete…");
  expect(await page.locator("dialog h2").innerText()).toBe("Delete at least 1 000 jobs?");
  const { held, letGo } = await holdSecond();
  await press();
  await held;
  await page.keyboard.press("Escape");
  await gone();
  letGo();
  await page.getByText("2 000 jobs were deleted; not all were tried.").waitFor();
  expect(await queued()).toBe(499);

  // The rest is of one part, and known to the job.
  await ask("/jobs?task=send&queue=mail", "Delete…");
  expect(await page.locator("dialog h2").innerText()).toBe("Delete 500 jobs?");
  await press();
  await page.getByText("499 done, 1 refused:").waitFor();
  expect(await page.locator(".refused li").innerText()).toContain(id.slice(-10));
  expect(await page.locator("dialog h2").innerText()).toBe("Delete 1 job?");
  expect(odd).toEqual([]);
});

test("a page that is refused says what was done before it, and is asked for again", async () => {
  await ask("/jobs?queue=mail", "Cancel…");
  let calls = 0;
  await page.route("**/v1/jobs/bulk", (route) => {
    calls += 1;
    return calls === 2
      ? route.fulfill({ status: 403, body: '{"detail":"this key may not"}' })
      : route.continue();
  });
  await press();
  await page.getByText("1 000 done, 0 refused: this key may not").waitFor();
  await press();
  await gone();
  await page.getByText("2 500 jobs were cancelled").waitFor();
  expect(withoutRefusals(odd)).toEqual([]);
});
