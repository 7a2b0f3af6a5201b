/** A browser, and a reader of pages in it who notices what must not happen. */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { env, getuid } from "node:process";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SCREENSHOTS = env.SCREENSHOTS ?? "built/dist/screenshots";

export async function open(): Promise<Browser> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  return chromium.launch({
    executablePath: env.CHROMIUM ?? "/usr/bin/chromium",
    // Chromium keeps no sandbox for root, as whom tests may run.
    args: getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
}

/** A page, and everything odd that came of it. */
export async function reader(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; odd: string[] }> {
  const context = await browser.newContext({ baseURL: origin, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const odd: string[] = [];
  page.on("pageerror", (error) => odd.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    odd.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (message.type() === "error") odd.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) odd.push(`request: ${request.url()}`);
  });
  return { page, odd };
}

/** Goes to a page and waits until it shows what it loaded. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator("main h1").waitFor();
  await page.locator("[aria-busy]").waitFor({ state: "detached" });
}

/** Goes to another page as a link within the page does, without loading everything anew. */
export const turnTo = (page: Page, path: string): Promise<void> =>
  page.evaluate((to) => {
    history.pushState(null, "", to);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);

/** Presses a button that saves something: the name of the file, and what is in it. */
export async function saved(page: Page, name: string): Promise<[string, string]> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click(),
  ]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

/** Closes a page: what a test still held back of its requests ends with it, and is no error. */
export async function leave(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().close();
}

/** Signs in where the page asks for it. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.locator(".door").waitFor({ state: "detached" });
}

/** What is left of oddities without refusals, which a browser tells in its console. */
export const withoutRefusals = (odd: string[]) =>
  odd.filter((it) => !/status of (401|403|503)/.test(it));

/** What axe-core finds, a line each; the size of what is pressed is a rule that it leaves off. */
export async function complaints(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: (
          options: object,
        ) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run({ rules: { "target-size": { enabled: true } } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  });
}

/** A narrow window first: what a page does to fit into it is done when it comes. */
const LOOKS = [390, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((theme) => ({ width, theme })),
);

/** What a page is opened with that is looked at; axe-core is put into it against its policy. */
export const LOOKED_AT: BrowserContextOptions = {
  viewport: { width: 390, height: 860 },
  colorScheme: "light",
  bypassCSP: true,
};

/**
 * Looks at what the page shows now in both themes, narrow and wide: nothing for axe-core, nothing
 * wider than the window, and a picture of each.
 */
export async function inEveryLook(page: Page, name: string): Promise<void> {
  for (const { width, theme } of LOOKS) {
    const look = `${name}-${theme}-${width}`;
    await page.setViewportSize({ width, height: 860 });
    await page.emulateMedia({ colorScheme: theme });
    expect(await complaints(page), look).toEqual([]);
    await picture(page, look);
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wider, `${look}: the page itself is not scrolled sideways`).toBeLessThanOrEqual(0);
  }
}

export const picture = (page: Page, name: string) =>
  page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, fullPage: true });
