/** Values between JavaScript and JSON, lengths of time, ids. */

import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Duration, milliseconds } from "../../src/duration.js";
import { InvalidValueError, SettingsError } from "../../src/errors.js";
import { makeId } from "../../src/ids.js";
import { readExact, readJson } from "../../src/json/read.js";
import { writeJson } from "../../src/json/write.js";
import { judge, judgeResult } from "../../src/worker/verdict.js";

test("what JSON carries is written as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(writeJson("payload", value, false)).toBe(JSON.stringify(value));
    }),
  );
  expect(writeJson("payload", undefined, false)).toBeUndefined();
  const odd = { at: new Date(0), none: undefined, url: new URL("http://h/"), [Symbol("s")]: 1 };
  expect(writeJson("payload", odd, false)).toBe(JSON.stringify(odd));
  expect(writeJson("payload", Object.create(null), false)).toBe("{}");
});

test("a BigInt is written as an integer, whatever `toJSON` a program has given it", () => {
  const prototype = BigInt.prototype as { toJSON?: () => string };
  const own = { toJSON: () => 4n };
  const value = {
    amount: 2n ** 60n,
    list: [1n],
    at: new Date(0),
    inner: { toJSON: () => [3n] },
    own,
  };
  const date = "1970-01-01T00:00:00.000Z";
  const text = `{"amount":${2n ** 60n},"list":[1],"at":"${date}","inner":[3],"own":4}`;
  expect(writeJson("payload", value, true)).toBe(text);
  prototype.toJSON = function () {
    return String(this);
  };
  try {
    expect(writeJson("payload", value, true)).toBe(text);
    expect(() => writeJson("payload", value, false)).toThrow(InvalidValueError);
  } finally {
    delete prototype.toJSON;
  }
});

test("what would be written as {} is an error that names its class", () => {
  class Private {
    readonly #own = 1;
    get own() {
      return this.#own;
    }
  }
  class Open {
    own = 1;
  }
  for (const [value, name] of [
    [new Error("no"), "Error"],
    [Object.assign(new TypeError("no"), { code: 7 }), "TypeError"],
    [new Response("body"), "Response"],
    [new URLSearchParams("a=1"), "URLSearchParams"],
    [new Private(), "Private"],
    [new Map([[1, 2]]), "Map"],
    [Buffer.from("x"), "Buffer"],
    // From Node.js 22 on its class has a name.
    [[].values(), "Iterator" in globalThis ? "Iterator" : "such value"],
  ] as const) {
    for (const what of ["payload", "result"]) {
      const write = () => writeJson(what, { in: [value] }, false);
      expect(write, name).toThrow(InvalidValueError);
      expect(write).toThrow(`${what} does not fit at \`in[0]\`: JSON has no ${name}`);
    }
    expect(judgeResult(value, false)).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { type: "InvalidResult", message: expect.stringContaining(`JSON has no ${name}`) },
    });
  }
  const told = Object.assign(new Error("no"), { toJSON: () => ({ told: true }) });
  const foreign = runInNewContext("({ empty: {}, list: [{}] })");
  for (const good of [new Open(), {}, [], Object("x"), Object(1), Object(true), told, foreign]) {
    expect(writeJson("payload", good, false)).toBe(JSON.stringify(good));
  }
});

test("a rule that fails, or answers with a promise, is none", async () => {
  const no = () => {
    throw new Error("no");
  };
  for (const rule of [no, async () => no()]) {
    for (const [status, again] of [
      [404, false],
      [503, true],
    ] as const) {
      const ending = judge({ status }, rule as unknown as () => boolean);
      expect(ending).toMatchObject({ kind: "failed", retryable: again });
    }
  }
  // A rejection that nobody hears would fail the run.
  await new Promise((resolve) => setImmediate(resolve));
});

test("an error's type is its class, whether it names itself or not", () => {
  class Declined extends Error {}
  class Named extends Error {
    override name = "Other";
  }
  const bare = Object.assign(Object.create(null), { name: "Error", message: "no" });
  for (const [error, type] of [
    [new Declined("no"), "Declined"],
    [new Named("no"), "Other"],
    [new TypeError("no"), "TypeError"],
    [new Error("no"), "Error"],
    [new (class extends Error {})("no"), "Error"],
    [bare, "Error"],
    ["no", "string"],
  ] as const) {
    const ending = judge(error, () => true);
    expect(ending).toMatchObject({ error: { type } });
  }
});

test("a circle is named where it closes", () => {
  const self: Record<string, unknown> = {};
  self.self = self;
  const deep = { a: [{ b: {} as Record<string, unknown> }] };
  (deep.a[0] as { b: object }).b = { "to a": deep.a };
  for (const [value, path] of [
    [self, "self"],
    [{ shared: [{}, {}], deep }, 'deep.a[0].b["to a"]'],
    [{ toJSON: () => ({ self }) }, "self.self"],
  ] as const) {
    const words = `payload does not fit at \`${path}\`: it refers to itself`;
    expect(() => writeJson("payload", value, false)).toThrow(words);
  }
  let nested = {};
  for (let level = 0; level < 2_000; level += 1) {
    nested = { nested };
  }
  const write = () => writeJson("payload", nested, false);
  expect(write).toThrow(
    /^payload does not fit at `nested\.[a-z.]{1,100}…`: it is nested too deep$/,
  );
});

test("integers of any size come back as they were", () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.bigInt().map((n) => (n >= -(2n ** 53n) && n <= 2n ** 53n ? n + 2n ** 60n : n)),
      fc.integer(),
      fc.string(),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (one) => {
      const text = writeJson("payload", one, true) as string;
      expect(readExact("payload", text, true)).toEqual(one);
    }),
  );
});

test("no number is rounded in silence", () => {
  for (const [text, path, words] of [
    ["9007199254740993", ".", "9007199254740993 would be rounded"],
    ['{"a":[0,-18446744073709551616]}', "a[1]", "bigint: true"],
    ['{"a":{"b":1e400}}', "a.b", "1e400 is beyond what a number holds"],
  ] as const) {
    const read = () => readExact("payload", text, false);
    expect(read).toThrow(InvalidValueError);
    expect(read).toThrow(words);
    expect(read).toThrow(`\`${path}\``);
  }
  expect(() => readExact("payload", "1e400", true)).toThrow(InvalidValueError);
  for (const text of ["9007199254740991", "1e300", "0.1", '"9007199254740993"', "-0", "null"]) {
    expect(readJson(text, false)).toEqual({ value: JSON.parse(text), unsafe: false });
  }
  // Texts and names that look like numbers stay what they are.
  const mixed = '{"n\\"1":"9007199254740993 \\\\","__proto__":9007199254740993}';
  const read = readExact("payload", mixed, true) as object;
  expect(Object.entries(read)).toEqual([
    ['n"1', "9007199254740993 \\"],
    ["__proto__", 9007199254740993n],
  ]);
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
});

test("lengths of time", () => {
  for (const [duration, ms] of [
    [0, 0],
    [1500, 1500],
    ["250ms", 250],
    ["1.5s", 1500],
    ["5m", 300_000],
    ["2h", 7_200_000],
    ["30d", 2_592_000_000],
    [Number.POSITIVE_INFINITY, 3_153_600_000_000],
  ] as const) {
    expect(milliseconds(duration as Duration, "delay")).toBe(ms);
  }
  for (const odd of [-1, Number.NaN, "5", "five minutes", "", "1e3s", "5 weeks", null, true, {}]) {
    expect(() => milliseconds(odd as Duration, "delay"), String(odd)).toThrow(SettingsError);
  }
});

test("ids rise, and carry the time and the version of a UUIDv7", () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, () => makeId("job"));
  const after = Date.now();
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  for (const id of ids.filter((_, n) => n % 100 === 0)) {
    expect(id).toMatch(/^job_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    const number = [...id.slice(4)].reduce((sum, d) => sum * 32n + BigInt(digits.indexOf(d)), 0n);
    const time = Number(number >> 80n);
    expect(time).toBeGreaterThanOrEqual(before);
    // A counter that overflows borrows from the next millisecond.
    expect(time).toBeLessThanOrEqual(after + 20);
    expect([(number >> 76n) & 15n, (number >> 62n) & 3n]).toEqual([7n, 2n]);
  }
});
