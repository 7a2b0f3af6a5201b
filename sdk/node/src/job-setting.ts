/** What a job is made of, by the worker or in memory. */

import type { components } from "./_generated/wire.js";
import type { Job } from "./job.js";

type WireJob = components["schemas"]["ClaimedJob"];

/** @internal What a job is made of. */
export type JobSource = Pick<
  WireJob,
  | "id"
  | "task"
  | "queue"
  | "payload"
  | "attempt"
  | "max_attempts"
  | "life"
  | "starts"
  | "idempotency_key"
  | "tags"
  | "traceparent"
  | "created_at"
> & {
  checkpoints: readonly { name: string; value?: unknown }[];
  lease: { deadline: string; token?: string };
};

/** @internal Where a job's checkpoints are written: to the server, or to memory in tests. */
export interface Keeper {
  /**
   * Writes a checkpoint durably; `value` is JSON. Rejects with what the handler is to get. When the
   * job is aborted first, `job.aborted` rejects.
   */
  write(job: Job, name: string, value: string | undefined): Promise<void>;
}

/** @internal How a job is set up. */
export interface JobSetting {
  keeper: Keeper;
  /** When the attempt ends, on the clock of `monotonic`. */
  ends: number;
  bigint: boolean;
  /** Whether numbers of it would be rounded. */
  unsafe: boolean;
}
