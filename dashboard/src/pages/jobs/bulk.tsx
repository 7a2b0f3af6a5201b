/** One action to many jobs: how many, of which filter, and what came of each. */
import { useRef, useState } from "preact/hooks";

import { type Action, bulk, type JobSummary } from "../../api/calls.ts";
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
  const [chosen] = useState(props.jobs);
  const [name, meaning, done] = WORDS[action];
  // The same call when it is sent again.
  const requestKey = useRef(crypto.randomUUID());
  const [refused, setRefused] = useState<[string, string][]>();
  const count = jobs(chosen.length);
  const act = async () => {
    const { results } = await bulk(action, chosen, requestKey.current);
    const failed = results.flatMap(({ id, error }): [string, string][] =>
      error ? [[id, error.detail ?? error.title]] : [],
    );
    const ended = results.length - failed.length;
    props.onDone(`${jobs(ended)} ${ended === 1 ? "was" : "were"} ${done}.`);
    if (failed.length === 0) return;
    setRefused(failed);
    requestKey.current = crypto.randomUUID();
    throw new Error(`${ended} done, ${failed.length} refused:`);
  };
  return (
    <Dialog
      title={`${name} ${count}?`}
      action={`${name} ${count}`}
      grave={action === "delete" || action === "cancel"}
      act={act}
      onClose={props.onClose}
    >
      <p>{meaning}</p>
      <p class="quiet">Selected from the jobs {inWords(filters)}.</p>
      {refused && (
        <ul class="refused">
          {refused.slice(0, 20).map(([id, why]) => (
            <li key={id}>
              <span class="id">…{id.slice(-10)}</span> {why}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
