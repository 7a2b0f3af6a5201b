/**
 * Fills a server with jobs in every state, over the calls that everybody uses: of each hundred some
 * 80 completed, 8 failed, 4 cancelled, 3 scheduled, 3 queued, 1 retrying and 1 running.
 */
import type { Server } from "./server.ts";

/** Jobs a call. */
const BATCH = 1_000;
const QUEUES = ["billing", "mail", "reports", "search", "default"];
const TASKS = ["charge", "send-receipt", "close-month", "index", "thumbnail", "export"];
const HOUR_MS = 3_600_000;

type Claimed = { id: string; lease: { token: string } };

/** What becomes of a batch, by its number. */
const ENDS = [
  ...Array<"completed">(40).fill("completed"),
  ...Array<"failed">(4).fill("failed"),
  ...(["cancelled", "cancelled", "scheduled", "queued", "queued", "rest"] as const),
];

/** Makes as many jobs as are wanted, in whole batches. */
export async function fill(server: Server, wanted: number): Promise<void> {
  for (let n = 0; n * BATCH < wanted; n += 1) {
    // A stride without a common divisor, so that all states are spread over the whole.
    await batch(server, n, ENDS[(n * 37) % ENDS.length] ?? "completed");
  }
}

async function batch(server: Server, n: number, end: (typeof ENDS)[number]): Promise<void> {
  // What waits for good is in queues of its own, or the claims below would take it.
  const queue = `${end === "queued" ? "backlog-" : ""}${QUEUES[n % QUEUES.length]}`;
  const task = TASKS[n % TASKS.length];
  const more = end === "scheduled" ? { delay_ms: 24 * HOUR_MS } : {};
  const jobs = Array.from({ length: BATCH }, (_, i) => ({
    ...{ task, queue, payload: { customer: `cus_${n * BATCH + i}` }, ...more },
    ...(i % 50 === 0 ? { tags: ["vip"], idempotency_key: `key:${n * BATCH + i}` } : {}),
    ...(end === "failed" ? { max_attempts: 1 } : {}),
  }));
  const created = await server.call("POST", "/v1/jobs/batch", { jobs });
  const ids = created.results.map((it: { job: { id: string } }) => it.job.id);
  if (end === "cancelled") await server.call("POST", "/v1/jobs/bulk", { action: "cancel", ids });
  if (["cancelled", "scheduled", "queued"].includes(end)) return;
  const worker = { id: `wrk_${n % 20}`, name: `worker-${n % 20}`, sdk: "test" };
  const claim = { worker, queues: [queue], tasks: [task], max: BATCH, lease_ms: HOUR_MS };
  const claimed = (await server.call("POST", "/v1/jobs/claim", claim)).jobs as Claimed[];
  const outcomes = claimed.flatMap(({ id, lease }, i): object[] => {
    const start = { id, token: lease.token };
    const error = { type: "CardDeclined", message: `Card ${i} was declined.`, stack: "at charge" };
    if (end === "completed") return [{ ...start, outcome: "completed", result: { n: i } }];
    if (end === "failed") return [{ ...start, outcome: "failed", error }];
    // The rest: half runs on, half is tried again in a day.
    return i % 2 ? [{ ...start, outcome: "failed", error, retry_after_ms: 24 * HOUR_MS }] : [];
  });
  await server.call("POST", "/v1/jobs/finish", { outcomes });
}
