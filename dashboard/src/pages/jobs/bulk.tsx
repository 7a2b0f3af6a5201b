/** One action to many jobs: how many, of which filter, and what came of each. */
import { useRef, useState } from "preact/hooks";

import { type Action, bulk, type JobSummary } from "../../api/calls.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { type Filters, inWords } from "../../url/query.ts";

const WORDS: Record<Action, [string, string]> = {
  retry: [
    "Retry",
    "Each gets a new life with the same id, key and checkpoints. Where a worker was not heard of " +
      "any more, what it did outside may have happened already.",
  ],
  cancel: ["Cancel", "What waits ends at once; a worker that runs one is asked to stop."],
  run_now: ["Run now", "What waits for its time becomes claimable at once."],
  delete: [
    "Delete",
    "Jobs, payloads and results are gone for good. Keys of jobs that were started stay held until " +
      "their time is over. A running job is not deleted.",
  ],
};

export function BulkDialog(props: {
  action: Action;
  jobs: JobSummary[];
  filters: Filters;
  onDone: () => void;
  onClose: () => void;
}) {
  const { action, filters } = props;
  // As they were when the dialog opened: what is sent again is the same call.
  const [jobs] = useState(props.jobs);
  const [name, meaning] = WORDS[action];
  // The same call when it is sent again.
  const requestKey = useRef(crypto.randomUUID());
  const [refused, setRefused] = useState<[string, string][]>();
  const count = jobs.length === 1 ? "1 job" : `${jobs.length} jobs`;
  const act = async () => {
    const { results } = await bulk(action, jobs, requestKey.current);
    const failed = results.flatMap(({ id, error }): [string, string][] =>
      error ? [[id, error.detail ?? error.title]] : [],
    );
    props.onDone();
    if (failed.length === 0) return;
    setRefused(failed);
    requestKey.current = crypto.randomUUID();
    throw new Error(`${results.length - failed.length} done, ${failed.length} refused:`);
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
