/** What an action to many jobs says: before it is done, and what came of it. */
import type { Action } from "../../api/calls.ts";
import { number } from "../../parts/shown.tsx";
import { isOver, type Run, tried } from "./run.ts";
import { howMany } from "./selection.ts";

/** What the button says, what it means, and what came of the jobs. */
export const WORDS: Record<Action, [string, string, string]> = {
  retry: [
    "Retry",
    "Each gets a new life with the same id, key and checkpoints. Where a worker was not heard of " +
      "any more, what it did outside may have happened already.",
    "retried",
  ],
  cancel: [
    "Cancel",
    "What waits ends at once; a worker that runs one is asked to stop.",
    "cancelled, or asked to stop where a worker runs it",
  ],
  run_now: ["Run now", "What waits for its time becomes claimable at once.", "set to run now"],
  delete: [
    "Delete",
    "Jobs, payloads and results are gone for good. Keys of jobs that were started stay held " +
      "until their time is over. A running job is not deleted.",
    "deleted",
  ],
};

const jobs = (count: string): string => (count === "1" ? "1 job" : `${count} jobs`);

/** How many are not tried yet, of so many in all as the server counted. */
export function left(run: Run, counted = 0): string {
  const rest = counted - tried(run);
  const isUnknown = run.jobs.length === 0 && run.next !== null && rest <= 0;
  return isUnknown ? "the others" : jobs(howMany({ ...run, counted: rest }));
}

/** What came of a run so far. */
export const came = ({ done, refused }: Run): string =>
  `${number(done)} done, ${number(refused.length)} refused`;

/** The same for the page that the dialog leaves. */
export const told = (run: Run, done: string): string =>
  `${jobs(number(run.done))} ${run.done === 1 ? "was" : "were"} ${done}` +
  (isOver(run) ? "." : "; not all were tried.");
