/** What pages are made of stands once. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("heads of tables stand in one part", () => {
  const folder = `${import.meta.dirname}/../src`;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const theirs = files.filter(
    (name) =>
      name.endsWith(".tsx") && /<thead|<table/.test(readFileSync(`${folder}/${name}`, "utf8")),
  );
  expect(theirs).toEqual(["parts/table.tsx"]);
});
