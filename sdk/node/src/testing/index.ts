/**
 * For tests: `@halyard/node/testing`.
 *
 * | | |
 * |---|---|
 * | {@link fakeJob} | a job without a server; a handler is a plain function, so a test calls it |
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
export { type ServerOptions, startServer, type TestServer } from "./server.js";
