/** One action to many jobs: how many, of which filter, and what came of each. */
import { useState } from "preact/hooks";

import { type Action, bulk, type JobSummary } from "../../api/calls.ts";
import { requestKey } from "../../api/request-key.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { number } from "../../parts/shown.tsx";
import { type Filters, inWords } from "../../url/query.ts";

/** What the button says, what it means, and what came of the jobs. */
const WORDS: Record<Action, [string, string, string]> = {
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
    "Jobs, payloads and results are gone for good. Keys of jobs that were started stay held until " +
      "their time is over. A running job is not deleted.",
    "deleted",
  ],
};

const jobs = (count: number): string => (count === 1 ? "1 job" : `${number(count)} jobs`);

export function BulkDialog(props: {
  action: Action;
  jobs: JobSummary[];
  filters: Filters;
  /** With what came of them, in words. */
  onDone: (told: string) => void;
  onClose: () => void;
}) {
  const { action, filters } = props;
  // As they were when the dialog opened: what is sent again is the same call.
  const [call, setCall] = useState(() => ({ jobs: props.jobs, key: requestKey() }));
  const [name, meaning, done] = WORDS[action];
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const count = jobs(call.jobs.length);
  const act = async () => {
    setRefused(new Map());
    const { results } = await bulk(action, call.jobs, call.key);
    const failed = new Map(
      results.flatMap(({ id, error }): [string, string][] =>
        error ? [[id, error.detail ?? error.title]] : [],
      ),
    );
    const ended = results.length - failed.size;
    props.onDone(`${jobs(ended)} ${ended === 1 ? "was" : "were"} ${done}.`);
    if (failed.size === 0) return;
    // What is asked for now is the rest, and another call.
    setCall({ jobs: call.jobs.filter((job) => failed.has(job.id)), key: requestKey() });
    setRefused(failed);
    throw new Error(`${number(ended)} done, ${number(failed.size)} refused:`);
  };
  return (
    <Dialog
      title={`${name} ${count}?`}
      action={`${name} ${count}`}
      grave={action === "delete" || action === "cancel"}
      act={act}
      reasons={<Refused jobs={[...refused]} />}
      onClose={props.onClose}
    >
      <p>{meaning}</p>
      <p class="quiet">Selected from the jobs {inWords(filters)}.</p>
    </Dialog>
  );
}

/** Refused jobs that are named at most. */
const NAMED = 20;

/** Which jobs were refused, and why. */
function Refused({ jobs }: { jobs: [string, string][] }) {
  if (jobs.length === 0) return null;
  return (
    <section class="refused" aria-label="Refused jobs" tabIndex={0}>
      <ul>
        {jobs.slice(0, NAMED).map(([id, why]) => (
          <li key={id}>
            <span class="id">…{id.slice(-10)}</span> {why}
          </li>
        ))}
        {jobs.length > NAMED && <li>and {number(jobs.length - NAMED)} more</li>}
      </ul>
    </section>
  );
}
