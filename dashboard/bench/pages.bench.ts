/**
 * Every call that the pages make, on a store with a million jobs through which 2,000 jobs a second
 * flow; when something is painted first; and the page's memory while it is told of changes.
 *
 * JOBS (1,000,000), RATE (2,000 a second) and MINUTES (10) change what is measured.
 */
import { env } from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { fill } from "../tests/browser/filling.ts";
import { open, reader, visit } from "../tests/browser/reader.ts";
import { Server } from "../tests/browser/server.ts";

const JOBS = Number(env.JOBS ?? 1_000_000);
const RATE = Number(env.RATE ?? 2_000);
const MINUTES = Number(env.MINUTES ?? 10);
/** How often each call is made. */
const CALLS = 200;
/** Jobs of one step of the flow. */
const STEP = 100;

let browser: Browser;
let server: Server;
let flowing = true;
let flowed = 0;
let flow: Promise<void>;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  const begun = Date.now();
  await fill(server, JOBS);
  say(`filled with ${JOBS} jobs in ${seconds(begun)} s`);
  flow = keepFlowing();
});

afterAll(async () => {
  flowing = false;
  await flow;
  await browser?.close();
  await server?.end();
});

/** Creates, claims and finishes jobs at the wanted rate. */
async function keepFlowing(): Promise<void> {
  const jobs = Array.from({ length: STEP }, (_, n) => ({
    task: "flow",
    queue: "flow",
    payload: n,
  }));
  const claim = { worker: { id: "wrk_flow" }, queues: ["flow"], max: STEP };
  const begun = performance.now();
  while (flowing) {
    await server.call("POST", "/v1/jobs/batch", { jobs });
    const claimed = (await server.call("POST", "/v1/jobs/claim", claim)).jobs;
    const outcomes = claimed.map((job: { id: string; lease: { token: string } }) => ({
      ...{ id: job.id, token: job.lease.token, outcome: "completed", result: null },
    }));
    await server.call("POST", "/v1/jobs/finish", { outcomes });
    flowed += STEP;
    await pause(Math.max(0, begun + (flowed / RATE) * 1_000 - performance.now()));
  }
}

test("the calls of every page", async () => {
  const pages = await Promise.all([
    ...["", "?state=failed", "?state=completed&queue=mail", "?task=charge", "?tag=vip"].map(
      async (query) => `/jobs${query}`,
    ),
    newest("failed"),
    newest("completed"),
    ...["/", "/queues", "/workers", "/tasks", "/access", "/audit"],
    "/keys?task=charge&key=key:0",
    further("/v1/jobs?state=completed&limit=50"),
  ]);
  const calls = new Set<string>();
  const { page } = await reader(browser, server.url);
  page.on("request", (request) => calls.add(request.url()));
  for (const path of pages) await visit(page, path);
  await page.context().close();
  const [before, begun] = [flowed, Date.now()];
  for (const url of [...calls].sort()) {
    const path = url.slice(server.url.length);
    if (path.startsWith("/v1/") && path !== "/v1/events") await time(path);
  }
  say(`meanwhile ${Math.round((flowed - before) / seconds(begun))} jobs/s flowed`);
});

const newest = async (state: string) => {
  const { data } = await server.call("GET", `/v1/jobs?state=${state}&limit=1`);
  return `/jobs/${data[0].id}`;
};

/** A page of the list that is deep in it. */
async function further(list: string): Promise<string> {
  let cursor = "";
  for (let n = 0; n < 20; n += 1) {
    const { next_cursor } = await server.call("GET", `${list}${cursor && `&cursor=${cursor}`}`);
    cursor = next_cursor;
  }
  return `/jobs?state=completed&cursor=${cursor}`;
}

async function time(path: string): Promise<void> {
  const took: number[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const begun = performance.now();
    await server.call("GET", path);
    took.push(performance.now() - begun);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => (took[Math.floor(took.length * share)] ?? 0).toFixed(1);
  say(`p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${took.at(-1)?.toFixed(1)} ms: ${path}`);
}

/** `/version` is a line of text: what the browser takes on this machine for the least of pages. */
test("what is painted first", async () => {
  for (const path of ["/version", "/", "/jobs", await newest("failed")]) {
    const paints: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { page } = await reader(browser, server.url);
      await page.goto(path);
      const painted = await page.waitForFunction(
        () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
      );
      paints.push(Math.round((await painted.jsonValue()) ?? Number.NaN));
      await page.context().close();
    }
    say(`painted first after ${paints.join(", ")} ms, each in a new browser context: ${path}`);
  }
});

test("memory while changes come", async () => {
  // The list, whose rows change, and the overview, whose chart is drawn anew; beside each other.
  const pages = await Promise.all(
    ["/jobs", "/"].map(async (path) => {
      const { page } = await reader(browser, server.url);
      await visit(page, path);
      return { path, page };
    }),
  );
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    for (const { path, page } of pages) {
      say(`after ${minute} min the page's heap is ${await heap(page)} KiB: ${path}`);
    }
    if (minute < MINUTES) await pause(60_000);
  }
  for (const { page } of pages) await page.context().close();
});

/** KiB of JavaScript's heap after what is no longer used is gone. */
async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return Math.round(usedSize / 1_024);
}

const seconds = (begun: number) => Math.max(1, Math.round((Date.now() - begun) / 1_000));
const say = (text: string) => process.stdout.write(`bench: ${text}\n`);
