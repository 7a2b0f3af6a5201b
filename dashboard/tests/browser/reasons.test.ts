/** A button that does nothing now says why, however it is reached; and keys can be turned off. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { complaints, leave, open, picture, reader, visit } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;
let waiting: string;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
  ({ id: waiting } = await server.create({ queue: "billing", idempotency_key: "k" }));
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

const WHY = "It is queued: only a job that has ended is retried.";
const retry = (page: Page) => page.getByRole("button", { name: "Retry…" });
const hint = (page: Page) => page.locator(".hint:popover-open");

const looks = (["light", "dark"] as const).flatMap((theme) =>
  [1280, 390].map((width) => ({ theme, width })),
);

test.each(looks)("by pointer, keyboard and touch: $theme, $width wide", async (look) => {
  const { page, odd } = await reader(browser, server.url, {
    viewport: { width: look.width, height: 860 },
    colorScheme: look.theme,
    hasTouch: true,
    bypassCSP: true,
  });
  await visit(page, `/jobs/${waiting}`);
  const told = await retry(page).getAttribute("aria-describedby");
  expect(await page.locator(`[id="${told}"]`).textContent()).toBe(WHY);
  const shown = async () => {
    await hint(page).waitFor();
    expect(await hint(page).innerText()).toBe(WHY);
    const box = await hint(page).boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= look.width).toBe(true);
  };
  const gone = () => hint(page).first().waitFor({ state: "detached" });

  await retry(page).hover();
  await shown();
  // Whoever reads with a magnifying glass moves onto it.
  await hint(page).hover();
  await shown();
  await page.mouse.move(0, 0);
  await gone();

  await page.getByRole("button", { name: "Copy the id" }).focus();
  await page.keyboard.press("Tab");
  await shown();
  expect(await complaints(page)).toEqual([]);
  await picture(page, `reason-${look.theme}-${look.width}`);
  await page.keyboard.press("Escape");
  await gone();
  await page.keyboard.press("Enter");
  await shown();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await gone();

  // Forced: the reader of tests waits for what can act.
  await retry(page).tap({ force: true });
  await shown();
  await page.locator("h1").tap();
  await gone();
  expect(await page.locator("dialog").count()).toBe(0);
  expect(odd).toEqual([]);
  await leave(page);
});

test("what can be done has no reason beside it", async () => {
  const { page } = await reader(browser, server.url);
  await visit(page, `/jobs/${waiting}`);
  const cancel = page.getByRole("button", { name: "Cancel…" });
  expect(await cancel.getAttribute("aria-describedby")).toBeNull();
  await cancel.click();
  await page.locator("dialog[open]").waitFor();
  await leave(page);
});

test("how long a key is held is told before its job has ended", async () => {
  const { page } = await reader(browser, server.url);
  for (const path of [`/jobs/${waiting}`, "/keys?task=charge&key=k"]) {
    await visit(page, path);
    await page.getByText("then for the idempotency_ttl_ms of its create").waitFor();
  }
  await leave(page);
});

test("single keys are turned off without a key, and stay off", async () => {
  const { page } = await reader(browser, server.url);
  await visit(page, "/jobs");
  const acts = page.locator("footer").getByLabel("Keyboard shortcuts");
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.locator("tr.current").waitFor();
  await acts.uncheck();
  await page.reload();
  await page.locator("tbody tr").waitFor();
  expect(await acts.isChecked()).toBe(false);
  for (const key of ["j", "x", "r", "/", "?"]) await page.keyboard.press(key);
  expect(await page.locator("tr.current, dialog, input:focus").count()).toBe(0);
  expect(await page.locator("tbody input:checked").count()).toBe(0);
  await page.getByRole("button", { name: "Which shortcuts" }).click();
  await page.locator("dialog").getByLabel("Keyboard shortcuts").check();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  expect(await acts.isChecked()).toBe(true);
  await leave(page);
});
