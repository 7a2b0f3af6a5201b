/**
 * For tests: `@halyard/node/testing`.
 *
 * | | |
 * |---|---|
 * | {@link fakeJob} | a job without a server; a handler is a plain function, so a test calls it |
 * | {@link TestHalyard} | a client and its jobs in memory; `drain` runs what is due |
 * | {@link proveIdempotent} | runs a handler in every way in which a job can run more than once |
 * | {@link crashPoint} | where a fake can be killed in such a proof |
 * | {@link assertIdempotent} | its report, asserted; `testing/vitest` has a matcher |
 * | {@link startServer} | the real server, on a free port and a directory of its own |
 *
 * The honest test of idempotency is to run a handler twice with the same job and to look at the
 * world:
 *
 * ```js
 * const payload = { subscription_id: sub.id, period: "2026-11" };
 * const job = fakeJob({ id: "job_3Rk9Tq7Xw2", payload });
 * const first = await chargeSubscription(job);
 * const second = await chargeSubscription(job);
 * ```
 */

export { FakeJob, type FakeJobOptions, fakeJob } from "./fake-job.js";
export { TestHalyard, type TestHalyardOptions } from "./in-memory/index.js";
export {
  assertIdempotent,
  crashPoint,
  type Finding,
  type ModuleSource,
  type ProofOptions,
  proveIdempotent,
  type Report,
} from "./proof/index.js";
export { type ServerOptions, startServer, type TestServer } from "./server.js";
