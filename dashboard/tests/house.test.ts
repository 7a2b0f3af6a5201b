/** What no page does, wherever it stands. */
import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import openapi from "../../openapi.json" with { type: "json" };
import * as calls from "../src/api/calls.ts";

const SOURCE = `${import.meta.dirname}/../src`;

const sources = (): [string, string][] =>
  readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => [name, readFileSync(`${SOURCE}/${name}`, "utf8")]);

test("no text becomes part of a page but as text, and none is run", () => {
  const turned = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/i;
  const found = sources().filter(([, text]) => turned.test(text));
  expect(sources().length).toBeGreaterThan(50);
  expect(found.map(([name]) => name)).toEqual([]);
});

afterEach(() => vi.unstubAllGlobals());

test("every call that the pages make is a public one", async () => {
  const made: string[] = [];
  vi.stubGlobal("fetch", (path: string, { method }: { method: string }) => {
    made.push(`${method.toLowerCase()} ${path.split("?")[0]}`);
    return Promise.resolve(new Response("{}"));
  });
  const functions = Object.values(calls).filter((it) => typeof it === "function");
  // Whatever a call is given, its method and its path are the same.
  for (const it of functions as ((...given: unknown[]) => Promise<unknown>)[])
    await it("some", [], "some");
  const known = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => new RegExp(`^${method} ${path.replace(/\{\w+\}/g, "[^/]+")}$`),
    ),
  );
  expect(made.length).toBe(functions.length);
  expect(made.length).toBeGreaterThan(20);
  expect(made.filter((call) => !known.some((it) => it.test(call)))).toEqual([]);
});
