/** Scenarios of handlers that fail. */

import {
  defineTask,
  type Job,
  NonRetryableError,
  OutcomeUnknownError,
  retryable,
} from "@halyard/node";
import { expect } from "vitest";
import { z } from "zod";
import { data, scenario } from "./file.js";
import { NO_BACKOFF, withServer, withWorker } from "./work.js";

const invoice = defineTask({ name: "reads", schema: z.object({ lines: z.array(z.number()) }) });

function fails(job: Job<string>): unknown {
  if (job.attempt > 1) {
    return 1;
  }
  switch (job.payload) {
    case "error":
      throw new Error("no luck");
    case "non_retryable":
      throw new NonRetryableError("no luck");
    case "outcome_unknown":
      throw new OutcomeUnknownError("no luck");
    case "panic":
      throw "no luck";
    case "invalid_result":
      return Number.NaN;
    case "huge_result":
      return "x".repeat(5 * 1024 * 1024);
    case "result_over_the_limit":
      return "x".repeat(1024 * 1024);
    default:
      throw new NonRetryableError(`a way that this runner does not know: ${job.payload}`);
  }
}

const common = { queue: "q", backoff: NO_BACKOFF, maxAttempts: 2 };

scenario("failures", () =>
  withServer(async (_, halyard) => {
    await withWorker(
      halyard,
      (worker) => worker.task("fails", fails).task(invoice, () => {}),
      async (work) => {
        for (const { way, retried } of data<{ way: string; retried: boolean }[]>(
          "failures",
          "ways",
        )) {
          const mismatch = { task: "reads", payload: { lines: [1, "x"] } };
          const own = way === "payload_mismatch" ? mismatch : { task: "fails", payload: way };
          const { id } = await halyard.jobs.create({ ...common, ...own });
          const job = await work.ended(id);
          const expected = retried ? ["completed", 2] : ["failed", 1];
          expect([job.state, job.starts], way).toEqual(expected);
          const first = job.attempts.at(-1)?.error;
          expect(first?.kind, way).toBe(retried ? "error" : "non_retryable");
          if (way === "payload_mismatch") {
            expect(first?.message).toContain("lines[1]");
          } else if (way.includes("result")) {
            expect(first?.type, way).toBe("InvalidResult");
          } else {
            expect(first?.message, way).toContain("no luck");
          }
        }
      },
    );
  }),
);

/** What the common clients throw for an answer with this status. */
function refusals(status: number): unknown[] {
  class Refusal extends Error {}
  const error = (members: object) => Object.assign(new Refusal("refused"), members);
  return [
    error({ status, response: new Response(null, { status }) }),
    error({ isAxiosError: true, code: "ERR_BAD_REQUEST", response: { status, headers: {} } }),
    error({ statusCode: status, type: "StripeInvalidRequestError" }),
    error({ response: { statusCode: status } }),
    error({ $metadata: { httpStatusCode: status } }),
    new Error("wrapped", { cause: error({ status }) }),
    new AggregateError([new Error("other"), error({ status })], "several"),
  ];
}

scenario("retry_classes", async () => {
  for (const [table, retried] of [
    ["retried", true],
    ["not_retried", false],
  ] as const) {
    for (const status of data<number[]>("retry_classes", table)) {
      for (const error of refusals(status)) {
        expect(retryable(error), `${status} ${String(error)}`).toBe(retried);
      }
    }
  }
  const timeout = fetch("http://127.0.0.1:1", { signal: AbortSignal.timeout(0) });
  const unreached = fetch("http://127.0.0.1:1");
  for (const failed of await Promise.allSettled([timeout, unreached])) {
    expect(failed.status).toBe("rejected");
    expect(retryable((failed as PromiseRejectedResult).reason)).toBe(true);
  }
  for (const odd of [new Error("anything"), "text", 404, null, undefined, { status: "404" }]) {
    expect(retryable(odd)).toBe(true);
  }
});

/** Errors of odd kinds, and a part of what is told of each. */
function oddErrors(): [unknown, string][] {
  const circle = new Error("round and round");
  circle.cause = new Error("and round", { cause: circle });
  const huge = new Error("stack");
  huge.stack = "y".repeat(5 * 1024 * 1024);
  const broken = Object.create(null, {
    message: {
      get: () => {
        throw new Error("no");
      },
    },
  });
  const self: Record<string, unknown> = {};
  self.self = self;
  const no = () => {
    throw new Error("no");
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const hostile = new Proxy({}, { get: no, getPrototypeOf: no });
  return [
    [new Proxy({}, { getPrototypeOf: no }), "cannot be shown"],
    [hostile, "cannot be shown"],
    [revoked.proxy, "cannot be shown"],
    [new Error("outer", { cause: hostile }), "outer"],
    [Object.defineProperty(new AggregateError([]), "errors", { get: no }), ""],
    [Object.defineProperty(new Error("named"), "name", { get: no }), "named"],
    [new Error("\0nul\0"), "nul"],
    [new Error("\u001b[31mred\u001b[0m"), "red"],
    [new Error("lone \ud800 half"), "half"],
    [new Error("x".repeat(5 * 1024 * 1024)), "xxx"],
    [new Error("é".repeat(1024 * 1024)), "ééé"],
    [circle, "round"],
    [huge, "stack"],
    [new Error(""), ""],
    [7, "7"],
    [null, "null"],
    [undefined, "undefined"],
    [Symbol("odd"), "Symbol(odd)"],
    [{ code: 7 }, '{"code":7}'],
    [self, "cannot be shown"],
    [broken, ""],
    [10n, "10"],
  ];
}

scenario("odd_errors", () =>
  withServer(async (_, halyard) => {
    const errors = oddErrors();
    const handler = (job: Job<number>) => {
      throw errors[job.payload]?.[0];
    };
    await withWorker(
      halyard,
      (worker) => worker.task("t", handler),
      async (work) => {
        for (const [payload, [, part]] of errors.entries()) {
          const { id } = await halyard.jobs.create({
            ...common,
            task: "t",
            payload,
            maxAttempts: 1,
          });
          const job = await work.ended(id);
          expect(job.state, `${payload}`).toBe("failed");
          const error = job.error;
          expect(error?.kind, `${payload}`).toBe("error");
          expect(error?.message, `${payload}`).toContain(part);
          expect(error?.message, `${payload}`).not.toContain("\0");
          expect(Buffer.byteLength(error?.message ?? "")).toBeLessThanOrEqual(9 * 1024);
          expect(Buffer.byteLength(error?.stack ?? "")).toBeLessThanOrEqual(33 * 1024);
        }
      },
    );
  }),
);
