/** What a reader does on the pages, against the real server. */
import { spawnSync } from "node:child_process";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { leave, open, reader, saved, visit } from "./reader.ts";
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
  ({ page, odd } = await reader(browser, server.url));
});

afterEach(async () => {
  await leave(page);
  await server.end();
});

const MEBIBYTE = 1_048_576;

const button = (name: string) => page.getByRole("button", { name, exact: true });
const job = (id: string) => server.call("GET", `/v1/jobs/${id}`);
/** Presses the button of the open dialog that does it, and waits until it is done. */
const confirm = async () => {
  await page.locator("dialog [type=submit]").click();
  await page.locator("dialog").waitFor({ state: "detached" });
};

test("a double click retries once, and the dialog has told the truth", async () => {
  const id = await server.fail("books");
  await visit(page, `/jobs/${id}`);
  await button("Retry…").click();
  const told = await page.locator("dialog").innerText();
  expect(told).toContain("The id stays");
  expect(told).toContain("Skipped, since they are done: invoices, ledger.");
  await page.locator("dialog select").selectOption("ledger");
  expect(await page.locator("dialog").innerText()).toContain("done: invoices.");
  await page.locator("dialog [type=submit]").dblclick();
  await page.locator(".state-queued").waitFor();
  const after = await job(id);
  expect([after.life, after.state, after.checkpoints.length]).toEqual([2, "queued", 1]);
  expect(odd).toEqual([]);
});

test("cancel, run as new, delete", async () => {
  const { id } = await server.create({ queue: "billing", idempotency_key: "k" });
  await visit(page, `/jobs/${id}`);
  expect(await button("Retry…").isDisabled()).toBe(true);
  await button("Cancel…").click();
  await confirm();
  await page.locator(".state-cancelled").waitFor();
  await button("Run as new…").click();
  expect(await page.locator("dialog").innerText()).toContain("will happen again");
  await confirm();
  await page.getByText("Runs anew").waitFor();
  const again = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect((await job(again)).rerun_of).toBe(id);
  await button("Delete…").click();
  await confirm();
  await page.waitForURL("**/jobs");
  await expect(job(again)).rejects.toThrow("404");
  // A change may be heard before the page of the deleted job is left.
  expect(odd.filter((it) => !it.includes("404"))).toEqual([]);
});

test("many jobs, by keys alone", async () => {
  const ids = [await server.fail("books"), await server.fail("books"), await server.fail("books")];
  await visit(page, "/jobs?state=failed");
  await page.locator("tbody tr").nth(2).waitFor();
  for (const key of ["j", "x", "j", "x", "r"]) await page.keyboard.press(key);
  await page.locator("dialog").waitFor();
  expect(await page.locator("dialog h2").innerText()).toBe("Retry 2 jobs?");
  expect(await page.locator("dialog").innerText()).toContain(
    "Selected from the jobs that are failed.",
  );
  await page.locator("dialog button:focus", { hasText: "Back" }).waitFor();
  await page.keyboard.press("Tab");
  await page.locator("dialog [type=submit]:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  const states = await Promise.all(ids.map(async (id) => (await job(id)).state));
  expect(states.sort()).toEqual(["failed", "queued", "queued"]);
  await page.keyboard.press("/");
  await page.keyboard.type("books");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/jobs?state=failed&queue=books");
  // A field is left by the keyboard too, and suggests what there is.
  await page.keyboard.press("/");
  await page.locator("#queue-names option").first().waitFor({ state: "attached" });
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.locator("tr.current").waitFor();
  expect(odd).toEqual([]);
});

test("Enter on a link or button is its own, whichever job is current", async () => {
  for (let n = 0; n < 2; n += 1) await server.create({ queue: "billing" });
  await visit(page, "/jobs");
  await page.locator("tbody tr").nth(1).waitFor();
  await page.keyboard.press("j");
  await page.locator("tr.current").waitFor();
  const second = page.locator("tbody tr").nth(1).locator("a");
  const path = (await second.getAttribute("href")) ?? "";
  await button("Which shortcuts").focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await second.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${path}`);
  // A ticked box takes no letters.
  await visit(page, "/jobs");
  await page.locator("tbody input").first().check();
  await page.keyboard.press("j");
  await page.locator("tr.current").waitFor();
  expect(odd).toEqual([]);
});

test("pause and resume", async () => {
  await server.create({ queue: "billing" });
  await visit(page, "/queues");
  for (const [name, paused] of [
    ["Pause", true],
    ["Resume", false],
  ] as const) {
    await button(`${name} billing`).click();
    await confirm();
    await button(`${paused ? "Resume" : "Pause"} billing`).waitFor();
    expect((await server.call("GET", "/v1/queues/billing")).paused).toBe(paused);
  }
  expect(odd).toEqual([]);
});

test("a key is looked up and forgotten", async () => {
  const { id } = await server.create({ queue: "billing", idempotency_key: "charge:1 & é" });
  await visit(page, "/keys");
  await page.getByLabel("Task").fill("charge");
  await page.getByLabel("Idempotency key").fill("charge:1 & é");
  await button("Look up").click();
  await page.getByRole("link", { name: id }).waitFor();
  await button("Forget key…").click();
  await confirm();
  await page.getByText("Nobody holds this key").waitFor();
});

test("long numbers stay whole, in a payload and a result of a mebibyte each", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const value = (number: string) => {
    const [start, end] = [`{"exact":${number},"many":[${"1,".repeat(100_000)}2],"long":"`, '"}'];
    return `${start}${"é".repeat((MEBIBYTE - start.length - end.length) / 2)}${end}`;
  };
  const [payload, result] = [value("12345678901234567890.10"), value("-98765432109876543210e3")];
  const { id } = await server.call("POST", "/v1/jobs", `{"task":"t","payload":${payload}}`);
  const { lease } = await server.claim("default");
  const report = `{"id":"${id}","token":"${lease.token}","outcome":"completed","result":${result}}`;
  await server.call("POST", "/v1/jobs/finish", `{"outcomes":[${report}]}`);
  await visit(page, `/jobs/${id}`);
  for (const [name, sent] of Object.entries({ payload, result })) {
    expect(Buffer.byteLength(sent)).toBeGreaterThan(MEBIBYTE - 2);
    const body = page.getByLabel(name, { exact: true });
    await body.getByRole("button", { name: /more characters/ }).click();
    const string = sent.slice(sent.indexOf('"é'), -1);
    expect(await body.locator(".json-string").textContent()).toBe(string);
    await page.getByLabel(`Search in the ${name}`).fill("exact");
    await page.getByText(`"exact": ${sent.slice(9, sent.indexOf(',"many"'))}`).waitFor();
    await button(`Copy the ${name}`).click();
    await page.getByText("Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied.replaceAll(/\s/g, "")).toBe(sent);
    expect(await saved(page, `Download the ${name}`)).toEqual([`${id}-${name}.json`, sent]);
    await page.getByText("Copied").waitFor({ state: "detached" });
  }
  expect(odd).toEqual([]);
});

test("the server goes away and comes back while the page is open", async () => {
  await server.create({ queue: "billing" });
  await visit(page, "/");
  await page.getByText("Live").waitFor();
  await server.kill();
  await page.getByText("No answer").waitFor();
  // What that means is told to the keyboard too, and stays true while nothing answers.
  await page.locator(".hearing button").focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await page.locator(".hint:popover-open", { hasText: "what is shown may be old" }).waitFor();
  await page.keyboard.press("Escape");
  await server.start();
  await server.create({ queue: "billing" });
  await page.getByText("Live").waitFor();
  await page.locator(".counters", { hasText: "2 queued" }).waitFor();
});

test("the first job gets through by the commands as they stand, and each step ticks", async () => {
  await visit(page, "/");
  await page.getByText("There is no job yet").waitFor();
  await button("Python").click();
  expect(await page.locator(".steps").innerText()).toContain(`HALYARD_URL=${server.url}`);
  await button("curl").click();
  const commands = await page.locator(".steps pre").allInnerTexts();
  expect(commands.length).toBe(3);
  for (let n = 1; n <= 3; n += 1) {
    // A terminal keeps what the commands before have set.
    const typed = n === 1 ? commands[0] : commands.slice(1, n).join("\n");
    const bash = spawnSync("bash", ["-c", typed ?? ""], { encoding: "utf8" });
    expect(bash.stderr).toBe("");
    if (n === 2)
      await server.call("POST", "/v1/jobs/finish", { outcomes: [released(bash.stdout)] });
    await page
      .locator(".tick.done")
      .nth(n - 1)
      .waitFor();
    expect(await page.locator(".tick.done").count()).toBe(n);
    expect(await page.locator(".steps pre").count()).toBe(3);
  }
  await page.getByText("Your first job is through").waitFor();
  await page.locator(".first-run .lead a").click();
  await page.locator(".state-completed").waitFor();
  expect(await page.title()).toBe("charge-subscription: completed · Halyard");
  await page.goBack();
  await page.locator(".counters", { hasText: "1 completed" }).waitFor();
  expect(await page.locator(".first-run").count()).toBe(0);
  expect(odd).toEqual([]);
});

/** Gives back what the second command claimed: the third one is run with it once more. */
const released = (answer: string) => {
  const [{ id, lease }] = JSON.parse(answer).jobs;
  return { id, token: lease.token, outcome: "released" };
};

test("all that a filter finds is acted on, and the page says so and shows the rest", async () => {
  for (let n = 0; n < 2; n += 1) await server.fail("other");
  const jobs = Array.from({ length: 60 }, () => ({ task: "sync", queue: "crm", max_attempts: 1 }));
  await server.call("POST", "/v1/jobs/batch", { jobs });
  const claim = { worker: { id: "wrk_test" }, queues: ["crm"], max: 60 };
  const claimed = (await server.call("POST", "/v1/jobs/claim", claim)).jobs;
  const outcomes = claimed.map((it: { id: string; lease: { token: string } }) => ({
    ...{ id: it.id, token: it.lease.token, outcome: "failed" },
    error: { type: "Down", message: "It is down." },
  }));
  await server.call("POST", "/v1/jobs/finish", { outcomes });
  await visit(page, "/jobs?state=failed");
  const rows = page.locator("tbody tr");
  const first = await rows.first().innerText();
  await page.getByLabel("Select all of this page").check();
  await page.getByText("50 selected").waitFor();
  await button("Retry…").click();
  await confirm();
  await page.getByText("50 jobs were retried.").waitFor();
  await rows.nth(11).waitFor();
  await expect.poll(() => rows.count()).toBe(12);
  expect(await rows.first().innerText()).not.toBe(first);
  expect(await page.locator(".pill").count()).toBe(0);

  await visit(page, "/jobs");
  await page.getByLabel("Select all of this page").check();
  await button("Select all that match").click();
  await page.getByText("62 selected: all that match").waitFor();
  await button("Delete…").click();
  expect(await page.locator("dialog h2").innerText()).toBe("Delete 62 jobs?");
  await confirm();
  await page.getByText("62 jobs were deleted.").waitFor();
  // The audit log has by which filter: none is every job, and those selected by hand have none.
  const { data: lines } = await server.call("GET", "/v1/audit");
  expect(lines.map((it: { target: string | null }) => it.target)).toEqual(["", null]);
  await page.getByText("There is no job any more.").waitFor();
  expect(odd).toEqual([]);
});

test("new jobs wait behind a button", async () => {
  const first = await server.create({ queue: "billing" });
  await visit(page, "/jobs");
  await page.locator("tbody tr").waitFor();
  await server.create({ queue: "billing" });
  await button("1 new").click();
  await page.locator("tbody tr").nth(1).waitFor();
  expect(await page.locator("tbody tr").nth(1).innerText()).toContain(first.id.slice(-10));
});

test("a retry whose answer was lost is one retry, whatever happens meanwhile", async () => {
  const id = await server.fail("books");
  await visit(page, `/jobs/${id}`);
  await button("Retry…").click();
  await page.route("**/retry", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.locator("dialog [type=submit]").click();
  await page.getByText("the server does not answer").waitFor();
  await page.unroute("**/retry");
  const error = { type: "CardDeclined", message: "Your card was declined." };
  await server.finish(await server.claim("books"), { outcome: "failed", error });
  await page.getByText("It has been retried meanwhile").waitFor();
  await confirm();
  const after = await job(id);
  expect([after.life, after.state]).toEqual([2, "failed"]);
});

test("a server that answers slowly is waited for", async () => {
  await server.create({ queue: "billing" });
  await page.route("**/v1/jobs?*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await route.continue();
  });
  await page.goto("/jobs");
  const busy = setInterval(() => void server.create({ queue: "billing" }), 200);
  try {
    await page.locator("tbody tr").first().waitFor({ timeout: 20_000 });
  } finally {
    clearInterval(busy);
  }
});
