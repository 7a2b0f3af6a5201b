/** What the server refuses is told in the names of the options. */

import type { NewJob } from "@halyard/node";
import { expect, test } from "vitest";
import { withServer } from "./scenarios/work.js";

const TOO_LONG = "500d";

test("what the server says of a field is said of the option", () =>
  withServer(async (_, halyard) => {
    const refused: [Partial<NewJob>, string][] = [
      [{ delay: TOO_LONG }, "delay (delay_ms) is 43200000000; it must be"],
      [{ idempotencyKey: "" }, 'idempotencyKey (idempotency_key) is ""; it must be'],
      [{ idempotencyTtl: 1 }, "idempotencyTtl (idempotency_ttl_ms) is 1"],
      [{ ifFailed: "delay_ms" as never }, "ifFailed (if_failed) must be one of"],
      [{ runAt: "run_at" }, "runAt (run_at) must be a time"],
      [{ runAt: new Date(), delay: 3 }, "delay (delay_ms) must be left out beside runAt (run_at)"],
      [{ maxAttempts: 0 }, "maxAttempts (max_attempts) is 0"],
      [{ maxCrashes: 0 }, "maxCrashes (max_crashes) is 0"],
      [{ timeout: 1 }, "timeout (timeout_ms) is 1"],
      [{ backoff: { max: TOO_LONG } }, "backoff.max (max_ms) is 43200000000"],
      [{ backoff: { initial: TOO_LONG } }, "backoff.initial (initial_ms) is 43200000000"],
      [{ priority: 7_000 }, "priority is 7000"],
    ];
    for (const [options, words] of refused) {
      const error = await halyard.jobs.create({ task: "t", ...options }).catch((error) => error);
      expect(error.message).toContain(words);
      expect(error.errors[0].message).toContain(words);
      // What was given is shown as it was.
      expect(error.message).not.toContain('"delay (');
      expect(error.message).not.toContain('"runAt (');
    }
    const [batch] = await halyard.jobs.createBatch([{ task: "t", delay: TOO_LONG }, { task: "t" }]);
    expect(batch?.error?.message).toContain("jobs[0].delay (delay_ms) is");
    const list = halyard.jobs.list({ createdAfter: "x" as never }).page();
    await expect(list).rejects.toThrow("createdAfter (created_after) must be");
  }));
