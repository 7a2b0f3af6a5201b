/** Filters and the address say the same. */
import { expect, test } from "vitest";
import { fromQuery, inWords, jobPath, jobsPath, toQuery } from "../src/url/query.ts";

test.each([
  "",
  "state=retrying%2Cfailed&queue=billing&task=charge&tag=a%2Bb",
  "task=t&idempotency_key=%26%3D%3F%23+%C3%A9",
  "queue=q&order=asc",
])("an address gives the filters that make it: %s", (text) => {
  const query = new URLSearchParams(text);
  const again = toQuery(fromQuery(query));
  again.sort();
  query.sort();
  expect(again.toString()).toBe(query.toString());
});

test("what makes no sense is left out", () => {
  const filters = fromQuery(new URLSearchParams("state=failed,unknown,&order=sideways&x=1"));
  expect(filters.states).toEqual(["failed"]);
  expect(filters.order).toBe("desc");
});

test("names in addresses are escaped", () => {
  expect(jobPath("job_a/../b?c")).toBe("/jobs/job_a%2F..%2Fb%3Fc");
  expect(jobsPath({ queue: "a&b=c" })).toBe("/jobs?queue=a%26b%3Dc");
});

test("filters in words", () => {
  const filters = fromQuery(new URLSearchParams("state=failed,retrying&queue=billing"));
  expect(inWords(filters)).toBe("that are retrying or failed, in the queue billing");
  const bad = fromQuery(new URLSearchParams({ task: "t", idempotency_key: "a\u202eb" }));
  expect(inWords(bad)).toBe("in any state, of the task t, with the key a\\u202eb");
});
