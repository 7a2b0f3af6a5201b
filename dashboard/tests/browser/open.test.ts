/** A server without keys: nobody signs in, until its first key for an admin. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open, reader, visit, withoutRefusals } from "./reader.ts";
import { Server } from "./server.ts";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = [await open(), await new Server().start()];
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

test("the first key closes it, and the page is signed in with that key", async () => {
  const { page, odd } = await reader(browser, server.url);
  await visit(page, "/access");
  await page.getByText("This server asks for no key").waitFor();
  expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
  await page.getByRole("button", { name: "Create a key…" }).click();
  await page.getByLabel("Name").fill("operator");
  // It must be an admin's, and nothing else can be chosen.
  expect(await page.getByRole("radio", { name: /^admin/ }).isChecked()).toBe(true);
  expect(await page.getByRole("radio", { name: /^producer/ }).isDisabled()).toBe(true);
  await page.getByText("it asks every caller for a key").waitFor();
  await page.locator("dialog [type=submit]").click();
  const key = await page.getByLabel("Key, role admin").inputValue();
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.locator("header.frame", { hasText: "operator" }).waitFor();
  expect(await page.getByText("This server asks for no key").count()).toBe(0);
  expect((await fetch(`${server.url}/v1/stats`)).status).toBe(401);
  const answer = await fetch(`${server.url}/v1/stats`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(answer.status).toBe(200);
  // Without another admin's key nobody could make keys any more.
  await page.getByRole("button", { name: "Revoke… operator" }).click();
  await page.getByText("You are signed in with a key of this name").waitFor();
  await page.locator("dialog [type=submit]").click();
  await page.locator("dialog [role=alert]").waitFor();
  expect(withoutRefusals(odd)).toEqual([]);
});
