/** What is said of a worker that has not called for long. */
import type { Worker } from "../../api/calls.ts";

/** Idle workers call about every half minute, busy ones renew leases: twice that is strange. */
const SILENT_MS = 60_000;

/** Nothing of one that called lately. */
export function silence(worker: Pick<Worker, "last_seen_at" | "running">, nowMs: number) {
  if (nowMs - Date.parse(worker.last_seen_at) < SILENT_MS) return undefined;
  return worker.running > 0
    ? "silent: if its leases lapse, others get its jobs"
    : "silent: ended, or cut off; forgotten after 3 min";
}
