/** Requests and answers: creates, refusals, repeats, addresses, trace contexts. */

import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { Halyard, readUrl } from "../../src/client.js";
import { Answer, path, query } from "../../src/connection.js";
import {
  type ApiError,
  CheckpointConflictError,
  HalyardError,
  IdempotencyConflictError,
  InvalidValueError,
  SettingsError,
} from "../../src/errors.js";
import { type CreateResult, divide, partEnd, readResults } from "../../src/jobs/create.js";
import { parameters } from "../../src/jobs/list.js";
import { itemOf, type NewJob } from "../../src/jobs/new-job.js";
import { readProblem } from "../../src/problem.js";
import { isTemporary, pauseBefore, retryAfterMs } from "../../src/retry.js";
import { applySchema, defineTask } from "../../src/task.js";
import { VERSION } from "../../src/version.js";

test("only what was set is sent", () => {
  const plain = itemOf({ task: "t" }, false);
  expect(plain.body).toBe(`{"task":"t","id":"${plain.madeId}"}`);
  const job = {
    task: 'a "b"',
    queue: undefined,
    payload: [1],
    id: "job_1",
    delay: "2s",
    backoff: { initial: "1s", factor: 1, max: undefined },
    runAt: new Date(0),
    tags: ["x"],
  } as const;
  expect(JSON.parse(itemOf(job, false).body)).toEqual({
    task: 'a "b"',
    payload: [1],
    id: "job_1",
    delay_ms: 2_000,
    backoff: { initial_ms: 1_000, factor: 1 },
    run_at: "1970-01-01T00:00:00.000Z",
    tags: ["x"],
  });
  expect(itemOf(job, false).madeId).toBeUndefined();
  expect(itemOf({ task: "t" }, false).madeId).not.toBe(plain.madeId);
  for (const [ifFailed, alone] of [
    ["return", false],
    ["retry", true],
    ["replace", true],
  ] as const) {
    expect(itemOf({ task: "t", ifFailed }, false).alone).toBe(alone);
  }
});

test("an option that does not exist is an error, and not ignored", () => {
  for (const [option, words] of [
    [{ idempotency_key: "k" }, "it is called `idempotencyKey`"],
    [{ timeoutMs: 1 }, "it is called `timeout`"],
    [{ data: 1 }, "the option is called `payload`"],
    [{ zz: 1 }, "there is no such option; there are `task`, `payload`, `"],
    [{ payloads: 1 }, "there is no such option; did you mean `payload`?"],
    [{ attempts: 3 }, "the option is called `maxAttempts`"],
    [{ repeat: { every: 1 } }, "there are no schedules yet"],
    [{ cron: "* * * * *" }, "there are no schedules yet"],
    [{ backoff: { initial_ms: 1 } }, "it is called `initial`"],
  ] as const) {
    const job = { task: "t", ...option } as unknown as NewJob;
    expect(() => itemOf(job, false)).toThrow(InvalidValueError);
    expect(() => itemOf(job, false)).toThrow(words);
  }
});

test("items are shared out among requests", () => {
  const MIB = 1024 * 1024;
  const parts = (sizes: number[]) => {
    const items = sizes.map((size) => ({ body: "x".repeat(size) }));
    const lengths: number[] = [];
    for (let start = 0; start < items.length; ) {
      const end = partEnd(items, start);
      lengths.push(end - start);
      start = end;
    }
    return lengths;
  };
  expect(parts([])).toEqual([]);
  expect(parts(new Array(1001).fill(1))).toEqual([1000, 1]);
  expect(parts(new Array(9).fill(MIB))).toEqual([8, 1]);
  expect(parts([20 * MIB, 1, 1])).toEqual([1, 2]);
  expect(parts([8 * MIB, 1])).toEqual([1, 1]);
});

test("a refused batch", () => {
  const refusal = (status: number, errors: [string, string][]) =>
    readProblem(
      status,
      "req_1",
      JSON.stringify({
        code: "invalid_field",
        detail: "faults",
        errors: errors.map(([code, pointer]) => ({ code, pointer, message: `${code} there` })),
      }),
    );
  const settled = (error: ApiError, places: number[]) => {
    const results = new Map<number, CreateResult>();
    const again = divide(error, places, (place, result) => results.set(place, result));
    return { again, results };
  };
  const named = refusal(400, [
    ["invalid_field", "/jobs/1/queue"],
    ["payload_too_large", "/jobs/3/payload/a"],
    ["invalid_field", "/jobs/1/priority"],
    ["invalid_field", "/jobs/9/priority"],
  ]);
  const { again, results } = settled(named, [10, 11, 12, 13]);
  expect(again).toEqual([[10, 12]]);
  const errors = [11, 13].map((place) => results.get(place)?.error as ApiError);
  expect(errors.map((error) => error.status)).toEqual([400, 413]);
  expect(errors.map((error) => error.code)).toEqual(["invalid_field", "payload_too_large"]);
  expect(errors[0]?.errors.map((fault) => fault.pointer)).toEqual(["/queue", "/priority"]);

  expect(settled(refusal(413, []), [1, 2, 3]).again).toEqual([[2, 3], [1]]);
  for (const status of [401, 403, 404, 409, 503]) {
    const all = settled(refusal(status, [["x", "/jobs/0"]]), [1, 2]);
    expect([all.again, all.results.size]).toEqual([[], 2]);
  }
});

test("answers that are errors", () => {
  for (const [status, body, message] of [
    [502, "<html>Bad Gateway</html>", "<html>Bad Gateway</html> (502)"],
    [500, "", "answered without a body (500)"],
    [404, '{"code":"job_not_found","detail":"no x"}', "no x (404 job_not_found)"],
    [400, '{"code":"new_code","title":"New","more":1}', "New (400 new_code)"],
    [409, "[]", "[] (409)"],
    [
      400,
      '{"detail":7,"errors":[null,{"code":1}]}',
      '{"detail":7,"errors":[null,{"code":1}]} (400)',
    ],
  ] as const) {
    const error = readProblem(status, "req_1", body);
    expect(error.message).toBe(message);
    expect([error.status, error.requestId]).toEqual([status, "req_1"]);
  }
  const key = '{"code":"idempotency_key_reused","detail":"no","job_id":"job_1","changed":["/a"]}';
  const conflict = readProblem(422, undefined, key);
  expect(conflict).toBeInstanceOf(IdempotencyConflictError);
  expect(conflict).toMatchObject({ existingJobId: "job_1", changed: ["/a"], job: "job_1" });
  const purged = readProblem(422, undefined, key.replace('["/a"]', "null"));
  expect(purged).toMatchObject({ changed: null });
  const point = '{"code":"checkpoint_conflict","checkpoint":{"name":"a","value":{"n":1}}}';
  const first = readProblem(409, undefined, point);
  expect(first).toBeInstanceOf(CheckpointConflictError);
  expect(first).toMatchObject({ checkpoint: "a", value: { n: 1 } });
  const refused = readProblem(401, undefined, '{"code":"unauthenticated","detail":"no key"}');
  expect(refused.message).toContain("HALYARD_API_KEY");
});

test("repeats and their pauses", () => {
  const temporary = Array.from({ length: 500 }, (_, n) => n + 100).filter(isTemporary);
  expect(temporary).toEqual([408, 429, ...Array.from({ length: 100 }, (_, n) => n + 500)]);
  for (const [repeat, asked, chance, expected] of [
    [1, undefined, 0, 50],
    [1, undefined, 1, 25],
    [6, undefined, 0, 1_600],
    [10_000, undefined, 0, 2_000],
    [1, 1_000, 0, 1_000],
    [1, 1_000, 1, 1_250],
    [1, 60_000, 1, 62_000],
    [7, 0, 0, 2_000],
  ] as const) {
    expect(pauseBefore(repeat, asked, chance)).toBe(expected);
  }
  const now = Date.parse("Sun, 06 Nov 1994 08:49:37 GMT");
  for (const [value, expected] of [
    ["0", 0],
    [" 120 ", 120_000],
    ["Sun, 06 Nov 1994 08:49:47 GMT", 10_000],
    ["Sun, 06 Nov 1994 08:49:27 GMT", 0],
    ["18446744073709551615", 365 * 86_400_000],
    ["-1", undefined],
    ["soon", undefined],
    ["1e3", undefined],
    ["", undefined],
    [undefined, undefined],
  ] as const) {
    expect(retryAfterMs(value, now), value).toBe(expected);
  }
});

test("addresses", () => {
  for (const good of ["http://127.0.0.1:7373", "https://h/halyard", "http://[::1]:1"]) {
    expect(readUrl(good)).toBeInstanceOf(URL);
  }
  for (const bad of ["", "127.0.0.1:7373", "localhost:7373", "ftp://h", "http://h/?a=1"]) {
    expect(() => readUrl(bad), bad).toThrow(SettingsError);
  }
  for (const versioned of ["http://h/v1", "http://h:1/v1/", "https://h/halyard/v1"]) {
    expect(() => readUrl(versioned)).toThrow(SettingsError);
    expect(() => readUrl(versioned)).toThrow("leave /v1 out of the address");
  }
  expect(readUrl("http://h/v1/halyard").pathname).toBe("/v1/halyard");
  expect(path("a/b?c#é")).toBe("/a%2Fb%3Fc%23%C3%A9");
  for (const id of ["", ".", "..", undefined]) {
    expect(() => path(id as string)).toThrow(InvalidValueError);
  }
  expect(query({ a: undefined })).toBe("");
  const filter = { state: ["failed", "retrying"], task: "a b", createdAfter: new Date(0) } as const;
  expect(query(parameters(filter))).toBe(
    "?state=failed%2Cretrying&task=a+b&created_after=1970-01-01T00%3A00%3A00.000Z",
  );
});

test("a list from a time that is none", async () => {
  const { jobs } = new Halyard({ url: "http://127.0.0.1:1", retryFor: 0 });
  for (const name of ["createdAfter", "createdBefore"]) {
    const page = jobs.list({ [name]: new Date("soon") }).page();
    await expect(page).rejects.toThrow(`${name} does not fit at \`.\`: the date is invalid`);
    await expect(page).rejects.toThrow(InvalidValueError);
  }
});

test("schemas of more than one library", async () => {
  const asynchronous = z.object({ n: z.number() }).refine(async ({ n }) => n > 0, "too small");
  await expect(applySchema(asynchronous, { n: 0 })).rejects.toThrow("too small");
  for (const schema of [
    z.object({ lines: z.array(z.object({ n: z.number() })) }),
    v.object({ lines: v.array(v.object({ n: v.number() })) }),
  ]) {
    expect(applySchema(schema, { lines: [{ n: 1 }] })).toEqual({ lines: [{ n: 1 }] });
    const apply = () => applySchema(schema, { lines: [{ n: 1 }, { n: "x" }] });
    expect(apply).toThrow(InvalidValueError);
    expect(apply).toThrow("`lines[1].n`");
  }
  expect(() => defineTask({ name: "" })).toThrow(SettingsError);
});

test("the version is that of the package", () => {
  const file = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  expect(JSON.parse(file).version).toBe(VERSION);
});

test("results of a batch, whatever words their payloads hold", () => {
  const answer = (results: unknown[]) =>
    new Answer(
      { status: 200, headers: {}, body: JSON.stringify({ results }) },
      "POST",
      "http://h/x",
    );
  const job = (id: string, payload: unknown) => {
    const times = { created_at: "2026-11-29T00:00:00Z", run_at: "2026-11-29T00:00:00Z" };
    return { id, state: "queued", tags: [], payload, backoff: {}, replayed: true, ...times };
  };
  const words = '},{"status":201,"job":{';
  for (const payload of [words, [{ a: {} }, { status: 201, job: {} }], { status: 1 }, 2 ** 53]) {
    const items = ["job_1", undefined, "job_3"].map((madeId) => ({
      body: "",
      madeId,
      alone: false,
    }));
    const results = readResults(
      answer([
        { status: 201, job: job("job_1", payload) },
        { status: 422, error: { code: "invalid_field", detail: words } },
        { status: 200, job: job("job_2", null) },
      ]),
      items,
      true,
    );
    expect(results.map((result) => result.ok)).toEqual([true, false, true]);
    const [first, second, third] = results;
    expect(first?.job?.payload).toEqual(payload === 2 ** 53 ? 2n ** 53n : payload);
    expect([first?.job?.replayed, third?.job?.replayed]).toEqual([false, true]);
    expect(second?.error).toMatchObject({ status: 422, detail: words });
    expect(first?.job).toBe(first?.job);
    // Whoever prints or copies a result has its job.
    for (const copy of [{ ...third }, structuredClone(third), JSON.parse(JSON.stringify(third))]) {
      expect(copy).toMatchObject({ ok: true, job: { id: "job_2" } });
    }
    expect(inspect(third)).toMatch(/^\{\s+ok: true,\s+job: \{\s+id: 'job_2',/);
  }
  const none = { body: "", madeId: undefined, alone: false };
  for (const odd of [[], [{ status: 201 }, { status: 201 }], [{ status: 201, job: 7 }]]) {
    expect(() => readResults(answer(odd), [none], false)).toThrow(HalyardError);
  }
});
