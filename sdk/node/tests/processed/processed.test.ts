/** The processed store (`sdk/scenarios/processed.json`) on every store. */

import {
  AlreadyInProgressError,
  type Claim,
  type Claimed,
  fingerprint,
  InvalidValueError,
  idempotent,
  type Job,
  KeyReusedError,
  NonRetryableError,
  type OnUnknown,
  OutcomeUnknownError,
  SettingsError,
  Store,
} from "@halyard/node";
import { type FakeJob, fakeJob } from "@halyard/node/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canonical, fingerprintOf } from "../../src/processed/fingerprint.js";
import { read } from "../scenarios/file.js";
import { key, stores } from "./stores.js";
import { works } from "./work.js";

interface Step {
  gets: unknown;
  [verb: string]: unknown;
}

interface Asked {
  key: string;
  owner: string;
  fingerprint: string;
  response: string;
  in_progress_ms: number;
  expires_ms: number;
}

interface Shared {
  fingerprints: { payload: string; canonical: string; fingerprint: string }[];
  cases: { name: string; what: string; steps: Step[] }[];
  endings: { work: string; again: string }[];
  on_unknown: { on_unknown: string; gets: string; then: string }[];
}

const shared = read<Shared>("processed.json");

test.each(shared.fingerprints)("the fingerprint of $payload", (vector) => {
  expect(canonical(vector.payload)).toBe(vector.canonical);
  expect(fingerprintOf(vector.payload)).toBe(vector.fingerprint);
});

test("the fingerprint of a value", () => {
  const payload = { subscription_id: "sub_1", period: "2026-11" };
  expect(fingerprint(payload)).toBe(shared.fingerprints[4]?.fingerprint);
  expect(fingerprint(9007199254740993n)).toBe(fingerprintOf("9007199254740993"));
  expect(() => fingerprint({ a: [Number.NaN] })).toThrow("a");
});

/** Runs work that returns `again`, and says what that came to in the words of the list. */
async function again(store: Store, job: Job): Promise<string> {
  try {
    const response = await store.once(job.id, () => "again", { job, onUnknown: "fail" });
    return response === "again" ? "runs" : "stored";
  } catch (error) {
    if (error instanceof AlreadyInProgressError) {
      return "in progress";
    }
    expect(error).toBeInstanceOf(NonRetryableError);
    return "unknown";
  }
}

/** What a claim got, in the words of the list. */
function said(claimed: Claimed, waitMs: number): unknown {
  switch (claimed.kind) {
    case "mine":
      return { mine: { unknown: claimed.unknown } };
    case "completed":
      return { completed: claimed.response };
    case "in_progress":
      expect(claimed.leftMs).toBeGreaterThan(0);
      expect(claimed.leftMs).toBeLessThanOrEqual(waitMs);
      return { in_progress: true };
    case "reused":
      return { reused: true };
  }
}

/** Takes one step, and says what it got. */
async function take(store: Store, prefix: string, step: Step): Promise<unknown> {
  const verb = Object.keys(step).find((name) => name !== "gets") ?? "";
  const asked = step[verb] as Asked;
  const name = prefix + asked.key;
  const { owner } = asked;
  switch (verb) {
    case "claim": {
      const { in_progress_ms: inProgressMs, expires_ms: expiresInMs } = asked;
      const { fingerprint } = asked;
      const claim = { key: name, fingerprint, owner, inProgressMs, expiresInMs };
      return said(await store.claim(claim), Math.max(inProgressMs, 600_000));
    }
    case "complete":
      return await store.complete(name, owner, asked.response, asked.expires_ms);
    case "leave":
      return await store.leave(name, owner);
    case "remove":
      return await store.remove(name, owner);
    default:
      throw new Error(`${verb} is no verb`);
  }
}

const answers: Record<string, OnUnknown<string>> = {
  run: "run",
  fail: "fail",
  "a function that answers with a response": ({ job }) => (job === undefined ? undefined : "told"),
  "a function that answers that nothing was done": async () => undefined,
  "a function that throws": () => {
    throw new Error("nobody answers");
  },
};

describe.each(Object.entries(stores))("%s", (_name, open) => {
  let store: Store;
  let close: () => Promise<unknown>;
  beforeAll(async () => {
    ({ store, close } = await open());
  });
  afterAll(() => close());

  theTables(() => store);
  handlersAndResponses(() => store);
});

/** The tables of the shared list, on the store that `open` gives. */
function theTables(open: () => Store): void {
  test.each(shared.cases)("$name: $what", async ({ steps }) => {
    const store = open();
    const prefix = key("");
    for (const step of steps) {
      expect(await take(store, prefix, step), JSON.stringify(step)).toEqual(step.gets);
    }
  });

  test.each(shared.endings)("work that $work", async (ending) => {
    const store = open();
    const job = fakeJob({ id: key("ending") });
    const work = works[ending.work] as (job: FakeJob) => Promise<string>;
    const running = store.once(job.id, () => work(job), { job });
    if (ending.work === "never ends") {
      await expect.poll(() => job.checkpoints).toEqual(["begun"]);
    } else {
      const returned = await running.then(() => true).catch(() => false);
      expect(returned).toBe(ending.work.endsWith("returns"));
    }
    expect(await again(store, job.nextAttempt())).toBe(ending.again);
  });

  test.each(shared.on_unknown)("unknown, and $on_unknown", async (row) => {
    const store = open();
    const job = fakeJob({ id: key("unknown") });
    const lost = store.once(job.id, works["throws OutcomeUnknownError"] as () => Promise<string>);
    await expect(lost).rejects.toThrow(OutcomeUnknownError);
    const onUnknown = answers[row.on_unknown];
    const next = job.nextAttempt();
    const got = await store
      .once(job.id, () => "ran", { job: next, onUnknown })
      .then(
        (response) =>
          response === "ran" ? "runs" : `that response, and the work does not run: ${response}`,
        (error) =>
          error instanceof NonRetryableError
            ? "NonRetryableError"
            : `its error, and the work does not run: ${error.message}`,
      );
    const text = { told: ": told", throws: ": nobody answers" };
    const tail = row.on_unknown.includes("with a response")
      ? text.told
      : row.on_unknown.includes("throws")
        ? text.throws
        : "";
    expect(got).toBe(row.gets + tail);
    expect(await again(store, job.nextAttempt())).toBe(row.then);
  });
}

function handlersAndResponses(open: () => Store): void {
  test("one of a hundred works", async () => {
    const store = open();
    const name = key("race");
    let runs = 0;
    const callers = Array.from({ length: 100 }, () =>
      store.once(name, async () => {
        runs += 1;
        await new Promise(setImmediate);
        return "a response";
      }),
    );
    for (const caller of await Promise.allSettled(callers)) {
      if (caller.status === "fulfilled") {
        expect(caller.value).toBe("a response");
      } else {
        expect(caller.reason).toBeInstanceOf(AlreadyInProgressError);
      }
    }
    expect(runs).toBe(1);
  });

  test("whole handlers", async () => {
    const store = open();
    let calls = 0;
    const charge = async ({ id, payload }: Job) => {
      calls += 1;
      return { charge: `${payload} for ${id}`, fee: undefined };
    };
    const once = idempotent(charge, { store });
    const job = fakeJob({ id: key("job"), payload: 4_800 });
    const first = await once(job);
    expect(first).toStrictEqual({ charge: `4800 for ${job.id}` });
    expect(await once(job.nextAttempt())).toStrictEqual(first);
    expect(calls).toBe(1);

    const prefix = key("");
    const keyed = idempotent(charge, { store, key: ({ tags }) => prefix + tags[0] });
    const tagged = (payload: number) => fakeJob({ payload, tags: ["sub_1"] });
    const charged = await keyed(tagged(1));
    expect(await keyed(tagged(1))).toStrictEqual(charged);
    await expect(keyed(tagged(2))).rejects.toThrow(KeyReusedError);
  });

  test("responses that JSON cannot carry, and integers", async () => {
    const store = open();
    const bad = store.once(key("bad"), () => ({ a: [Number.NaN] }));
    await expect(bad).rejects.toThrow("a[0]");
    // It was done, so it must not be taken for work that was not.
    const done = fakeJob({ id: key("done") });
    const big = store.once(done.id, () => 2 ** 60, { job: done });
    await expect(big).rejects.toThrow(InvalidValueError);
    expect(await again(store, done.nextAttempt())).toBe("unknown");
    const job = fakeJob({ id: key("big"), bigint: true });
    const exact = () => store.once(job.id, () => 9007199254740993n, { job });
    expect([await exact(), await exact()]).toEqual([9007199254740993n, 9007199254740993n]);
    expect(await store.once(key("none"), () => undefined)).toBeNull();
  });

  test("a claim that its client repeats is its own, in one round trip", async () => {
    const once = new Repeating(open());
    const name = key("repeated");
    // The answer to the first claim is lost; nothing was begun, so nothing is unknown.
    expect(await once.once(name, () => "done", { onUnknown: "fail" })).toBe("done");
    expect(once.asked).toEqual(["claim", "claim", "complete"]);
    // A second call is another owner's, also in the same process.
    const held = key("held");
    const second = () => once.once(held, () => "done twice");
    const error = await once.once(held, () => second().catch((error) => error.name));
    expect(error).toBe("AlreadyInProgressError");
  });
}

/** A store whose client sends each claim again, as if the first answer had been lost. */
class Repeating extends Store {
  readonly #store: Store;
  readonly asked: string[] = [];

  constructor(store: Store) {
    super();
    this.#store = store;
  }

  override async claim(claim: Claim): Promise<Claimed> {
    this.asked.push("claim", "claim");
    await this.#store.claim(claim);
    return await this.#store.claim(claim);
  }

  override complete(...rest: Parameters<Store["complete"]>): Promise<boolean> {
    this.asked.push("complete");
    return this.#store.complete(...rest);
  }

  override leave(...rest: Parameters<Store["leave"]>): Promise<boolean> {
    this.asked.push("leave");
    return this.#store.leave(...rest);
  }

  override remove(...rest: Parameters<Store["remove"]>): Promise<boolean> {
    this.asked.push("remove");
    return this.#store.remove(...rest);
  }
}

test("options that cannot be used", async () => {
  const { store } = await (stores.MemoryStore as NonNullable<typeof stores.MemoryStore>)();
  const wrong = (options: object, name = "k") => store.once(name, () => 1, options);
  await expect(wrong({ expiresin: 1 })).rejects.toThrow("no option `expiresin`");
  await expect(wrong({}, "")).rejects.toThrow("1 to 255");
  await expect(wrong({ onUnknown: "ask" })).rejects.toThrow('and not "ask"');
  await expect(wrong({ expiresIn: "soon" })).rejects.toThrow("`expiresIn`");
  await expect(store.once("k", undefined as never)).rejects.toThrow(SettingsError);

  const made = (options: unknown) => () => idempotent(() => 1, options as { store: Store });
  expect(made({})).toThrow("needs a `store`");
  expect(made(undefined)).toThrow("needs a `store`");
  expect(made({ store, ttl: 1 })).toThrow("`ttl`");
  expect(made({ store, expires_in: 1 })).toThrow("it is called `expiresIn`");
  expect(made({ store, onUnknown: "ask" })).toThrow('`onUnknown` is "run", "fail" or a function');
  expect(made({ store, expiresIn: "soon" })).toThrow("`expiresIn`");
  expect(made({ store, inProgress: "soon" })).toThrow("`inProgress`");
  expect(made({ store, key: "k" })).toThrow("`key`");
  expect(() => idempotent(undefined as never, { store })).toThrow(SettingsError);
});

test("a whole handler may say for how long it is in progress", async () => {
  const { store } = await (stores.MemoryStore as NonNullable<typeof stores.MemoryStore>)();
  const job = fakeJob();
  // Longer than its record is kept after it.
  const times = { inProgress: "1h", expiresIn: 0 } as const;
  const lasting = idempotent(() => new Promise(() => {}), { store, ...times });
  void lasting(job);
  const second = idempotent(() => 1, { store })(job.nextAttempt());
  const error = await second.catch((error) => error);
  expect(error).toBeInstanceOf(AlreadyInProgressError);
  expect(error.delay).toBeGreaterThan(3_000_000);
});
