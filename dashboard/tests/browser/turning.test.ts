/** From one page to the next: what the address, the fields, the focus and the keys do. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { leave, open, reader, turnTo, visit } from "./reader.ts";
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
  ({ page, odd } = await reader(browser, server.url));
});

afterEach(() => leave(page));

const button = (name: string) => page.getByRole("button", { name, exact: true });
const confirm = () => page.locator("dialog [type=submit]").click();
/** Waits until this has the focus. */
const focused = (selector: string) => page.locator(`${selector}:focus`).waitFor();

test("an address that cannot be read is no page, loaded or turned to", async () => {
  await page.goto("/jobs/%ff");
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await page.getByRole("link", { name: "To the overview" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await turnTo(page, "/jobs/%e0%a4");
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(odd.filter((it) => !it.includes("404"))).toEqual([]);
});

test("Back on Keys shows the fields of the answer below them", async () => {
  const [one, other] = [
    await server.create({ queue: "billing", idempotency_key: "one" }),
    await server.create({ queue: "billing", idempotency_key: "other" }),
  ];
  await visit(page, "/keys");
  const field = page.getByLabel("Idempotency key");
  await page.getByLabel("Task").fill("charge");
  for (const [key, { id }] of [
    ["one", one],
    ["other", other],
  ] as const) {
    await field.fill(key);
    await field.press("Enter");
    await page.getByRole("link", { name: id }).waitFor();
    // Whoever looks one key up may look up the next.
    await focused("main input");
  }
  await page.goBack();
  await page.getByRole("link", { name: one.id }).waitFor();
  await expect.poll(() => field.inputValue()).toBe("one");
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe("");
  expect(odd).toEqual([]);
});

test("/ goes to the search of a job's page or a field of Keys, Escape leaves them", async () => {
  const payload = { long: "x".repeat(500), wanted: "\u202egnp.exe" };
  const { id } = await server.create({ queue: "billing", payload });
  await visit(page, `/jobs/${id}`);
  await page.getByLabel("Search in the payload").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("wanted");
  // What is found deceives no more than the whole does.
  await page.getByText('"wanted": "\\u202egnp.exe"').waitFor();
  await page.keyboard.press("Escape");
  expect(await page.locator("input:focus").count()).toBe(0);
  await visit(page, "/keys");
  await page.keyboard.press("/");
  await page.keyboard.type("charge");
  expect(await page.getByLabel("Task").inputValue()).toBe("charge");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard" }).waitFor();
  expect(odd).toEqual([]);
});

test("the focus is in the content when what had it is gone", async () => {
  const id = await server.fail("books");
  await server.fail("books");
  await visit(page, "/queues");
  await page.getByRole("link", { name: "books" }).press("Enter");
  await page.waitForURL("**/jobs?queue=books");
  await focused("#content");

  await visit(page, "/jobs?state=failed");
  await page.locator("tbody input").first().check();
  await button("Retry…").press("Enter");
  await confirm();
  await page.locator(".chosen").waitFor({ state: "detached" });
  await focused("#content");

  await visit(page, `/jobs/${id}`);
  await button("Delete…").press("Enter");
  await confirm();
  await page.waitForURL("**/jobs");
  await focused("#content");
  // A change may be heard before the page of the deleted job is left.
  expect(odd.filter((it) => !it.includes("404"))).toEqual([]);
});

test("a link of the head keeps the focus", async () => {
  await visit(page, "/");
  await page.getByRole("link", { name: "Queues", exact: true }).press("Enter");
  await page.getByRole("heading", { name: "Queues" }).waitFor();
  await focused("header a[href='/queues']");
});

test("the chart and its legend tell failed jobs by a broken line too", async () => {
  await page.addInitScript(() => {
    const lines = new Set<string>();
    Object.assign(globalThis, { lines });
    const { stroke } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.stroke = function (...path: Path2D[]) {
      lines.add(`${this.strokeStyle} ${this.getLineDash().join(" ")}`);
      stroke.apply(this, path as [Path2D]);
    };
  });
  await server.fail("chart");
  await visit(page, "/");
  await page.locator(".chart canvas").waitFor();
  const dashOf = async (state: string) => {
    const name = `--chart-${state}`;
    const colour = await page.evaluate(
      (it) => getComputedStyle(document.body).getPropertyValue(it),
      name,
    );
    const lines = await page.evaluate(() => [
      ...(globalThis as unknown as { lines: Set<string> }).lines,
    ]);
    return lines.find((it) => it.startsWith(`${colour} `))?.slice(colour.length + 1);
  };
  await expect.poll(() => dashOf("completed")).toBe("");
  expect(await dashOf("failed")).toBe("5 3");
  const legend = (of: string) =>
    page.locator(`.key-${of}`).evaluate((it) => getComputedStyle(it).backgroundImage);
  expect(await legend("completed")).toBe("none");
  expect(await legend("failed")).toContain("repeating-linear-gradient");
});
