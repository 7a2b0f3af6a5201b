/** What pages tell where there is little to tell, where the server is only heard of by asking. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { leave, open, reader, turnTo, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let page: Page;
let odd: string[];
/** Nothing is done on this one, so its audit log is empty too. */
let empty: Server;
let server: Server;

beforeAll(async () => {
  [browser, empty] = [await open(), await new Server().start()];
  // As little as a server takes.
  server = await new Server().start("--retention-completed-ms", "1000");
});

afterAll(async () => {
  await browser?.close();
  await empty?.end();
  await server?.end();
});

const look = async (at: Server) => {
  ({ page, odd } = await reader(browser, at.url));
};

beforeEach(() => look(server));
afterEach(() => leave(page));

test.each([
  ["/jobs", "There is no job yet"],
  ["/queues", "A queue is here as soon as a job is created in it."],
  ["/workers", "No worker calls this server."],
  ["/tasks", "A task is here as soon as a job of it is created."],
  ["/keys?task=charge&key=none", "Nobody holds this key: a create with it makes a new job."],
  ["/access", "There is no key yet."],
  ["/audit", "Nothing was done yet."],
])("%s on an empty server", async (path, told) => {
  await leave(page);
  await look(empty);
  await visit(page, path);
  await page.locator(".empty", { hasText: told }).waitFor();
  // A key that nobody holds is a 404, which the browser tells in its console.
  expect(odd.filter((it) => !(path.startsWith("/keys") && it.includes("404")))).toEqual([]);
});

test("without a stream of changes the page asks, and says so", async () => {
  // A stream that is refused is not tried again by the browser: the page does all by itself.
  await page.route("**/v1/events", (route) => route.fulfill({ status: 503 }));
  await visit(page, "/jobs?queue=asked");
  await page.getByText("Asking every 5 s").waitFor();
  const { id } = await server.create({ queue: "asked" });
  await page.locator(`tbody a[href="/jobs/${id}"]`).waitFor();
  // The first may have been seen with the refusal; the next is there only for who asks again.
  await server.create({ queue: "asked" });
  await page.getByRole("button", { name: "1 new", exact: true }).click();
  await page.locator("tbody tr").nth(1).waitFor();
  await page.getByText("Asking every 5 s").waitFor();
  expect(odd.filter((it) => !it.includes("503"))).toEqual([]);
});

test("a hidden tab neither listens nor asks, and catches up when it is seen again", async () => {
  const turn = (hidden: boolean) =>
    page.evaluate((it) => {
      Object.defineProperty(document, "hidden", { value: it, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const live = page.getByText("Live", { exact: true });
  await page.clock.install();
  await visit(page, "/jobs?queue=hidden");
  await live.waitFor();
  await turn(true);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  const { id } = await server.create({ queue: "hidden" });
  // As long as six times what a page without a stream waits before it asks.
  await page.clock.runFor(30_000);
  expect(asked).toEqual([]);
  await turn(false);
  await page.locator(`tbody a[href="/jobs/${id}"]`).waitFor();
  expect(asked.some((url) => url.endsWith("/v1/events"))).toBe(true);
  expect(odd).toEqual([]);
});

test("a chosen theme is shown at once, and kept", async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMedia({ colorScheme: "light" });
  await visit(page, "/");
  const light = await ground();
  await page.getByLabel("Theme").selectOption("dark");
  await expect.poll(ground).not.toBe(light);
  const dark = await ground();
  await page.reload();
  await page.locator("main h1").waitFor();
  expect(await ground()).toBe(dark);
  expect(await page.getByLabel("Theme").inputValue()).toBe("dark");
  await page.getByLabel("Theme").selectOption("system");
  await expect.poll(ground).toBe(light);
  expect(odd).toEqual([]);
});

test("a key outlives its job, and Keys says so", async () => {
  const { id } = await server.create({ queue: "gone", idempotency_key: "gone" });
  await server.finish(await server.claim("gone"), { outcome: "completed", result: null });
  const status = async () => (await fetch(`${server.url}/v1/jobs/${id}`)).status;
  await expect.poll(status, { timeout: 60_000, interval: 200 }).toBe(404);
  await visit(page, "/keys?task=charge&key=gone");
  const holder = page.getByLabel("Who holds the key");
  await holder.getByText("no longer kept").waitFor();
  expect(await holder.innerText()).toContain(id);
  expect(await holder.getByRole("link").count()).toBe(0);
  await holder.locator(".state-completed").waitFor();
  expect(odd).toEqual([]);
});

test("a task names its workers, a queue counts them, none where jobs wait", async () => {
  await server.create({ queue: "served", task: "index" });
  for (let n = 0; n < 5; n += 1) {
    const worker = { id: `wrk_${n}`, name: `indexer-${n}` };
    const claim = { worker, queues: ["served"], tasks: ["index"], max: 1 };
    await server.call("POST", "/v1/jobs/claim", claim);
  }
  await server.create({ queue: "alone", task: "export" });
  await visit(page, "/tasks");
  const row = (name: string) =>
    page.locator("tbody tr").filter({ has: page.getByRole("link", { name, exact: true }) });
  const told = async (name: string) => (await row(name).innerText()).replaceAll(/\s+/g, " ");
  expect(await told("index")).toContain("indexer-0 indexer-1 indexer-2 and 2 more");
  expect(await told("export")).toContain("nobody");
  await turnTo(page, "/queues");
  expect(await row("served").locator("[data-name=Workers]").innerText()).toBe("5");
  // To the page the minutes are over in which nobody was heard of.
  await page.clock.setFixedTime(Date.now() + 90_000);
  await row("served").getByText("5 silent").waitFor();
  await turnTo(page, "/tasks");
  await row("index").getByText("indexer-0, silent").waitFor();
  expect(odd).toEqual([]);
});
